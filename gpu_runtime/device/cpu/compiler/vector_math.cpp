#include "device/cpu/compiler/vector_math.hpp"

#include <dlfcn.h>

#include <array>
#include <deque>
#include <string>
#include <vector>

#include "device/cpu/compiler/target.hpp"

namespace xcuda::device::cpu {

namespace {

struct MathName {
    const char* name;  // of the double version; the float one adds an f
    int operands;
    bool has_intrinsic;  // clang calls it llvm.NAME.f64 when errno is off
};

// libmvec 2.36; an older one lacks some, which dlsym finds out.
constexpr MathName names[] = {
    {"sin", 1, true},    {"cos", 1, true},    {"exp", 1, true},   {"log", 1, true},    {"pow", 2, true},
    {"tan", 1, true},    {"asin", 1, true},   {"acos", 1, true},  {"atan", 1, true},   {"atan2", 2, false},
    {"sinh", 1, true},   {"cosh", 1, true},   {"tanh", 1, true},  {"asinh", 1, false}, {"acosh", 1, false},
    {"atanh", 1, false}, {"exp2", 1, true},   {"exp10", 1, true}, {"expm1", 1, false}, {"log2", 1, true},
    {"log10", 1, true},  {"log1p", 1, false}, {"cbrt", 1, false}, {"hypot", 2, false}, {"erf", 1, false},
    {"erfc", 1, false},
};

struct Isa {
    char letter;  // of the vector ABI: b SSE, d AVX2, e AVX-512
    int bits;
};

// VecDesc keeps references, so the strings live as long as the process.
const std::vector<llvm::VecDesc>& table() {
    static const std::vector<llvm::VecDesc> entries = [] {
        static std::deque<std::string> strings;
        std::vector<llvm::VecDesc> found;
        void* library = dlopen("libmvec.so.1", RTLD_NOW | RTLD_LOCAL);
        if (!library) return found;
        const auto keep = [](std::string text) -> llvm::StringRef {
            return strings.emplace_back(std::move(text));
        };
        for (const Isa isa : {Isa{'b', 128}, Isa{'d', 256}, Isa{'e', 512}}) {
            if (isa.bits > host_target().vector_bits) break;
            for (const MathName& math : names) {
                for (const bool is_double : {true, false}) {
                    const int lanes = isa.bits / (is_double ? 64 : 32);
                    const std::string scalar = std::string(math.name) + (is_double ? "" : "f");
                    const std::string operands(math.operands, 'v');
                    const std::string vector = std::string("_ZGV") + isa.letter + "N" +
                                               std::to_string(lanes) + operands + "_" + scalar;
                    if (!dlsym(library, vector.c_str())) continue;
                    const llvm::StringRef to = keep(vector);
                    const llvm::StringRef abi = keep("_ZGV_LLVM_N" + std::to_string(lanes) + operands);
                    const auto count = llvm::ElementCount::getFixed(lanes);
                    found.emplace_back(keep(scalar), to, count, false, abi);
                    if (math.has_intrinsic) {
                        const std::string intrinsic =
                            std::string("llvm.") + math.name + (is_double ? ".f64" : ".f32");
                        found.emplace_back(keep(intrinsic), to, count, false, abi);
                    }
                }
            }
        }
        return found;
    }();
    return entries;
}

}  // namespace

void add_vector_math(llvm::TargetLibraryInfoImpl& library) { library.addVectorizableFunctions(table()); }

}  // namespace xcuda::device::cpu
