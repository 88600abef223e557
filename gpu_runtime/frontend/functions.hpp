// The one table of the kernel language's functions. Typing, emission, completion, help and the reference read it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.hpp"
#include "ir/expr.hpp"

namespace xcuda::frontend {

/// One signature. In the texts $0, $1, ... are the arguments, already of the types in `in`.
struct Overload {
    std::vector<DType> in;
    DType out;
    std::string_view cpu;         // C++ for one thread on the CPU device: "__builtin_sinf($0)"
    std::string_view cuda;        // C++ for CUDA: "sinf($0)"
    std::string_view cpu_vector;  // over ext_vector_type values; "" where it must be taken lane by lane;
                                  // "libmvec:sinf" where glibc's vector twin serves
    // The most units in the last place that a result is off; 0: correctly rounded or exact.
    float cpu_ulp = 0, cuda_ulp = 0;
};

struct KernelFunction {
    std::string_view name;                    // "sin"
    std::vector<std::string_view> spellings;  // what the user may have written: "math.sin", "numpy.sin"
    std::string_view numpy;                   // its NumPy twin, the reference: "numpy.sin"
    std::string_view doc;                     // one line; accuracy in ulp where it is not exact
    int first_overload = 0, overloads = 0;    // into all_overloads()
    ir::Effect effect = ir::Effect::none;
    std::vector<std::string_view> parameters;  // their names, where they may be given by name
    bool sited = false;  // its last argument is the site that threads wait at, added by the compiler
    bool gives = true;   // false: no value, whatever the overload's `out`
};

XCUDA_API std::span<const KernelFunction> all_functions();
XCUDA_API std::span<const Overload> all_overloads();
XCUDA_API const Overload& overload(ir::OverloadId id);
XCUDA_API const KernelFunction& function_of(ir::OverloadId id);
/// Whether it is a call of a memory fence, of whatever scope.
bool is_fence(const ir::Expr& e);
XCUDA_API const KernelFunction* find_function(std::string_view spelling);

}  // namespace xcuda::frontend
