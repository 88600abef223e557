// Writes integer definitions into their uses (`i, j = cuda.grid(2)`, `bx * TPB + tx`), so that what an index depends
// on can be read from the index itself; definitions that nothing reads any more go.
#pragma once

#include "ir/module.hpp"

namespace xcuda::passes {

/// Expects typed IR; leaves no `block * block_dim + thread` but Coord::global.
XCUDA_API void propagate(ir::Function& function);

}  // namespace xcuda::passes
