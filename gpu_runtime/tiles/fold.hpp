// What a reduction or a scan does with two elements, and what it starts from.
#pragma once

#include <optional>

#include "ir/tile.hpp"

namespace xcuda::tiles {

/// x op y, of one dtype; max and min give nan where one is. Not of argmax and argmin.
ir::ExprP folded(ir::TileOp::Fold fold, ir::ExprP x, ir::ExprP y);
/// For argmax and argmin: whether y, which comes later, takes the place of x.
ir::ExprP takes_over(ir::TileOp::Fold fold, const ir::ExprP& x, const ir::ExprP& y);
/// What changes nothing; max and min have it where the dtype has a lowest and a highest number.
ir::ExprP identity(ir::TileOp::Fold fold, DType dtype);

}  // namespace xcuda::tiles
