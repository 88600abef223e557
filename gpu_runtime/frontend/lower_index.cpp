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
    if (const auto* u = std::get_if<std::uint64_t>(&n); u && *u <= INT64_MAX)
        return static_cast<std::int64_t>(*u);
    return std::nullopt;
}

ExprP Lowering::index(ExprP value, const Place& place) {
    if (value->type.is_none()) return value;
    if (!is_integer(value->type.dtype))
        throw refused(place, "index must be an integer, found " + spoken(value->type),
                      value->type.dtype == DType::b1 ? "write an if, or int(...)" : whole_number);
    const ir::Type wanted = ir::scalar(DType::i64, value->type.weak);  // before `value` moves away
    if (value->type.dtype == DType::u64) {  // 2**64 - 1 is no -1: it lies behind every end
        const ExprP most = ir::constant(std::uint64_t{INT64_MAX}, value->type, place);
        if (is_constant(*value)) return convert(constant_int(scalar_value(value)) ? value : most, wanted);
        value = table_apply(*find_function("builtins.min"), "builtins.min", {std::move(value), most}, place);
    }
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

// What stands between the brackets, each with its place.
std::vector<Value> Lowering::index_items(const Value& at, const Node& slice) {
    if (!at.is_tuple()) {
        std::vector<Value> one = {at};
        one[0].place = slice.place;
        return one;
    }
    std::vector<Value> items = at.items;
    for (std::size_t i = 0; i < items.size(); ++i)
        items[i].place = slice.kind == "Tuple" ? slice.list("elts")[i]->place : slice.place;
    return items;
}

namespace {

bool all_numbers(const std::vector<Value>& items) {
    return std::none_of(items.begin(), items.end(), [](const Value& v) {
        return v.kind == Value::Kind::slice || v.kind == Value::Kind::ellipsis || v.kind == Value::Kind::none;
    });
}

}  // namespace

Value Lowering::element_or_row(const Value& base, const Node& node) {
    const Node& slice = node.one("slice");
    Value b = base;
    const std::size_t mark = out->size();
    const Value at = value(slice);
    settle({&b}, mark);
    const std::vector<Value> items = index_items(at, slice);
    if (all_numbers(items) && items.size() >= rank(b))
        return scalar_value(load(element(b, index_list(at, slice), node.place), node.place));
    return sliced(b, items, node.place);
}

Lowering::Element Lowering::element(const Value& base, std::vector<ExprP> indices, const Place& place) {
    const ir::Type& type = base.expr->type;
    const ir::VarId id = ir::var_of(*base.expr);
    const std::string& name = fn.vars[id].name;
    const std::size_t wanted = rank(base), found = indices.size();
    if (found != wanted) {
        const bool row = base.kind == Value::Kind::view && base.axes.size() < base.indices.size();
        const std::string what = (row ? "this view of '" : "'") + name + "'";
        throw refused(place,
                      fmt::format("{} has {} dimension{}, found {} ind{}", what, wanted,
                                  wanted == 1 ? "" : "s", found, found == 1 ? "ex" : "ices"),
                      found < wanted ? "index every axis" : "");
    }
    Element e;
    e.array = base.expr;
    if (base.kind == Value::Kind::view) {
        Value v = base;
        for (std::size_t i = 0; i < found; ++i)
            fix_axis(v, base.axes[i], indices[i], length(base, i, place), static_cast<int>(i), place);
        e.indices = v.indices;
        e.tested = v.tested;
        e.access.joined = v.joined;
    } else {
        e.indices = std::move(indices);
    }
    for (int axis = 0; axis < type.ndim; ++axis) {
        if (e.tested >> axis & 1) continue;
        const ExprP& at = e.indices[axis];
        // A uint64 above int64's range turns negative: it must fail the test, not count from the end.
        const bool from_u64 = at->op == Op::cast && at->args[0]->type.dtype == DType::u64;
        if (!nonnegative(*at) && !from_u64) e.access.wrap |= 1u << axis;
        if (unit.checked) e.access.checked |= 1u << axis;
    }
    e.access.site = unit.site({ir::Site::Kind::index, place, name, "", type.ndim,
                               roots.count(id) ? roots.at(id) : -1, type.extents});
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
        throw refused(place,
                      fmt::format("'{}' is read-only: its elements can't be assigned",
                                  fn.vars[ir::var_of(*e.array)].name),
                      "pass a writable array, as A.copy()");
    emit(ir::store(e.array, e.indices, convert(std::move(value), ir::scalar(type.dtype)), e.access, place));
}

void Lowering::store_subscript(const Node& target, const Value& v) {
    Value kept = v;
    const std::size_t mark = out->size();
    const Value base = value(target.one("value"));
    if (base.kind == Value::Kind::records) {
        const Value record = place_of(base, target);
        settle({&kept}, mark);
        return assign_place(record, kept, target.place);
    }
    if (!base.is_indexed()) {
        if (base.is_tuple())
            throw refused(target.place, "a tuple's items can't be assigned", "make a new tuple");
        if (base.kind == Value::Kind::meaning)
            refuse_meaning(*base.meaning, base.text, target.one("value").place);
        if (base.kind != Value::Kind::expression || !base.expression->alias)
            throw refused(target.place, spoken(base) + " can't be indexed");
        const Value at = value(target.one("slice"));
        settle({&kept}, mark);
        std::vector<ExprP> indices = viewed_indices(base, at, target);
        return store_viewed(base, std::move(indices),
                            number(kept, kept.place.known() ? kept.place : target.place), target.place);
    }
    const Node& slice = target.one("slice");
    const Value at = value(slice);
    settle({&kept}, mark);
    const Place value_place = kept.place.known() ? kept.place : target.place;
    const std::vector<Value> items = index_items(at, slice);
    if (!all_numbers(items) || items.size() < rank(base))
        return fill(sliced(base, items, target.place), kept, target.place);
    const Element e = element(base, index_list(at, slice), target.place);
    store(e, number(kept, value_place), target.place);
}

/// The indices of one element of a view as another dtype: its parts are not assigned.
std::vector<ExprP> Lowering::viewed_indices(const Value& base, const Value& at, const Node& target) {
    const Node& slice = target.one("slice");
    const std::vector<Value> items = index_items(at, slice);
    if (!all_numbers(items) || items.size() < rank(base))
        throw refused(target.place, "a part of a view as another dtype can't be assigned at once",
                      "write a for loop over its elements");
    return index_list(at, slice);
}

void Lowering::augment_subscript(const Node& target, Op op, const Node& rhs, const Place& place) {
    Value base = value(target.one("value"));
    if (base.kind == Value::Kind::records) return augment_place(place_of(base, target), op, rhs, place);
    if (base.kind == Value::Kind::expression && base.expression->alias) {
        std::vector<ExprP> indices = viewed_indices(base, value(target.one("slice")), target);
        for (ExprP& i : indices)
            if (!i->type.is_none()) i = spill(i);
        Value old = scalar_value(element_at(base, indices, target.place));
        const std::size_t mark = out->size();
        const ExprP right = number(rhs);
        settle({&old}, mark);
        return store_viewed(base, std::move(indices), arithmetic(op, old.expr, right, place), place);
    }
    if (!base.is_indexed()) throw refused(target.place, spoken(base) + " can't be assigned by index");
    const auto settled = [&](ExprP& i) {
        if (!i->type.is_none() && (i->op == Op::load || !repeatable(*i) || ir::may_fault(*i))) i = spill(i);
    };
    for (ExprP* part : view_parts(base)) settled(*part);
    const Node& slice = target.one("slice");
    Value at = value(slice);
    const std::vector<Value> items = index_items(at, slice);
    if (!all_numbers(items) || items.size() < rank(base)) {
        const Value part = settled_view(sliced(base, items, target.place));
        return fill(part, value(rhs), place, op);
    }
    std::vector<ExprP> indices = index_list(at, slice);
    for (ExprP& i : indices) settled(i);
    const Element e = element(base, indices, target.place);
    Value old = scalar_value(load(e, target.place));
    const std::size_t mark = out->size();
    const ExprP right = number(rhs);
    settle({&old}, mark);
    store(e, arithmetic(op, old.expr, right, place), place);
}

}  // namespace xcuda::frontend
