// Products of sm_100: operands in swizzled shared memory, sums in the tensor memory of a multiprocessor. What the
// instructions are told of both, and which warp may read which sums.
#pragma once

#include <cstdint>
#include <optional>

#include "base/dtype.hpp"
#include "base/export.hpp"
#include "ir/tile.hpp"
#include "tiles/layout.hpp"

namespace xcuda::tiles {

constexpr std::int64_t tensor_columns = 512;  // of 128 lanes of 32 bits each

/// What tcgen05.mma is told of types and shapes: `rows` and `columns` of the sum of one instruction, 64 or 128 and up to
/// 256; across: the operand's lines in memory lie across the inner dimension, not along it.
XCUDA_API std::uint32_t instruction_descriptor(DType in, std::int64_t rows, std::int64_t columns,
                                               bool a_across, bool b_across);

/// What it is told of an operand in swizzled rows of 128 bytes, but for where it begins (its lowest 14 bits): `next` is
/// bytes from a column of such rows to the next one, which those that lie across the inner dimension are asked for.
XCUDA_API std::uint64_t matrix_descriptor(std::int64_t next);

/// Whether it takes such factors.
XCUDA_API bool in_tensor_memory(DType in, bool a_across, bool b_across);

/// How the sums of a tile lie over threads: a warp reads its quarter of the lanes alone. Absent where they don't fit.
XCUDA_API std::optional<Layout> tensor_layout(const ir::Extents& extents, std::int64_t threads);

/// Columns of tensor memory that such a tile's sums take.
XCUDA_API std::int64_t tensor_width(const ir::Extents& extents);

}  // namespace xcuda::tiles
