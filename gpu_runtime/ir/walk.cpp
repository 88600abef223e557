#include "ir/walk.hpp"

#include <algorithm>

namespace xcuda::ir {

void each_expr(const ExprP& e, const std::function<void(const Expr&)>& visit) {
    for (const ExprP& a : e->args) each_expr(a, visit);
    visit(*e);
}

void each_stmt(const Body& body, const std::function<void(const Stmt&)>& visit) {
    for (const Stmt& s : body) {
        visit(s);
        each_stmt(s.body, visit);
        each_stmt(s.orelse, visit);
    }
}

void each_expr(const Body& body, const std::function<void(const Expr&)>& visit) {
    each_stmt(body, [&](const Stmt& s) {
        for (const ExprP& e : s.exprs) each_expr(e, visit);
    });
}

Effect strongest_effect(const Body& body) {
    Effect found = Effect::none;
    each_stmt(body, [&](const Stmt& s) {
        if (s.kind == Stmt::Kind::barrier) found = std::max(found, Effect::block);
        for (const ExprP& e : s.exprs)
            each_expr(e, [&](const Expr& n) { found = std::max(found, effect_of(n)); });
    });
    return found;
}

ExprP rewrite(const ExprP& e, const std::function<ExprP(const ExprP&)>& change) {
    std::vector<ExprP> args;
    bool changed = false;
    args.reserve(e->args.size());
    for (const ExprP& a : e->args) {
        args.push_back(rewrite(a, change));
        changed |= args.back() != a;
    }
    return change(changed ? with_args(*e, std::move(args)) : e);
}

void rewrite_exprs(Body& body, const std::function<ExprP(const ExprP&)>& change) {
    for (Stmt& s : body) {
        for (ExprP& e : s.exprs) e = rewrite(e, change);
        rewrite_exprs(s.body, change);
        rewrite_exprs(s.orelse, change);
    }
}

}  // namespace xcuda::ir
