#include "frontend/value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "frontend/refusals.hpp"
#include "frontend/seen.hpp"

namespace xcuda::frontend {

Value scalar_value(ir::ExprP expr) {
    Value v;
    v.kind = Value::Kind::scalar;
    v.expr = std::move(expr);
    return v;
}

Value tuple_value(std::vector<Value> items) {
    Value v;
    v.kind = Value::Kind::tuple;
    v.items = std::move(items);
    return v;
}

bool is_record_dtype(const Value& v) {
    return v.kind == Value::Kind::dtype && v.meaning && v.meaning->kind == Meaning::Kind::record_dtype;
}

std::vector<Value*> array_leaves(Value& v) {
    if (v.is_indexed()) return {&v};
    std::vector<Value*> leaves;
    if (v.kind != Value::Kind::records) return leaves;
    for (Value& item : v.items)
        for (Value* leaf : array_leaves(item)) leaves.push_back(leaf);
    return leaves;
}

std::vector<ir::ExprP*> view_parts(Value& v) {
    std::vector<ir::ExprP*> parts;
    for (Value* leaf : array_leaves(v)) {
        for (ir::ExprP& index : leaf->indices)
            if (index) parts.push_back(&index);
        for (ViewAxis& axis : leaf->axes)
            for (ir::ExprP* part : {&axis.start, &axis.length, &axis.by})
                if (*part) parts.push_back(part);
    }
    return parts;
}

ir::ExprP step_of(const ViewAxis& axis, const Place& place) {
    return axis.by ? axis.by : ir::int_constant(axis.step, place);
}

namespace {

// The numbers in them are variables, of each pass its own.
bool same_seen(const Seen& a, const Seen& b) {
    if (a.kind != b.kind || a.dtype != b.dtype || a.operands.size() != b.operands.size() ||
        a.lengths.size() != b.lengths.size() || a.fold.axis != b.fold.axis || a.fold.fold != b.fold.fold)
        return false;
    for (std::size_t i = 0; i < a.operands.size(); ++i) {
        const Value &x = a.operands[i], &y = b.operands[i];
        if (x.kind != y.kind || (x.seen && !same_seen(*x.seen, *y.seen))) return false;
    }
    return a.kind != Seen::Kind::leaf || same_fixed(a.array, b.array);
}

}  // namespace

bool same_fixed(const Value& a, const Value& b) {
    if (a.kind != b.kind) return false;
    switch (a.kind) {
        case Value::Kind::array: return ir::same(*a.expr, *b.expr) && a.viewed == b.viewed;
        case Value::Kind::view: {  // the numbers are variables
            if (!ir::same(*a.expr, *b.expr) || a.tested != b.tested || a.viewed != b.viewed ||
                a.joined != b.joined || a.axes.size() != b.axes.size())
                return false;
            for (std::size_t i = 0; i < a.indices.size(); ++i)
                if (!a.indices[i] != !b.indices[i]) return false;
            for (std::size_t i = 0; i < a.axes.size(); ++i)
                if (a.axes[i].base != b.axes[i].base || !a.axes[i].by != !b.axes[i].by ||
                    a.axes[i].step != b.axes[i].step || !a.axes[i].start != !b.axes[i].start)
                    return false;
            return true;
        }
        case Value::Kind::records: {
            if (a.ndim != b.ndim || a.meaning->text != b.meaning->text || a.items.size() != b.items.size())
                return false;
            for (std::size_t i = 0; i < a.items.size(); ++i)
                if (!same_fixed(a.items[i], b.items[i])) return false;
            return true;
        }
        case Value::Kind::closure: return a.node == b.node;
        case Value::Kind::seen: return same_seen(*a.seen, *b.seen);
        case Value::Kind::none:
        case Value::Kind::ellipsis: return true;
        case Value::Kind::string: return a.text == b.text;
        case Value::Kind::dtype:
            return is_record_dtype(a) == is_record_dtype(b) &&
                   (is_record_dtype(a) ? a.meaning->text == b.meaning->text : a.dtype == b.dtype);
        case Value::Kind::meaning:
            return a.meaning->kind == b.meaning->kind && a.meaning->text == b.meaning->text &&
                   a.meaning->helper == b.meaning->helper;
        default: return false;
    }
}

bool alike(const Value& a, const Value& b) {
    if (!a.is_indexed() || !b.is_indexed()) return false;
    if (a.expr->type.dtype != b.expr->type.dtype || a.expr->type.ndim != b.expr->type.ndim) return false;
    Value other = b;
    other.expr = a.expr;
    return same_fixed(a, other);
}

bool Slot::operator==(const Slot& other) const {
    const bool constants = constant && other.constant ? ir::same_number(*constant, *other.constant)
                                                      : !constant == !other.constant;
    return kind == other.kind && type == other.type && arity == other.arity &&
           nonnegative == other.nonnegative && one_coord == other.one_coord && coord == other.coord &&
           one_constant == other.one_constant && constants &&
           (kind != Kind::fixed || same_fixed(fixed, other.fixed));
}

Flow meet(const Flow& a, const Flow& b) {
    if (!a.live) return b;
    if (!b.live) return a;
    Flow f;
    std::set_intersection(a.bound.begin(), a.bound.end(), b.bound.begin(), b.bound.end(),
                          std::inserter(f.bound, f.bound.end()));
    f.fixed = a.fixed;
    f.torn = a.torn;
    f.torn.insert(b.torn.begin(), b.torn.end());
    f.unlike = a.unlike;
    f.unlike.insert(b.unlike.begin(), b.unlike.end());
    for (const auto& [name, value] : b.fixed) {
        const auto [known, fresh] = f.fixed.emplace(name, value);
        if (fresh || same_fixed(known->second, value)) continue;
        const auto& [first, second] = std::minmax(
            known->second, value, [](const Value& x, const Value& y) { return x.place.line < y.place.line; });
        if (!alike(first, second)) f.unlike.insert(name);
        f.torn[name] = fmt::format("{} in line {} or {} in line {}", spoken(first), first.place.line,
                                   spoken(second), second.place.line);
    }
    f.mixed = a.mixed;
    f.mixed.insert(b.mixed.begin(), b.mixed.end());
    for (const auto& [one, other] : {std::pair{&a, &b}, std::pair{&b, &a}})
        for (const auto& [name, path] : one->shapes) {
            const auto there = other->shapes.find(name);
            if (there == other->shapes.end() ? other->bound.count(name) > 0 : there->second != path)
                f.mixed.insert(name);
            else
                f.shapes.emplace(name, path);
        }
    return f;
}

}  // namespace xcuda::frontend
