// What operators and functions on datetime64 and timedelta64 lower to, over the integers that they are.
#include "frontend/function_table.hpp"

namespace xcuda::frontend {

void add_times(FunctionTable& t) {
    t.begin("isnat", {"numpy.isnat"}, "numpy.isnat", "Whether a datetime64 or timedelta64 is NaT.");
    t.add({DType::i64}, DType::b1, "xc_isnat($0)");

    const auto internal = [&](const char* name, const char* doc, std::vector<DType> in, DType out,
                              const char* text) {
        t.begin(name, {}, "", doc);
        t.add(std::move(in), out, text);
    };
    constexpr DType i = DType::i64, f = DType::f64, b = DType::b1;
    internal("time_add", "a + b; NaT where either is.", {i, i}, i, "xc_time_add($0, $1)");
    internal("time_sub", "a - b; NaT where either is.", {i, i}, i, "xc_time_sub($0, $1)");
    internal("time_neg", "-a; NaT stays.", {i}, i, "xc_time_neg($0)");
    internal("time_abs", "|a|; NaT stays.", {i}, i, "xc_time_abs($0)");
    internal("time_sign", "-1.0, 0.0 or 1.0 in float64; nan of NaT, as since NumPy 2.5.", {i}, f,
             "xc_time_sign($0)");
    internal("time_mul", "a * n; NaT stays.", {i, i}, i, "xc_time_mul($0, $1)");
    internal("time_mul_real", "a * x cut to a whole; NaT where x is not finite.", {i, f}, i,
             "xc_time_mul_real($0, $1)");
    internal("time_div", "a / n cut to a whole; NaT where n is 0.", {i, i}, i, "xc_time_div($0, $1)");
    internal("time_div_real", "a / x cut to a whole; NaT where x is 0 or nan.", {i, f}, i,
             "xc_time_div_real($0, $1)");
    internal("time_ratio", "a / b in float64; nan where either is NaT.", {i, i}, f, "xc_time_ratio($0, $1)");
    internal("time_floordiv", "a // b; 0 where either is NaT or b is 0.", {i, i}, i,
             "xc_time_floordiv($0, $1)");
    internal("time_mod", "a % b; NaT where either is or b is 0.", {i, i}, i, "xc_time_mod($0, $1)");
    internal("time_lt", "a < b; False where either is NaT.", {i, i}, b, "xc_time_lt($0, $1)");
    internal("time_le", "a <= b; False where either is NaT.", {i, i}, b, "xc_time_le($0, $1)");
    internal("time_eq", "a == b; False where either is NaT.", {i, i}, b, "xc_time_eq($0, $1)");
    internal("time_min", "The least, as Python compares.", {i, i}, i, "xc_time_min($0, $1)");
    internal("time_max", "The greatest, as Python compares.", {i, i}, i, "xc_time_max($0, $1)");
    internal("time_minimum", "The lesser; NaT where either is.", {i, i}, i, "xc_time_minimum($0, $1)");
    internal("time_maximum", "The greater; NaT where either is.", {i, i}, i, "xc_time_maximum($0, $1)");
    internal("time_fmin", "The lesser; the other where one is NaT.", {i, i}, i, "xc_time_fmin($0, $1)");
    internal("time_fmax", "The greater; the other where one is NaT.", {i, i}, i, "xc_time_fmax($0, $1)");
    internal("time_unscale", "a in a unit n times as long, floored; NaT stays.", {i, i}, i,
             "xc_time_unscale($0, $1)");
    internal("time_days_of_months", "The day that a month begins with; NaT stays.", {i}, i,
             "xc_time_days_of_months($0)");
    internal("time_months_of_days", "The month that a day lies in; NaT stays.", {i}, i,
             "xc_time_months_of_days($0)");
}

}  // namespace xcuda::frontend
