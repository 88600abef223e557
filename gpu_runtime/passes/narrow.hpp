// Integers that fit 32 bits, computed in 32 bits: a GPU has registers and arithmetic of that width.
#pragma once

#include "passes/knowledge.hpp"

namespace xcuda::passes {

constexpr std::int64_t largest_narrow_step = 1 << 15;  // of a loop that counts in 32 bits

/// Expects a function as it will be emitted. Leaves every result as it was: a variable becomes an int32 where all that it is
/// assigned fits, a uint32 where only its low bits are ever asked for; an expression is computed in 32 bits where its
/// operands and its result fit; a loop counts in 32 bits (Stmt::narrow) where its bounds leave room for a step.
/// `known`: variable_ranges of the function before the polls, whose loops hide how often others turn.
XCUDA_API void narrow_integers(ir::Function& function, const RangeOptions& options,
                               const std::vector<Interval>& known = {});

/// The loops alone.
void narrow_loops(ir::Function& function, const RangeOptions& options);

}  // namespace xcuda::passes
