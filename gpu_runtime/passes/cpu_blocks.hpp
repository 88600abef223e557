// The frames around a kernel's body on the CPU device: the whole grid as one domain, block by block, or fibers.
#pragma once

#include "passes/cpu_region.hpp"

namespace xcuda::passes {

/// The kernel knows only global indices: the device runs it over boxes of the grid's threads.
void frame_boxes(ir::Module& module, const CpuOptions& options);

/// A piece is a block. With barriers its body becomes regions between them, run lane by lane; values that live across
/// a barrier are kept per thread. False: the barriers stand under divergent control, and the module is unchanged.
bool frame_blocks(ir::Module& module, const CpuOptions& options);

/// Any kernel: a block's threads are fibers that meet at barriers and in warps. `whole_grid`: the grid's threads are,
/// since they all meet.
void frame_fibers(ir::Module& module, const CpuOptions& options, bool whole_grid);

/// Puts a poll at the head of each loop that may run long.
void add_polls(ir::Body& body);

/// Block dimensions as constants, where this specialisation fixes them.
ir::ExprP block_dim(const CpuOptions& options, int axis);

// What the frames share.
ir::Body piece_loop(ir::Function& kernel, ir::VarId piece, ir::Body body);

}  // namespace xcuda::passes
