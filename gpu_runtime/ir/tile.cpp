#include "ir/tile.hpp"

#include <algorithm>

namespace xcuda::ir {

namespace {

bool is_leaf(const Expr& e) { return e.op == Op::element || e.op == Op::position || e.op == Op::spread; }

ExprP leaf(Op op, Type type, Extents extents, std::vector<ExprP> args, const Place& place) {
    type.extents = std::move(extents);
    return make(op, std::move(type), std::move(args), place);
}

}  // namespace

bool is_tile(const Expr& e) {
    return is_leaf(e) ||
           std::any_of(e.args.begin(), e.args.end(), [](const ExprP& a) { return is_tile(*a); });
}

Extents extents_of(const Expr& e) {
    if (is_leaf(e)) return e.type.extents;
    Extents all;
    for (const ExprP& a : e.args)
        if (const auto both = broadcast(all, extents_of(*a))) all = *both;
    return all;
}

std::optional<Extents> broadcast(const Extents& a, const Extents& b) {
    if (a.size() < b.size()) return broadcast(b, a);
    Extents out = a;
    const std::size_t skip = a.size() - b.size();
    for (std::size_t i = 0; i < b.size(); ++i) {
        std::int64_t& n = out[skip + i];
        if (n == 1)
            n = b[i];
        else if (b[i] != 1 && b[i] != n)
            return std::nullopt;
    }
    return out;
}

std::int64_t elements(const Extents& extents) {
    std::int64_t n = 1;
    for (const std::int64_t e : extents) n *= e;
    return n;
}

ExprP element(VarId id, const Type& type, const Place& place) {
    return leaf(Op::element, scalar(type.dtype), type.extents, {var(id, type, place)}, place);
}

ExprP element_at(VarId id, const Type& type, Extents extents, std::vector<ExprP> indices,
                 const Place& place) {
    indices.insert(indices.begin(), var(id, type, place));
    return leaf(Op::element, scalar(type.dtype), std::move(extents), std::move(indices), place);
}

ExprP position(int axis, Extents extents, const Place& place) {
    auto e =
        std::make_shared<Expr>(*leaf(Op::position, scalar(DType::i64, true), std::move(extents), {}, place));
    e->payload = Axis{axis};
    return e;
}

ExprP spread(ExprP value, Extents extents, const Place& place) {
    Type type = value->type;
    return leaf(Op::spread, std::move(type), std::move(extents), {std::move(value)}, place);
}

ExprP replace_leaves(const ExprP& e, const std::function<ExprP(const ExprP&)>& change) {
    if (is_leaf(*e)) return change(e);
    std::vector<ExprP> args;
    bool changed = false;
    for (const ExprP& a : e->args) {
        args.push_back(replace_leaves(a, change));
        changed |= args.back() != a;
    }
    return changed ? with_args(*e, std::move(args)) : e;
}

Stmt tile_stmt(TileOp op, VarId var, std::vector<ExprP> exprs, const Place& place) {
    Stmt s = simple(Stmt::Kind::tile, place);
    s.tile = op;
    s.var = var;
    s.exprs = std::move(exprs);
    return s;
}

std::string to_string(const Extents& extents) {
    std::string text = "(";
    for (std::size_t i = 0; i < extents.size(); ++i) text += (i ? ", " : "") + std::to_string(extents[i]);
    return text + (extents.size() == 1 ? ",)" : ")");
}

}  // namespace xcuda::ir
