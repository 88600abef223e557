// Folds (sums, products, extremes, ...) as one or several kernels: partial results over chunks and lanes, then theirs. In
// which order elements meet depends on lengths and device only, and on whether the rows' other work is in one kernel with
// them (rows.hpp).
#pragma once

#include <optional>

#include "arrays/fuse.hpp"

namespace xcuda::arrays {

/// Computes a pending fold into memory at `address`, laid out as the value. Its operand is computed on the way.
void run_fold(const Value& value, char* address, const Queue& queue);

/// Whether the threads of a block fold together; none: on a GPU they do. For tests.
XCUDA_API void set_fold_by_blocks(std::optional<bool> asked);

}  // namespace xcuda::arrays
