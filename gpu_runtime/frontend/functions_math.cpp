// libm's functions: the CPU device calls glibc's (vectors: libmvec's, at most 4 ulp), CUDA its own device library.
#include <algorithm>
#include <array>

#include "frontend/function_table.hpp"

namespace xcuda::frontend {
namespace {

struct Row {
    const char* name;
    std::vector<std::string_view> spellings;
    const char* doc;
    int arguments = 1;
    const char* libm = nullptr;  // where it differs from the name
};

// glibc 2.35 and later have a vector twin of each of these.
constexpr std::array mvec = {
    "acos", "acosh", "asin",  "asinh", "atan",  "atan2", "atanh", "cbrt", "cos", "cosh", "erf", "erfc", "exp",
    "exp2", "expm1", "hypot", "log",   "log10", "log1p", "log2",  "pow",  "sin", "sinh", "tan", "tanh",
};

// Over the whole range: glibc's and libmvec's on the CPU device, as measured by test_kernel_accuracy; the CUDA math
// library's by its documentation, without fast math. lgamma and gamma are for x > 0.
struct Accuracy {
    std::string_view name;
    FunctionTable::Ulp ulp;
};
constexpr std::array accuracies = {
    Accuracy{"sin", {4, 2, 4, 2}},   Accuracy{"cos", {4, 2, 4, 2}},    Accuracy{"tan", {4, 4, 4, 2}},
    Accuracy{"asin", {4, 2, 4, 2}},  Accuracy{"acos", {4, 2, 4, 2}},   Accuracy{"atan", {4, 2, 4, 2}},
    Accuracy{"atan2", {4, 3, 4, 2}}, Accuracy{"sinh", {4, 3, 4, 2}},   Accuracy{"cosh", {4, 2, 4, 1}},
    Accuracy{"tanh", {4, 2, 4, 1}},  Accuracy{"asinh", {4, 3, 4, 3}},  Accuracy{"acosh", {4, 4, 4, 3}},
    Accuracy{"atanh", {4, 3, 4, 2}}, Accuracy{"exp", {4, 2, 4, 1}},    Accuracy{"exp2", {4, 2, 4, 1}},
    Accuracy{"expm1", {4, 1, 4, 1}}, Accuracy{"log1p", {4, 1, 4, 1}},  Accuracy{"log2", {4, 1, 4, 1}},
    Accuracy{"log10", {4, 2, 4, 1}}, Accuracy{"log", {4, 1, 4, 1}},    Accuracy{"cbrt", {4, 1, 4, 1}},
    Accuracy{"hypot", {4, 3, 4, 2}}, Accuracy{"pow", {4, 4, 4, 2}},    Accuracy{"erf", {4, 2, 4, 2}},
    Accuracy{"erfc", {4, 4, 4, 5}},  Accuracy{"lgamma", {8, 6, 8, 4}}, Accuracy{"gamma", {10, 5, 10, 10}},
};

// Of complex numbers too.
constexpr std::array complex = {
    "sin",   "cos",   "tan", "asin", "acos",  "atan", "sinh", "cosh",  "tanh",  "asinh",
    "acosh", "atanh", "exp", "exp2", "expm1", "log",  "log2", "log10", "log1p",
};

// Of float32 on CUDA, by emit/prelude_elementary.hpp.
constexpr std::array<std::string_view, 3> elementary = {"sin", "cos", "log"};

void add_row(FunctionTable& t, const Row& row) {
    const std::string numpy =
        "numpy." + std::string(row.spellings.back().substr(row.spellings.back().find('.') + 1));
    const bool twin = row.spellings.back().starts_with("numpy.");
    t.begin(row.name, row.spellings, twin ? t.keep(numpy) : "", row.doc);
    const std::string base = row.libm ? row.libm : row.name;
    const bool vector = std::find(mvec.begin(), mvec.end(), base) != mvec.end();
    const std::string arguments = row.arguments == 1 ? "($0)" : "($0, $1)";
    for (const DType d : {DType::f32, DType::f64}) {
        const std::string call = base + (d == DType::f32 ? "f" : "");
        const bool own =
            d == DType::f32 && std::find(elementary.begin(), elementary.end(), base) != elementary.end();
        t.add(std::vector<DType>(row.arguments, d), d, "__builtin_" + call + arguments,
              (own ? "xc_e_" + base : call) + arguments, vector ? "libmvec:" + call : "");
    }
    state_accuracy(t, row.name);
    if (std::find(complex.begin(), complex.end(), base) != complex.end())
        t.add_complex("xc_z_" + base + "($0)");
}

}  // namespace

// Unlike sqrt and the exact ones these are off by more than the last rounding.
void state_accuracy(FunctionTable& t, std::string_view name) {
    for (const Accuracy& a : accuracies)
        if (a.name == (name == "tgamma" ? "gamma" : name)) t.within(a.ulp);
}

void add_math(FunctionTable& t) {
    const std::vector<Row> rows = {
        {"sin", {"math.sin", "cmath.sin", "numpy.sin"}, "Sine of an angle in radians; within 4 ulp."},
        {"cos", {"math.cos", "cmath.cos", "numpy.cos"}, "Cosine of an angle in radians; within 4 ulp."},
        {"tan", {"math.tan", "cmath.tan", "numpy.tan"}, "Tangent of an angle in radians; within 4 ulp."},
        {"asin",
         {"math.asin", "cmath.asin", "numpy.asin", "numpy.arcsin"},
         "Inverse sine, in radians; within 4 ulp."},
        {"acos",
         {"math.acos", "cmath.acos", "numpy.acos", "numpy.arccos"},
         "Inverse cosine, in radians; within 4 ulp."},
        {"atan",
         {"math.atan", "cmath.atan", "numpy.atan", "numpy.arctan"},
         "Inverse tangent, in radians; within 4 ulp."},
        {"atan2",
         {"math.atan2", "numpy.atan2", "numpy.arctan2"},
         "Angle of the point (x, y) from atan2(y, x); 4 ulp.",
         2},
        {"sinh", {"math.sinh", "cmath.sinh", "numpy.sinh"}, "Hyperbolic sine; within 4 ulp."},
        {"cosh", {"math.cosh", "cmath.cosh", "numpy.cosh"}, "Hyperbolic cosine; within 4 ulp."},
        {"tanh", {"math.tanh", "cmath.tanh", "numpy.tanh"}, "Hyperbolic tangent; within 4 ulp."},
        {"asinh",
         {"math.asinh", "cmath.asinh", "numpy.asinh", "numpy.arcsinh"},
         "Inverse hyperbolic sine; within 4 ulp."},
        {"acosh",
         {"math.acosh", "cmath.acosh", "numpy.acosh", "numpy.arccosh"},
         "Inverse hyperbolic cosine; within 4 ulp."},
        {"atanh",
         {"math.atanh", "cmath.atanh", "numpy.atanh", "numpy.arctanh"},
         "Inverse hyperbolic tangent; within 4 ulp."},
        {"exp", {"math.exp", "cmath.exp", "numpy.exp"}, "e ** x; within 4 ulp."},
        {"exp2", {"math.exp2", "numpy.exp2"}, "2 ** x; within 4 ulp."},
        {"expm1", {"math.expm1", "numpy.expm1"}, "exp(x) - 1, exact near 0; within 4 ulp."},
        {"log1p", {"math.log1p", "numpy.log1p"}, "log(1 + x), exact near 0; within 4 ulp."},
        {"log2", {"math.log2", "numpy.log2"}, "Logarithm to base 2; nan below 0; within 4 ulp."},
        {"log10",
         {"math.log10", "cmath.log10", "numpy.log10"},
         "Logarithm to base 10; nan below 0; within 4 ulp."},
        {"log",
         {"math.log", "cmath.log", "numpy.log"},
         "Natural logarithm; nan below 0; within 4 ulp. math.log(x, base) too."},
        {"cbrt", {"cuda.cbrt", "math.cbrt", "numpy.cbrt"}, "Cube root; within 4 ulp."},
        {"hypot", {"math.hypot", "numpy.hypot"}, "sqrt(x*x + y*y) without overflow; within 4 ulp.", 2},
        {"pow", {"math.pow"}, "x ** y in floating point; within 4 ulp.", 2},
        {"erf", {"math.erf", "scipy.special.erf"}, "Error function; within 4 ulp."},
        {"erfc", {"math.erfc", "scipy.special.erfc"}, "1 - erf(x), exact for large x; within 4 ulp."},
        {"lgamma",
         {"math.lgamma", "scipy.special.gammaln"},
         "Logarithm of |gamma(x)|; for x > 0 within 8 ulp."},
        {"gamma",
         {"math.gamma", "scipy.special.gamma"},
         "The gamma function; for x > 0 within 10 ulp.",
         1,
         "tgamma"},
        {"nextafter", {"math.nextafter", "numpy.nextafter"}, "The next number after x towards y.", 2},
        {"fmod", {"math.fmod", "numpy.fmod"}, "Remainder with the sign of x, as C has it; exact.", 2},
    };
    for (const Row& row : rows) add_row(t, row);

    t.begin("sqrt", {"math.sqrt", "cmath.sqrt", "numpy.sqrt"}, "numpy.sqrt",
            "Square root; nan below 0; correctly rounded.");
    t.add({DType::f32}, DType::f32, "__builtin_sqrtf($0)", "xc_e_sqrt($0)", "__builtin_elementwise_sqrt($0)");
    t.add({DType::f64}, DType::f64, "__builtin_sqrt($0)", "sqrt($0)", "__builtin_elementwise_sqrt($0)");
    t.add_complex("xc_z_sqrt($0)");

    const auto scaled = [&](const char* name, std::vector<std::string_view> spellings, const char* doc,
                            const char* factor) {
        t.begin(name, spellings, spellings.back(), doc);
        t.add({DType::f32}, DType::f32, "($0 * f32(" + std::string(factor) + "))",
              "($0 * f32(" + std::string(factor) + "))");
        t.add({DType::f64}, DType::f64, "($0 * " + std::string(factor) + ")",
              "($0 * " + std::string(factor) + ")");
        t.within({1.5, 1.5, 1.5, 1.5});  // the factor is rounded too
    };
    scaled("degrees", {"math.degrees", "numpy.rad2deg", "numpy.degrees"}, "Radians to degrees.",
           "57.29577951308232");
    scaled("radians", {"math.radians", "numpy.deg2rad", "numpy.radians"}, "Degrees to radians.",
           "0.017453292519943295");

    t.begin("logaddexp", {"numpy.logaddexp"}, "numpy.logaddexp",
            "log(exp(x) + exp(y)) without overflow; in ulp of the greatest of |x|, |y| and the result.");
    for (const DType d : {DType::f32, DType::f64}) t.add({d, d}, d, "xc_logaddexp($0, $1)");
    t.within({2, 3, 2, 3});
}

}  // namespace xcuda::frontend
