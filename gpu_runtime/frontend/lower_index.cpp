// Elements of arrays: indices, their checks, loads and stores.
#include <fmt/format.h>

#include "frontend/lowering.hpp"

namespace xcuda::frontend {

using ir::ExprP;
using ir::Op;

std::optional<std::int64_t> Lowering::constant_int(const Value& v) const {
    if (!v.is_scalar() || !is_constant(*v.expr) || !is_integer(v.expr->type.dtype)) return std::nullopt;
    const ir::Number& n = ir::number_of(*v.expr);
    if (const auto* i = std::get_if<std::int64_t>(&n)) return *i;
    if (const auto* u = std::get_if<std::uint64_t>(&n); u && *u <= INT64_MAX) return static_cast<std::int64_t>(*u);
    return std::nullopt;
}

ExprP Lowering::index(ExprP value, const Place& place) {
    if (value->type.is_none()) return value;
    if (!is_integer(value->type.dtype))
        throw refused(place, "index must be an integer, found " + spoken(value->type),
                      value->type.dtype == DType::b1 ? "write an if, or int(...)" : "write int(...)");
    const ir::Type wanted = ir::scalar(DType::i64, value->type.weak);  // before `value` moves away
    return convert(std::move(value), wanted);
}

std::vector<ExprP> Lowering::index_list(const Value& at, const Node& node) {
    std::vector<ExprP> indices;
    if (at.is_tuple()) {
        const bool written = node.kind == "Tuple";  // then each index is refused at its own place
        for (std::size_t i = 0; i < at.items.size(); ++i) {
            const Place& place = written ? node.list("elts")[i]->place : node.place;
            indices.push_back(index(number(at.items[i], place), place));
        }
    } else {
        indices.push_back(index(number(at, node.place), node.place));
    }
    return indices;
}

namespace {

void refuse_slices(const ast::Node& slice) {
    const auto check = [](const ast::Node& n) {
        if (n.kind == "Slice") refuse_node(n);
        if (n.kind == "Constant" && n.constant_kind == ast::Node::Constant::none)
            throw refused(n.place, "None as an index makes a new axis, which kernels don't have", "leave it out");
    };
    if (slice.kind == "Tuple")
        for (const ast::NodeP& e : slice.list("elts")) check(*e);
    else
        check(slice);
}

}  // namespace

Value Lowering::element_or_row(const Value& base, const Node& node) {
    const Node& slice = node.one("slice");
    refuse_slices(slice);
    Value b = base;
    const std::size_t mark = out->size();
    const Value at = value(slice);
    settle({&b}, mark);
    std::vector<ExprP> indices = index_list(at, slice);
    if (b.indices.size() + indices.size() < static_cast<std::size_t>(b.expr->type.ndim)) {
        b.kind = Value::Kind::row;
        b.indices.insert(b.indices.end(), indices.begin(), indices.end());
        return b;
    }
    return scalar_value(load(element(b, std::move(indices), node.place), node.place));
}

Lowering::Element Lowering::element(const Value& base, std::vector<ExprP> indices, const Place& place) {
    Element e;
    e.array = base.expr;
    e.indices = base.indices;
    e.indices.insert(e.indices.end(), indices.begin(), indices.end());
    const ir::Type& type = base.expr->type;
    const ir::VarId id = ir::var_of(*base.expr);
    const std::string& name = fn.vars[id].name;
    const int found = static_cast<int>(e.indices.size());
    if (found != type.ndim)
        throw refused(place, fmt::format("'{}' has {} dimension{}, found {} ind{}", name, type.ndim,
                                         type.ndim == 1 ? "" : "s", found, found == 1 ? "ex" : "ices"),
                      found < type.ndim ? "index every axis" : "");
    for (int axis = 0; axis < type.ndim; ++axis) {
        const ExprP& at = e.indices[axis];
        // A uint64 above int64's range turns negative: it must fail the test, not count from the end.
        const bool from_u64 = at->op == Op::cast && at->args[0]->type.dtype == DType::u64;
        if (!nonnegative(*at) && !from_u64) e.access.wrap |= 1u << axis;
        if (unit.checked) e.access.checked |= 1u << axis;
    }
    e.access.site = unit.site({ir::Site::Kind::index, place, name, "", type.ndim, roots.count(id) ? roots.at(id) : -1, type.extents});
    return e;
}

ExprP Lowering::load(const Element& e, const Place& place) {
    std::vector<ExprP> args = {e.array};
    args.insert(args.end(), e.indices.begin(), e.indices.end());
    for (const ExprP& at : e.indices)
        if (at->type.is_none()) return ir::make(Op::constant, ir::Type{}, {}, place);
    ir::Expr node = *ir::make(Op::load, ir::scalar(e.array->type.dtype), std::move(args), place);
    node.payload = e.access;
    return std::make_shared<const ir::Expr>(std::move(node));
}

void Lowering::store(const Element& e, ExprP value, const Place& place) {
    const ir::Type& type = e.array->type;
    if (type.readonly)
        throw refused(place, fmt::format("'{}' is read-only: its elements can't be assigned",
                                         fn.vars[ir::var_of(*e.array)].name),
                      "pass a writable array, as A.copy()");
    emit(ir::store(e.array, e.indices, convert(std::move(value), ir::scalar(type.dtype)), e.access, place));
}

void Lowering::store_subscript(const Node& target, const Value& v) {
    Value kept = v;
    const std::size_t mark = out->size();
    const Value base = value(target.one("value"));
    if (!base.is_array() && base.kind != Value::Kind::row) {
        if (base.is_tuple()) throw refused(target.place, "a tuple's items can't be assigned", "make a new tuple");
        if (base.kind == Value::Kind::meaning) refuse_meaning(*base.meaning, base.text, target.one("value").place);
        throw refused(target.place, spoken(base) + " can't be indexed");
    }
    const Node& slice = target.one("slice");
    refuse_slices(slice);
    const Value at = value(slice);
    settle({&kept}, mark);
    const Place value_place = kept.place.known() ? kept.place : target.place;
    const Element e = element(base, index_list(at, slice), target.place);
    store(e, number(kept, value_place), target.place);
}

void Lowering::augment_subscript(const Node& target, Op op, const Node& rhs, const Place& place) {
    const Value base = value(target.one("value"));
    if (!base.is_array() && base.kind != Value::Kind::row)
        throw refused(target.place, spoken(base) + " can't be assigned by index");
    const Node& slice = target.one("slice");
    refuse_slices(slice);
    Value at = value(slice);
    std::vector<ExprP> indices = index_list(at, slice);
    for (ExprP& i : indices)
        if (i->op == Op::load || !repeatable(*i) || ir::may_fault(*i)) i = spill(i);
    const Element e = element(base, indices, target.place);
    Value old = scalar_value(load(e, target.place));
    const std::size_t mark = out->size();
    const ExprP right = number(rhs);
    settle({&old}, mark);
    store(e, arithmetic(op, old.expr, right, place), place);
}

}  // namespace xcuda::frontend
