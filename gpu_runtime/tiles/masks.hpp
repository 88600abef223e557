// Masks by place: `where(columns < n, x, y)`, which most tiles of a loop need not ask at each element.
#pragma once

#include <optional>

#include "ir/tile.hpp"

namespace xcuda::tiles {

/// Of an expression that holds a `where` by place: one test for the whole tile that its condition holds at each element,
/// and the expression for a tile where it does.
struct Unmasked {
    ir::ExprP all, value;
};
std::optional<Unmasked> unmasked(const ir::ExprP& e);

}  // namespace xcuda::tiles
