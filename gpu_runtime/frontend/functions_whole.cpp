// More of math's and NumPy's: whole numbers, classes and steps of floats. The text is emit/prelude_numbers.hpp's.
#include "frontend/function_table.hpp"

namespace xcuda::frontend {
namespace {

constexpr DType integers[] = {DType::i8, DType::i16, DType::i32, DType::i64,
                              DType::u8, DType::u16, DType::u32, DType::u64};
constexpr DType floats[] = {DType::f32, DType::f64};

std::string cpp(DType d) { return std::string(info(d).cpp); }

}  // namespace

void add_whole(FunctionTable& t) {
    constexpr DType i = DType::i64, f = DType::f64, b = DType::b1;
    t.begin("gcd", {"numpy.gcd"}, "numpy.gcd", "The greatest common divisor, not negative.");
    for (const DType d : integers) t.add({d, d}, d, "xc_n_gcd<" + cpp(d) + ">($0, $1)");
    t.begin("lcm", {"numpy.lcm"}, "numpy.lcm", "The least common multiple, not negative; 0 where one is 0.");
    for (const DType d : integers) t.add({d, d}, d, "xc_n_lcm<" + cpp(d) + ">($0, $1)");
    t.begin("math_gcd", {"math.gcd"}, "", "The greatest common divisor as an int.");
    t.add({i, i}, i, "xc_n_gcd<i64>($0, $1)");
    t.begin("math_lcm", {"math.lcm"}, "", "The least common multiple as an int.");
    t.add({i, i}, i, "xc_n_lcm<i64>($0, $1)");
    t.begin("factorial", {}, "", "n!, of n from 0 to 20.");
    t.add({i}, i, "xc_n_factorial($0)");
    t.begin("comb", {}, "", "n over k; wraps around above int64.");
    t.add({i, i}, i, "xc_n_comb($0, $1)");
    t.begin("perm", {}, "", "n! / (n - k)!; wraps around above int64.");
    t.add({i, i}, i, "xc_n_perm($0, $1)");
    t.begin("isqrt", {}, "", "The whole part of the square root.");
    t.add({i}, i, "xc_n_isqrt($0)");
    t.begin("bit_length", {}, "", "How many bits |x| takes.");
    t.add({i}, i, "xc_n_bit_length($0)");

    t.begin("heaviside", {"numpy.heaviside"}, "numpy.heaviside", "0 below 0, 1 above, h at 0; nan stays.");
    for (const DType d : floats) t.add({d, d}, d, "xc_n_heaviside<" + cpp(d) + ">($0, $1)");
    t.begin("nan_to_num", {"numpy.nan_to_num"}, "numpy.nan_to_num",
            "0 for nan, the largest number of x's dtype for infinities.");
    for (const DType d : integers) t.add({d}, d, "$0");
    for (const DType d : floats) t.add({d}, d, "xc_n_nan_to_num<" + cpp(d) + ">($0)");
    t.begin("isposinf", {"numpy.isposinf"}, "numpy.isposinf", "True for inf alone.");
    for (const DType d : floats) t.add({d}, b, "xc_n_infinite($0, false)");
    t.begin("isneginf", {"numpy.isneginf"}, "numpy.isneginf", "True for -inf alone.");
    for (const DType d : floats) t.add({d}, b, "xc_n_infinite($0, true)");
    t.begin("spacing", {"numpy.spacing"}, "numpy.spacing", "How far the next number away from 0 is.");
    for (const DType d : floats) t.add({d}, d, "xc_n_spacing<" + cpp(d) + ">($0)");
    t.begin("ulp", {"math.ulp"}, "", "How far the next larger number is from |x|.");
    for (const DType d : floats) t.add({d}, d, "xc_n_ulp<" + cpp(d) + ">($0)");
    t.begin("logaddexp2", {"numpy.logaddexp2"}, "numpy.logaddexp2",
            "log2(2 ** x + 2 ** y) without overflow; in ulp of the greatest of |x|, |y| and the result.");
    for (const DType d : floats) t.add({d, d}, d, "xc_n_logaddexp2($0, $1)");
    t.within({3, 4, 3, 4});
    t.begin("isclose", {}, "", "math.isclose(a, b, rel_tol, abs_tol).");
    t.add({f, f, f, f}, b, "xc_n_isclose($0, $1, $2, $3)");
    t.begin("isclose_numpy", {}, "", "numpy.isclose(a, b, rtol, atol).");
    t.add({f, f, f, f}, b, "xc_n_isclose_numpy($0, $1, $2, $3)");
}

}  // namespace xcuda::frontend
