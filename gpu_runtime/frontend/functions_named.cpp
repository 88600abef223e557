// numba's names of functions of one type: cuda.fp16.* and cuda.libdevice.*.
#include <array>

#include "frontend/function_table.hpp"

namespace xcuda::frontend {
namespace {

struct Half {
    const char* name;
    int arguments;
    const char* cpu;
    const char* cuda;  // null: as on the CPU
    bool test = false;
    const char* doc;
};

// In float32, and rounded where every argument is a float16: exact for + - * / and square roots.
constexpr std::array halves{
    Half{"hadd", 2, "($0 + $1)", nullptr, false, "x + y."},
    Half{"hsub", 2, "($0 - $1)", nullptr, false, "x - y."},
    Half{"hmul", 2, "($0 * $1)", nullptr, false, "x * y."},
    Half{"hdiv", 2, "($0 / $1)", nullptr, false, "x / y."},
    Half{"hfma", 3, "__builtin_fmaf($0, $1, $2)", "fmaf($0, $1, $2)", false, "x * y + z."},
    Half{"hneg", 1, "(-$0)", nullptr, false, "-x."},
    Half{"habs", 1, "__builtin_fabsf($0)", "fabsf($0)", false, "|x|."},
    Half{"hsqrt", 1, "__builtin_sqrtf($0)", "sqrtf($0)", false, "The square root."},
    Half{"hrsqrt", 1, "(1 / __builtin_sqrtf($0))", "rsqrtf($0)", false, "1 / sqrt(x)."},
    Half{"hrcp", 1, "(1 / $0)", nullptr, false, "1 / x."},
    Half{"hsin", 1, "__builtin_sinf($0)", "sinf($0)", false, "Sine."},
    Half{"hcos", 1, "__builtin_cosf($0)", "cosf($0)", false, "Cosine."},
    Half{"hlog", 1, "__builtin_logf($0)", "logf($0)", false, "Natural logarithm."},
    Half{"hlog2", 1, "__builtin_log2f($0)", "log2f($0)", false, "Logarithm to base 2."},
    Half{"hlog10", 1, "__builtin_log10f($0)", "log10f($0)", false, "Logarithm to base 10."},
    Half{"hexp", 1, "__builtin_expf($0)", "expf($0)", false, "e ** x."},
    Half{"hexp2", 1, "__builtin_exp2f($0)", "exp2f($0)", false, "2 ** x."},
    Half{"hexp10", 1, "__builtin_powf(10.0f, $0)", "exp10f($0)", false, "10 ** x."},
    Half{"hfloor", 1, "__builtin_floorf($0)", "floorf($0)", false, "The largest whole number <= x."},
    Half{"hceil", 1, "__builtin_ceilf($0)", "ceilf($0)", false, "The smallest whole number >= x."},
    Half{"htrunc", 1, "__builtin_truncf($0)", "truncf($0)", false, "x without its fraction."},
    Half{"hrint", 1, "__builtin_rintf($0)", "rintf($0)", false, "The nearest whole number, ties to even."},
    Half{"hmax", 2, "__builtin_fmaxf($0, $1)", "fmaxf($0, $1)", false,
         "The greater; the number where one is nan."},
    Half{"hmin", 2, "__builtin_fminf($0, $1)", "fminf($0, $1)", false,
         "The lesser; the number where one is nan."},
    Half{"heq", 2, "($0 == $1)", nullptr, true, "x == y."},
    Half{"hne", 2, "($0 != $1)", nullptr, true, "x != y."},
    Half{"hge", 2, "($0 >= $1)", nullptr, true, "x >= y."},
    Half{"hgt", 2, "($0 > $1)", nullptr, true, "x > y."},
    Half{"hle", 2, "($0 <= $1)", nullptr, true, "x <= y."},
    Half{"hlt", 2, "($0 < $1)", nullptr, true, "x < y."},
};

struct Libm {
    const char* name;
    int arguments = 1;
};
constexpr std::array libdevice{
    Libm{"sin"},     Libm{"cos"},      Libm{"tan"},         Libm{"asin"},         Libm{"acos"},
    Libm{"atan"},    Libm{"sinh"},     Libm{"cosh"},        Libm{"tanh"},         Libm{"asinh"},
    Libm{"acosh"},   Libm{"atanh"},    Libm{"exp"},         Libm{"exp2"},         Libm{"expm1"},
    Libm{"log"},     Libm{"log2"},     Libm{"log10"},       Libm{"log1p"},        Libm{"sqrt"},
    Libm{"cbrt"},    Libm{"erf"},      Libm{"erfc"},        Libm{"lgamma"},       Libm{"floor"},
    Libm{"ceil"},    Libm{"trunc"},    Libm{"rint"},        Libm{"fabs"},         Libm{"tgamma"},
    Libm{"pow", 2},  Libm{"atan2", 2}, Libm{"hypot", 2},    Libm{"fmod", 2},      Libm{"fmax", 2},
    Libm{"fmin", 2}, Libm{"fdim", 2},  Libm{"copysign", 2}, Libm{"remainder", 2}, Libm{"nextafter", 2},
    Libm{"fma", 3},
};

constexpr const char* places[] = {"", "($0)", "($0, $1)", "($0, $1, $2)"};

}  // namespace

void add_named(FunctionTable& t) {
    for (const Half& h : halves) {
        t.begin(t.keep(std::string("fp16.") + h.name), {t.keep(std::string("cuda.fp16.") + h.name)}, "",
                h.doc);
        t.add(std::vector<DType>(static_cast<std::size_t>(h.arguments), DType::f32),
              h.test ? DType::b1 : DType::f32, h.cpu, h.cuda ? h.cuda : h.cpu, "");
    }
    for (const Libm& f : libdevice) {
        for (const DType d : {DType::f32, DType::f64}) {
            const std::string name = std::string(f.name) + (d == DType::f32 ? "f" : "");
            t.begin(
                t.keep("libdevice." + name), {t.keep("cuda.libdevice." + name)}, "",
                d == DType::f32 ? "libdevice's function of float32." : "libdevice's function of float64.");
            const std::string call = name + places[f.arguments];
            t.add(std::vector<DType>(static_cast<std::size_t>(f.arguments), d), d, "__builtin_" + call, call,
                  "");
        }
    }
}

}  // namespace xcuda::frontend
