#include "ir/stmt.hpp"

namespace xcuda::ir {

Stmt simple(Stmt::Kind kind, const Place& place) {
    Stmt s{};
    s.kind = kind;
    s.place = place;
    return s;
}

Stmt assign(VarId var, ExprP value, const Place& place) {
    Stmt s = simple(Stmt::Kind::assign, place);
    s.var = var;
    s.exprs = {std::move(value)};
    return s;
}

Stmt store(ExprP array, std::vector<ExprP> indices, ExprP value, Access access, const Place& place) {
    Stmt s = simple(Stmt::Kind::store, place);
    s.exprs.reserve(indices.size() + 2);
    s.exprs.push_back(std::move(array));
    for (ExprP& index : indices) s.exprs.push_back(std::move(index));
    s.exprs.push_back(std::move(value));
    s.access = access;
    s.site = access.site;
    return s;
}

Stmt evaluate(ExprP effect, const Place& place) {
    Stmt s = simple(Stmt::Kind::evaluate, place);
    s.exprs = {std::move(effect)};
    return s;
}

Stmt branch(ExprP condition, Body body, Body orelse, const Place& place) {
    Stmt s = simple(Stmt::Kind::branch, place);
    s.exprs = {std::move(condition)};
    s.body = std::move(body);
    s.orelse = std::move(orelse);
    return s;
}

Stmt loop_range(VarId var, ExprP start, ExprP stop, ExprP step, Body body, const Place& place) {
    Stmt s = simple(Stmt::Kind::loop_range, place);
    s.var = var;
    s.exprs = {std::move(start), std::move(stop), std::move(step)};
    s.body = std::move(body);
    return s;
}

}  // namespace xcuda::ir
