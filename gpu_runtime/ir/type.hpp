// The types of the IR: nothing, scalars (strong, or weak as a Python literal is), arrays, and tiles.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.hpp"
#include "base/export.hpp"

namespace xcuda::ir {

enum class Layout : std::uint8_t {
    contiguous,  // C order: strides follow from the shape, the last is 1
    inner,       // the last axis has stride 1, the others are given
    strided,     // every stride is given (in elements; may be 0 or negative)
    bytes,       // every stride is given in bytes, and elements may lie anywhere: fields of packed records
};
enum class Space : std::uint8_t { global, shared, local, constant };

struct Type {
    enum class Kind : std::uint8_t { none, scalar, array, tile };

    Kind kind = Kind::none;
    DType dtype = DType::i64;
    bool weak = false;  // scalar: takes the other operand's type, as a Python number does (NEP 50)
    int lanes = 1;      // scalar: above 1 after passes/cpu_tiles, a vector register of that many

    int ndim = 0;  // array
    Layout layout = Layout::contiguous;
    Space space = Space::global;
    bool readonly = false;
    bool wide = false;     // 2^31 elements or more lie between its first and its last
    bool aligned = false;  // every row starts at a multiple of 16 bytes
    // Shared and local arrays, tiles: fixed lengths (an array's empty: dynamic shared memory). Of a scalar that stands
    // for each element of a tile (ir/tile.hpp): the tile's.
    std::vector<std::int64_t> extents;

    bool is_none() const { return kind == Kind::none; }
    bool is_scalar() const { return kind == Kind::scalar; }
    bool is_array() const { return kind == Kind::array; }
    bool is_tile() const { return kind == Kind::tile; }
    bool operator==(const Type&) const = default;
};

XCUDA_API Type scalar(DType dtype, bool weak = false);
XCUDA_API Type array(DType dtype, int ndim, Layout layout = Layout::contiguous, bool readonly = false);
XCUDA_API Type tile(DType dtype, std::vector<std::int64_t> extents);
XCUDA_API Type fixed_array(DType dtype, std::vector<std::int64_t> extents, Space space);

/// Neighbours along the last axis are neighbours in memory.
inline bool unit_stride(Layout l) { return l == Layout::contiguous || l == Layout::inner; }

/// The type of `a op b` and of a variable assigned both: NumPy's promotion, weak numbers giving way.
XCUDA_API Type join(const Type& a, const Type& b);

/// "float32", "int64 (weak)", "float32[:, ::1]", "shared float32[16, 16]", "float32 x 16",
/// "tile float32[16, 16]".
XCUDA_API std::string to_string(const Type& type);

}  // namespace xcuda::ir
