// What a reduction or a scan does with two elements, and what it starts from.
#pragma once

#include <optional>

#include "ir/tile.hpp"

namespace xcuda::tiles {

/// How a statement folds; of a custom one: an expression over two variables, and what changes nothing.
struct Folding {
    ir::TileOp::Fold fold = ir::TileOp::Fold::sum;
    ir::ExprP combine, start;
    ir::VarId left = -1, right = -1;
};
Folding folding_of(const ir::Stmt& s);
/// x op y, of one dtype; max and min give nan where one is. Not of argmax and argmin.
ir::ExprP folded(const Folding& folding, ir::ExprP x, ir::ExprP y);
/// For argmax and argmin: whether y, which comes later, takes the place of x.
ir::ExprP takes_over(ir::TileOp::Fold fold, const ir::ExprP& x, const ir::ExprP& y);
/// What changes nothing; max and min have it where the dtype has a lowest and a highest number.
ir::ExprP identity(const Folding& folding, DType dtype);

}  // namespace xcuda::tiles
