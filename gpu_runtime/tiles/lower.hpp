// From a module of tile programs to one of threads: the road that gpu_runtime/tiles lays before the passes.
#pragma once

#include <optional>

#include "ir/module.hpp"
#include "tiles/plan.hpp"

namespace xcuda::tiles {

/// A program is one thread: each tile is a local array, each statement a nest of loops over it.
ir::Module lower_to_loops(ir::Module module);

/// A program is a block of plan.threads: tiles lie in registers and shared memory.
ir::Module lower_to_threads(ir::Module module, const Plan& plan);

/// The whole kernel is one call of a BLAS, which its only program makes; absent where it is no plain product of
/// contiguous matrices of one type.
std::optional<ir::Module> lower_to_blas(const ir::Module& module);

ir::Module lower(ir::Module module, const Plan& plan);

}  // namespace xcuda::tiles
