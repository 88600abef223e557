// Tile expressions at one element: leaves replaced by what they are at given coordinates.
#pragma once

#include <functional>
#include <vector>

#include "ir/tile.hpp"

namespace xcuda::tiles {

/// Where an element lies in a tile: its index along each axis.
struct Frame {
    std::vector<ir::ExprP> at;
    ir::Extents extents;
};

/// The frame of a leaf of these extents under it: the last axes, and 0 along lengths of 1.
Frame aligned(const Frame& frame, const ir::Extents& extents);

/// Gives an element of a tile variable. `own`: at the frame's very place, in a tile of the frame's extents.
using Reader = std::function<ir::ExprP(ir::VarId tile, const std::vector<ir::ExprP>& indices, bool own)>;

ir::ExprP at(const ir::ExprP& e, const Frame& frame, const Reader& read);

/// The index in row-major order.
ir::ExprP linear_index(const std::vector<ir::ExprP>& indices, const ir::Extents& extents);

/// The tile variables that an expression reads elsewhere than at its own place, of those of these extents.
/// `near`: of those the leaves that are at hand all the same.
std::vector<ir::VarId> read_elsewhere(const ir::Function& f, const ir::ExprP& e, const ir::Extents& extents,
                                      const std::function<bool(const ir::Expr&)>& near = {});
/// All of them.
std::vector<ir::VarId> tiles_read(const ir::ExprP& e);

/// Of `select(inside, value, outside)`, perhaps under a spread; a store's value and condition likewise.
struct Guarded {
    ir::ExprP inside, value, outside;
};
std::optional<Guarded> guarded(const ir::ExprP& e);
/// Along each axis the places [low, high) where `inside` holds, which is nowhere else: a box; absent where it is none.
struct Box {
    std::vector<ir::ExprP> low, high;
};
std::optional<Box> box_of(const ir::ExprP& inside, const ir::Extents& extents);
/// The one position in a sum with uniform numbers, and the sum of these.
struct Shifted {
    int axis;  // counted from the last: -1
    ir::ExprP start;
};
std::optional<Shifted> shifted(const ir::ExprP& e);
/// One test for the whole tile that `inside` holds at each element; absent where it can't be told so.
std::optional<ir::ExprP> holds_everywhere(const ir::ExprP& inside, const ir::Extents& extents);

}  // namespace xcuda::tiles
