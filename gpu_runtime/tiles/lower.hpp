// From a module of tile programs to one of threads: the road that gpu_runtime/tiles lays before the passes.
#pragma once

#include "ir/module.hpp"
#include "tiles/plan.hpp"

namespace xcuda::tiles {

/// A program is one thread: each tile is a local array, each statement a nest of loops over it.
ir::Module lower_to_loops(ir::Module module);

/// A program is a block of plan.threads: tiles lie in registers and shared memory.
ir::Module lower_to_threads(ir::Module module, const Plan& plan);

ir::Module lower(ir::Module module, const Plan& plan);

}  // namespace xcuda::tiles
