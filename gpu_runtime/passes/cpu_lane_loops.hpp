// Loops that a block's threads share: `for j in range(threadIdx.x, n, blockDim.x)` and its kin, between barriers.
#pragma once

#include "passes/cpu.hpp"

namespace xcuda::passes {

/// Where threads start one apart and step at least the block's length, all take the same number of turns but for the
/// last: the loop becomes one of that number for the block, and a branch for the last turn. Gives the counters of the
/// loops made so: their turns can be run one after another, each by all lanes. Block coordinates stand as variables.
std::vector<ir::VarId> share_lane_loops(ir::Function& function, const CpuOptions& options);

}  // namespace xcuda::passes
