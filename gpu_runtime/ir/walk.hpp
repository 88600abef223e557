// Reading and rewriting trees: visits in evaluation order, rewrites from the leaves up.
#pragma once

#include <functional>

#include "ir/module.hpp"

namespace xcuda::ir {

XCUDA_API void each_expr(const ExprP& e, const std::function<void(const Expr&)>& visit);
XCUDA_API void each_expr(const Body& body,
                         const std::function<void(const Expr&)>& visit);  // nested bodies too
XCUDA_API void each_stmt(const Body& body,
                         const std::function<void(const Stmt&)>& visit);  // before its bodies

/// The strongest effect of a body's statements: Effect::block where it holds a barrier.
XCUDA_API Effect strongest_effect(const Body& body);

/// Replaces nodes: `change` sees each node with its arguments already changed and gives the node to stand there.
XCUDA_API ExprP rewrite(const ExprP& e, const std::function<ExprP(const ExprP&)>& change);
XCUDA_API void rewrite_exprs(Body& body, const std::function<ExprP(const ExprP&)>& change);

}  // namespace xcuda::ir
