// The road of a typed module to the CUDA device: checks proven away or hoisted out of loops, 32-bit indices, and, for
// launches whose shape nobody wrote, the axes laid so that neighbouring threads touch neighbouring elements.
#pragma once

#include <array>
#include <optional>

#include "ir/module.hpp"

namespace xcuda::passes {

struct CudaOptions {
    bool automatic = false;  // the launch shape is ours: the axes of cuda.grid may be mapped freely
    // For automatic launches: instead of our choice, where the kernel allows it at all.
    std::optional<std::array<int, 3>> order;
    std::optional<int> elements;
    std::optional<int> rows;                           // of a thread's tile; absent: 1
    std::optional<std::array<std::int64_t, 3>> block;  // of every launch of the text
    int staged = 0;  // turns of a loop whose rows a block fetches into shared memory at a time; 0: none
    bool narrow_grid =
        true;  // every launch has fewer than 2^31 threads along each axis, with room for a step
};

/// The kernel's shared arrays are made for one block shape, as their lengths are: it is worth a text of its own.
XCUDA_API bool wants_known_block(const ir::Module& module);

XCUDA_API ir::Module for_cuda(ir::Module module, const CudaOptions& options);

/// A block of an automatic launch could fetch rows for all its threads: CudaOptions::staged would change the text.
XCUDA_API bool has_staging(const ir::Module& module);

struct AutomaticLaunch {
    std::array<int, 3> order{0, 1,
                             2};  // which of x, y, z each axis of cuda.grid becomes: the contiguous one is x
    bool free = true;             // false: the kernel names blocks and threads itself
    int elements = 1;             // neighbours along x that a thread takes, as one vector
    int rows = 1;                 // neighbours along `row_axis` that a thread takes, with `elements` of each
    int row_axis = 1;             // of x, y, z
    int most_rows = 1;            // that `rows` may be
};
/// How a launch whose shape is ours lays a kernel out; order, elements: as in CudaOptions.
XCUDA_API AutomaticLaunch automatic_launch(const ir::Module& module,
                                           const std::optional<std::array<int, 3>>& order = {},
                                           const std::optional<int>& elements = {},
                                           const std::optional<int>& rows = {});

}  // namespace xcuda::passes
