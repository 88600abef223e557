// Reading and rewriting trees: visits in evaluation order, rewrites from the leaves up.
#pragma once

#include <functional>
#include <utility>
#include <vector>

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

/// The node over operands made anew: `each` of what is always evaluated, `under(condition, holds, operand)` of what is only
/// where a condition holds, or does not.
template <class Each, class Under>
ExprP with_operands(const ExprP& e, Each each, Under under) {
    std::vector<ExprP> args = e->args;
    if (e->op == Op::select)
        args = {each(args[0]), under(args[0], true, args[1]), under(args[0], false, args[2])};
    else if (e->op == Op::logic_and || e->op == Op::logic_or)
        args = {each(args[0]), under(args[0], e->op == Op::logic_and, args[1])};
    else
        for (ExprP& a : args) a = each(a);
    return args == e->args ? e : with_args(*e, std::move(args));
}

/// What `made_of` makes of each statement, one after the other, in its place in the source.
template <class MadeOf>
Body placed(const Body& body, MadeOf made_of) {
    Body out;
    for (const Stmt& s : body)
        for (Stmt& made : made_of(s)) {
            if (!made.place.known() && made.kind != Stmt::Kind::loop_range) made.place = s.place;
            out.push_back(std::move(made));
        }
    return out;
}

}  // namespace xcuda::ir
