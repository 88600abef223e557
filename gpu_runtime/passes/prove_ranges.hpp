// Bounds and divisors proven by the ranges of values: constants, lengths that are known, guards, loops.
#pragma once

#include "passes/knowledge.hpp"

namespace xcuda::passes {

/// Clears the checks of accesses whose index is within the axis, the wraps of those that can't be negative, and the checks
/// of divisors that can't be 0. Where an access is tested, what comes after it knows that it went well.
XCUDA_API void prove_ranges(ir::Function& function, const RangeOptions& options);
XCUDA_API void prove_ranges(const ir::Function& function, ir::Body& body, const RangeOptions& options);

/// How many tests of indices and divisors a body holds.
XCUDA_API int tests_in(const ir::Body& body);

}  // namespace xcuda::passes
