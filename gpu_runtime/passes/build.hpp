// Small builders for the expressions that passes write: integers, comparisons, minima; constants are folded.
#pragma once

#include <optional>

#include "ir/expr.hpp"

namespace xcuda::passes {

XCUDA_API std::optional<std::int64_t> integer_of(
    const ir::ExprP& e);  // its value, if it is an integer constant

XCUDA_API ir::ExprP add(ir::ExprP a, ir::ExprP b);
XCUDA_API ir::ExprP sub(ir::ExprP a, ir::ExprP b);
XCUDA_API ir::ExprP mul(ir::ExprP a, ir::ExprP b);
XCUDA_API ir::ExprP div_floor(ir::ExprP a, ir::ExprP b);  // b is positive
XCUDA_API ir::ExprP mod_floor(ir::ExprP a, ir::ExprP b);  // b is positive
XCUDA_API ir::ExprP ceil_div(ir::ExprP a, ir::ExprP b);   // b is positive
XCUDA_API ir::ExprP minimum(ir::ExprP a, ir::ExprP b);
XCUDA_API ir::ExprP maximum(ir::ExprP a, ir::ExprP b);
XCUDA_API ir::ExprP compare(ir::Op op, ir::ExprP a, ir::ExprP b);
XCUDA_API ir::ExprP both(ir::ExprP a, ir::ExprP b);    // logic_and; null is true
XCUDA_API ir::ExprP either(ir::ExprP a, ir::ExprP b);  // logic_or
XCUDA_API ir::ExprP negate(ir::ExprP condition);       // logic_not, comparisons of integers turned round

}  // namespace xcuda::passes
