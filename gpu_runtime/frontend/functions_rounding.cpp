// Rounding, signs and classes of floating-point numbers.
#include "frontend/function_table.hpp"

namespace xcuda::frontend {
namespace {

constexpr DType integers[] = {DType::b1, DType::i8,  DType::i16, DType::i32, DType::i64,
                              DType::u8, DType::u16, DType::u32, DType::u64};

// Integers are their own floor (NumPy 2.1 and later keep the dtype).
void rounding(FunctionTable& t, const char* name, std::vector<std::string_view> spellings, const char* twin,
              const char* doc, bool keeps_integers = true) {
    t.begin(name, std::move(spellings), twin, doc);
    const std::string n(name);
    if (keeps_integers)
        for (const DType d : integers) t.add({d}, d, "$0", "$0");
    t.add({DType::f32}, DType::f32, "__builtin_" + n + "f($0)", n + "f($0)",
          "__builtin_elementwise_" + n + "($0)");
    t.add({DType::f64}, DType::f64, "__builtin_" + n + "($0)", n + "($0)",
          "__builtin_elementwise_" + n + "($0)");
}

void to_int(FunctionTable& t, const char* name, std::string_view spelling, const char* libm,
            const char* doc) {
    t.begin(name, {spelling}, "", doc);
    const std::string n(libm);
    for (const DType d : integers) t.add({d}, DType::i64, "i64($0)");
    t.add({DType::f32}, DType::i64, "xc_cast<i64>(__builtin_" + n + "f($0))", "xc_cast<i64>(" + n + "f($0))",
          "");
    t.add({DType::f64}, DType::i64, "xc_cast<i64>(__builtin_" + n + "($0))", "xc_cast<i64>(" + n + "($0))",
          "");
}

void test(FunctionTable& t, const char* name, std::vector<std::string_view> spellings, const char* doc,
          const char* text) {
    const std::string_view twin = spellings.back();
    t.begin(name, std::move(spellings), twin, doc);
    for (const DType d : {DType::f32, DType::f64}) t.add({d}, DType::b1, text);
    if (std::string_view(name) != "signbit")
        t.add_complex("xc_z_" + std::string(text).substr(3), FunctionTable::Complex::boolean);
}

}  // namespace

void add_rounding(FunctionTable& t) {
    rounding(t, "floor", {"numpy.floor"}, "numpy.floor", "The largest whole number <= x, in x's dtype.");
    rounding(t, "ceil", {"numpy.ceil"}, "numpy.ceil", "The smallest whole number >= x, in x's dtype.");
    rounding(t, "trunc", {"numpy.trunc", "numpy.fix"}, "numpy.trunc",
             "x without its fraction, in x's dtype.");
    rounding(t, "rint", {"numpy.rint"}, "numpy.rint",
             "The nearest whole number, ties to even, in floating point.", false);
    t.add_complex("xc_z_rint($0)");
    to_int(t, "math_floor", "math.floor", "floor", "The largest int <= x.");
    to_int(t, "math_ceil", "math.ceil", "ceil", "The smallest int >= x.");
    to_int(t, "math_trunc", "math.trunc", "trunc", "x without its fraction, as an int.");

    t.begin("round", {"builtins.round", "numpy.round", "numpy.around"}, "numpy.round",
            "The nearest whole number, ties to even; round(x) is an int, round(x, n) and numpy.round keep "
            "x's dtype.");
    for (const DType d : {DType::f32, DType::f64})
        t.add({d, DType::i64}, d,
              d == DType::f32 ? "xc_round_digits<f32>($0, $1)" : "xc_round_digits<f64>($0, $1)");

    test(t, "isnan", {"math.isnan", "cmath.isnan", "numpy.isnan"}, "True for nan; never optimised away.",
         "xc_isnan($0)");
    test(t, "isinf", {"math.isinf", "cmath.isinf", "numpy.isinf"}, "True for inf and -inf.", "xc_isinf($0)");
    test(t, "isfinite", {"math.isfinite", "cmath.isfinite", "numpy.isfinite"}, "False for nan, inf and -inf.",
         "xc_isfinite($0)");
    test(t, "signbit", {"numpy.signbit"}, "True where the sign bit is set, -0.0 included.", "xc_signbit($0)");

    t.begin("copysign", {"math.copysign", "numpy.copysign"}, "numpy.copysign", "x with y's sign.");
    t.add({DType::f32, DType::f32}, DType::f32, "__builtin_copysignf($0, $1)", "copysignf($0, $1)",
          "__builtin_elementwise_copysign($0, $1)");
    t.add({DType::f64, DType::f64}, DType::f64, "__builtin_copysign($0, $1)", "copysign($0, $1)",
          "__builtin_elementwise_copysign($0, $1)");

    t.begin("fabs", {"math.fabs", "numpy.fabs"}, "numpy.fabs", "|x| in floating point.");
    t.add({DType::f32}, DType::f32, "__builtin_fabsf($0)", "fabsf($0)", "__builtin_elementwise_abs($0)");
    t.add({DType::f64}, DType::f64, "__builtin_fabs($0)", "fabs($0)", "__builtin_elementwise_abs($0)");

    const DType floats[] = {DType::f32, DType::f64};
    t.begin("frexp", {"math.frexp", "numpy.frexp"}, "numpy.frexp",
            "(m, e) with x = m * 2 ** e and 0.5 <= |m| < 1; e is 0 of 0, infinities and nan.");
    for (const DType d : floats) t.add({d}, d, "xc_frexp($0)", "");
    t.begin("frexp_exponent", {}, "", "The exponent that frexp gives.");
    for (const DType d : floats) t.add({d}, DType::i32, "xc_exponent_of($0)", "");
    t.begin("modf", {"math.modf", "numpy.modf"}, "numpy.modf",
            "(fraction, whole part), both with x's sign, in floating point.");
    for (const DType d : floats) t.add({d}, d, "xc_modf($0)", "");
    t.begin("remainder", {"math.remainder"}, "",
            "x - n * y with n the whole number nearest to x / y, ties to even.");
    t.add({DType::f32, DType::f32}, DType::f32, "__builtin_remainderf($0, $1)", "remainderf($0, $1)", "");
    t.add({DType::f64, DType::f64}, DType::f64, "__builtin_remainder($0, $1)", "remainder($0, $1)", "");

    t.begin("ldexp", {"math.ldexp", "numpy.ldexp"}, "numpy.ldexp", "x * 2**n.");
    t.add({DType::f32, DType::i32}, DType::f32, "__builtin_ldexpf($0, $1)", "ldexpf($0, $1)", "");
    t.add({DType::f64, DType::i32}, DType::f64, "__builtin_ldexp($0, $1)", "ldexp($0, $1)", "");
    t.add({DType::f32, DType::i64}, DType::f32, "__builtin_ldexpf($0, xc_clamp_exponent($1))",
          "ldexpf($0, xc_clamp_exponent($1))", "");
    t.add({DType::f64, DType::i64}, DType::f64, "__builtin_ldexp($0, xc_clamp_exponent($1))",
          "ldexp($0, xc_clamp_exponent($1))", "");
}

}  // namespace xcuda::frontend
