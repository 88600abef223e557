// The implicit level of tiles: arrays, and expressions of them, that each program sees through its tile of the result.
#pragma once

#include <functional>
#include <vector>

#include "frontend/value.hpp"
#include "ir/tile.hpp"

namespace xcuda::frontend {

/// One axis of where an expression is looked at: `extent` elements from `start` on.
struct SeenRange {
    ir::ExprP start;
    std::int64_t extent;
};

/// An expression of whole arrays, of which any part can be computed as a tile.
struct Seen {
    /// here: computed already, at `where`.
    enum class Kind { leaf, map, product, transpose, reduce, here };
    Kind kind = Kind::leaf;
    Value array;                                             // leaf: an array or a view
    std::vector<Value> operands;                             // seen ones, and numbers
    std::function<ir::ExprP(std::vector<ir::ExprP>)> apply;  // map: of the operands' elements
    ir::TileOp fold;                                         // reduce
    bool keep = false;                                       // reduce: the axis stays, with length 1
    std::vector<ir::ExprP> lengths;                          // by axis
    DType dtype = DType::f32;
    ir::ExprP tile;                // here
    std::vector<SeenRange> where;  // here
};

}  // namespace xcuda::frontend
