// numba's names of libdevice's functions, each of one type: cuda.libdevice.sinf and the like.
#include <array>

#include "frontend/function_table.hpp"

namespace xcuda::frontend {
namespace {

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
    for (const Libm& f : libdevice) {
        for (const DType d : {DType::f32, DType::f64}) {
            const std::string name = std::string(f.name) + (d == DType::f32 ? "f" : "");
            t.begin(
                t.keep("libdevice." + name), {t.keep("cuda.libdevice." + name)}, "",
                d == DType::f32 ? "libdevice's function of float32." : "libdevice's function of float64.");
            const std::string call = name + places[f.arguments];
            t.add(std::vector<DType>(static_cast<std::size_t>(f.arguments), d), d, "__builtin_" + call, call,
                  "");
            state_accuracy(t, f.name);
        }
    }
}

}  // namespace xcuda::frontend
