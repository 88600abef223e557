// Element-wise kernels of automatic launches, several elements a thread: 16-byte loads and stores.
// Measured on the H200, a = 2b + c over 2^27 float32: one element a thread 3.4 TB/s, four as float4 4.3.
#pragma once

#include "passes/cuda_staging.hpp"

namespace xcuda::passes {

/// Elements a thread can take along `axis`, `wanted` or (0) as many as a load of 16 bytes has; 1 where the body has loops, strided or data-dependent accesses.
/// Expects structured returns and propagated definitions, and a kernel of global indices alone.
int vector_elements(const ir::Function& function, int axis, int wanted = 0);

/// A thread's tile of a kernel whose loops load what neighbours share, as a product's do: `elements` along `axis`, and
/// at most `rows` across, whose loads of the one serve all of the other. Both 1 where the body has no such loop.
struct RegisterTile {
    int elements = 1, rows = 1;
    int row_axis = 1;
};
RegisterTile register_tile(const ir::Function& function, int axis, int wanted = 0);

/// Rewrites the kernel so that a thread runs `elements` neighbours along `axis`, and `rows` along the tile's other one: as
/// vectors where all of them pass the guard and the range test, else one by one. `staged`: with a version whose blocks fetch
/// rows into shared memory, where there are such.
void vectorise(ir::Function& function, int axis, int elements, int rows = 1,
               const StagingFrame* staged = nullptr);

}  // namespace xcuda::passes
