// Bounds checks that the code around them already makes: `if i < C.shape[0]`, `for k in range(A.shape[1])`.
#pragma once

#include "ir/module.hpp"

namespace xcuda::passes {

/// Clears the check of an index that a guard or a loop bounds by the very axis it indexes, and the wrap of an index that
/// cannot be negative. Expects propagated definitions.
/// And remainders of neighbours become choices: see Prover::simplified.
XCUDA_API void prove_bounds(ir::Function& function);

}  // namespace xcuda::passes
