// Where a CUDA kernel looks whether it should stop: often enough to end within a moment, seldom enough to cost nothing.
#pragma once

#include "passes/knowledge.hpp"

namespace xcuda::passes {

/// Polls in each `while` whose turns are not known to be few, and between stretches of each counted loop that may be long.
/// A poll's expression is its weight; the emitter looks at the host's word once the weights add up.
XCUDA_API void add_cuda_polls(ir::Function& function, const RangeOptions& options);

}  // namespace xcuda::passes
