// Where a CUDA kernel looks whether it should stop: often enough to end within a moment, seldom enough to cost nothing.
#pragma once

#include "ir/module.hpp"

namespace xcuda::passes {

/// A loop's bound that fits 32 bits with room for a step, where all arrays are narrow: loops then count in 32 bits,
/// which the H200 runs 1.5x faster in a matmul.
bool fits_32_bits(const ir::Function& function, const ir::Expr& bound);
constexpr std::int64_t largest_narrow_step = 1 << 15;

/// Polls in each `while`, and between stretches of each counted loop that may be long. A poll's expression is its
/// weight; the emitter looks at the host's word once the weights add up.
void add_cuda_polls(ir::Function& function, bool narrow);

}  // namespace xcuda::passes
