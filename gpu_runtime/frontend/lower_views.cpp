// Views of arrays: rows, slices, new axes, transposes. A view is its array's variable with the numbers that say where it
// lies; an access through it is an access of the array, tested against the view's own lengths.
#include <fmt/format.h>

#include "frontend/lowering.hpp"

namespace xcuda::frontend {

using ir::ExprP;
using ir::Op;

namespace {

const ir::Type weak_int = ir::scalar(DType::i64, true);

ExprP choose_if(const ExprP& test, const ExprP& yes, const ExprP& no) {
    if (is_constant(*test)) return truthy(ir::number_of(*test)) ? yes : no;
    if (ir::same(*yes, *no)) return yes;
    return ir::make(Op::select, weak_int, {test, yes, no}, yes->place);
}

}  // namespace

// An array seen as a view of itself.
Value Lowering::view_of(const Value& array) const {
    if (array.kind == Value::Kind::view) return array;
    Value v = array;
    v.kind = Value::Kind::view;
    v.indices.assign(static_cast<std::size_t>(array.expr->type.ndim), nullptr);
    for (int axis = 0; axis < array.expr->type.ndim; ++axis) v.axes.push_back({axis, nullptr, nullptr, 1});
    return v;
}

std::size_t Lowering::rank(const Value& array) {
    return array.kind == Value::Kind::view ? array.axes.size()
                                           : static_cast<std::size_t>(array.expr->type.ndim);
}

ExprP Lowering::length(const Value& array, std::size_t axis, const Place& place) const {
    int base = static_cast<int>(axis);
    if (array.kind == Value::Kind::view) {
        if (array.axes[axis].length) return array.axes[axis].length;
        base = array.axes[axis].base;
        if (base < 0) return ir::int_constant(1, place);
    }
    const std::vector<std::int64_t>& extents = array.expr->type.extents;
    if (array.kind == Value::Kind::view && !extents.empty())
        return ir::int_constant(extents[static_cast<std::size_t>(base)], place);
    return ir::dim(array.expr, base, place);
}

// Every number a view is made of, in one order.
std::vector<ExprP*> view_parts(Value& view) {
    std::vector<ExprP*> parts;
    for (ExprP& index : view.indices)
        if (index) parts.push_back(&index);
    for (ViewAxis& axis : view.axes) {
        if (axis.start) parts.push_back(&axis.start);
        if (axis.length) parts.push_back(&axis.length);
    }
    return parts;
}

Value Lowering::slice(const Node& node) {
    Value v;
    v.kind = Value::Kind::slice;
    std::vector<const Node*> given;
    for (const char* part : {"lower", "upper", "step"})
        if (const Node* n = node.maybe(part)) given.push_back(n);
    std::vector<Value> values = operands(given);
    std::size_t taken = 0;
    for (const char* part : {"lower", "upper", "step"})
        v.items.push_back(node.maybe(part) ? values[taken++] : Value{});
    return v;
}

// A slice of n elements, as slice.indices(n) has it: where it starts, how many it takes and the step between them.
ViewAxis Lowering::slice_run(const Value& slice, const ExprP& n, const Place& place) {
    const auto minus = [&](const ExprP& a, const ExprP& b) { return arithmetic(Op::sub, a, b, place); };
    const auto constant = [&](std::int64_t value) { return ir::int_constant(value, place); };
    const auto least = [&](const ExprP& a, const ExprP& b) {
        return choose_if(comparison(Op::lt, a, b, place), a, b);
    };
    const auto most = [&](const ExprP& a, const ExprP& b) {
        return choose_if(comparison(Op::lt, a, b, place), b, a);
    };
    std::int64_t step = 1;
    if (slice.items[2].kind != Value::Kind::none) {
        const auto known = constant_int(slice.items[2]);
        if (!known)
            throw NeedsConstant(refused(
                slice.items[2].place.known() ? slice.items[2].place : place,
                "the step of a slice must be known when the kernel is compiled, found " +
                    (slice.items[2].is_scalar() ? std::string("a value of run time") : spoken(slice.items[2])),
                "write a number, or index with a[start + k * step]"));
        if (*known == 0)
            throw Error(Fault::user, "ValueError", "slice step cannot be zero", place, "write 1 or -1");
        step = *known;
    }
    // One end: counted from the end where negative, then kept inside.
    const auto end = [&](const Value& given, const ExprP& otherwise) {
        if (given.kind == Value::Kind::none) return otherwise;
        const Place& here = given.place.known() ? given.place : place;
        ExprP e = convert(index(number(given, here), here), weak_int);
        if (e->type.is_none()) return e;
        if (!repeatable(*e) || ir::may_fault(*e) || e->op == Op::load) e = spill(e);
        bool below = !nonnegative(*e);
        if (is_constant(*e)) {
            if (below) e = arithmetic(Op::add, n, e, place);
        } else if (below) {
            e = choose_if(comparison(Op::lt, e, constant(0), place), arithmetic(Op::add, e, n, place), e);
        }
        if (below) e = most(e, constant(step > 0 ? 0 : -1));
        return least(e, step > 0 ? n : minus(n, constant(1)));
    };
    const bool up = step > 0;
    ViewAxis run;
    run.step = step;
    run.start = end(slice.items[0], up ? constant(0) : minus(n, constant(1)));
    const ExprP stop = end(slice.items[1], up ? n : constant(-1));
    if (run.start->type.is_none() || stop->type.is_none()) return run;
    const bool from_first = up ? is_constant(*run.start) && !truthy(ir::number_of(*run.start))
                               : slice.items[0].kind == Value::Kind::none;
    const bool whole = from_first && slice.items[1].kind == Value::Kind::none;
    if (!whole && !repeatable(*run.start)) run.start = spill(run.start);
    ExprP span = whole ? n : up ? minus(stop, run.start) : minus(run.start, stop);
    if (!whole && !(up && from_first && nonnegative(*stop))) span = most(span, constant(0));
    const std::int64_t size = up ? step : -step;
    if (size > 1)
        span = arithmetic(Op::floordiv, arithmetic(Op::add, span, constant(size - 1), place), constant(size),
                          place);
    run.length = span;
    return run;
}

namespace {

// `...` and axes that the user left out: whole slices.
std::vector<Value> spread(const std::vector<Value>& items, std::size_t rank, const std::string& name,
                          const Place& place) {
    std::size_t taken = 0, dots = 0;
    for (const Value& item : items) {
        taken += item.kind != Value::Kind::none && item.kind != Value::Kind::ellipsis;
        dots += item.kind == Value::Kind::ellipsis;
    }
    if (dots > 1) throw refused(place, "an index can only have a single ellipsis ('...')");
    if (taken > rank)
        throw refused(place, fmt::format("'{}' has {} dimension{}, found {} ind{}", name, rank,
                                         rank == 1 ? "" : "s", taken, taken == 1 ? "ex" : "ices"));
    Value whole;
    whole.kind = Value::Kind::slice;
    whole.items.resize(3);
    std::vector<Value> all;
    for (const Value& item : items) {
        if (item.kind == Value::Kind::ellipsis)
            all.insert(all.end(), rank - taken, whole);
        else
            all.push_back(item);
    }
    if (dots == 0) all.insert(all.end(), rank - taken, whole);
    return all;
}

}  // namespace

// base[items]: numbers fix an axis, slices keep one, None makes one.
Value Lowering::sliced(const Value& base, const std::vector<Value>& items, const Place& place) {
    const Value old = view_of(base);
    Value v = old;
    v.axes.clear();
    std::size_t at = 0;
    for (const Value& item : spread(items, old.axes.size(), fn.vars[ir::var_of(*base.expr)].name, place)) {
        if (item.kind == Value::Kind::none) {
            v.axes.push_back({-1, nullptr, nullptr, 1});
            continue;
        }
        const ViewAxis axis = old.axes[at];
        const ExprP n = length(old, at, place);
        ++at;
        if (item.kind != Value::Kind::slice) {
            const Place& here = item.place.known() ? item.place : place;
            fix_axis(v, axis, index(number(item, here), here), n, static_cast<int>(at) - 1, here);
            continue;
        }
        const bool whole = item.items[0].kind == Value::Kind::none &&
                           item.items[1].kind == Value::Kind::none && item.items[2].kind == Value::Kind::none;
        if (whole) {
            v.axes.push_back(axis);
            continue;
        }
        ViewAxis run = slice_run(item, n, place);
        run.base = axis.base;
        if (axis.start && !run.start->type.is_none()) {
            run.start =
                arithmetic(Op::add, axis.start,
                           arithmetic(Op::mul, run.start, ir::int_constant(axis.step, place), place), place);
            run.step *= axis.step;
        }
        v.axes.push_back(run);
    }
    return v;
}

// Puts an index of a view's axis into the array's own index.
void Lowering::fix_axis(Value& view, const ViewAxis& axis, ExprP at, const ExprP& n, int number_of_axis,
                        const Place& place) {
    if (axis.base >= 0 && !axis.start) {
        view.indices[static_cast<std::size_t>(axis.base)] = std::move(at);
        return;
    }
    const ExprP inside =
        within("a view of " + fn.vars[ir::var_of(*view.expr)].name, std::move(at), n, number_of_axis, place);
    if (axis.base < 0) {  // of length 1: only the test counts
        if (!is_constant(*inside)) spill(inside);
        return;
    }
    view.tested |= 1u << axis.base;
    if (inside->type.is_none() || axis.start->type.is_none()) {
        view.indices[static_cast<std::size_t>(axis.base)] = inside;
        return;
    }
    const ExprP moved = arithmetic(Op::mul, inside, ir::int_constant(axis.step, place), place);
    const bool from_zero = is_constant(*axis.start) && !truthy(ir::number_of(*axis.start));
    view.indices[static_cast<std::size_t>(axis.base)] = from_zero ? moved
                                                        : axis.step == -1
                                                            ? arithmetic(Op::sub, axis.start, inside, place)
                                                            : arithmetic(Op::add, axis.start, moved, place);
}

// An index that must lie in [-n, n).
ExprP Lowering::within(const std::string& subject, ExprP at, const ExprP& n, int axis, const Place& place) {
    if (at->type.is_none() || n->type.is_none()) return at;
    if (is_constant(*at) && is_constant(*n)) {
        const auto i = static_cast<std::int64_t>(as_double(ir::number_of(*at)));
        const auto count = static_cast<std::int64_t>(as_double(ir::number_of(*n)));
        if (i >= -count && i < count) return ir::int_constant(i < 0 ? i + count : i, place);
    }
    ir::Access access;
    const auto bit = static_cast<std::uint8_t>(1u << axis);
    const bool from_u64 = at->op == Op::cast && at->args[0]->type.dtype == DType::u64;
    if (!nonnegative(*at) && !from_u64) access.wrap = bit;
    if (unit.checked) access.checked = bit;
    access.site = unit.site({ir::Site::Kind::index, place, subject, "", 0, -1, {}});
    ir::Expr node = *ir::make(Op::bound, weak_int, {std::move(at), n}, place);
    node.payload = access;
    return std::make_shared<const ir::Expr>(std::move(node));
}

// view[...] = number.
void Lowering::fill(const Value& view, const Value& v, const Place& place) {
    if (!v.is_scalar())
        throw refused(place, fmt::format("only a number can be assigned to a slice, found {}", spoken(v)),
                      "write a for loop over its elements");
    const ExprP value = v.expr->op == Op::var || is_constant(*v.expr) ? v.expr : spill(v.expr);
    Value kept = view;
    for (ExprP* part : view_parts(kept))
        if (!repeatable(**part) || ir::may_fault(**part)) *part = spill(*part);
    const std::function<void(std::vector<ExprP>)> level = [&](std::vector<ExprP> indices) {
        if (indices.size() == rank(kept))
            return store(element(kept, std::move(indices), place), value, place);
        const ExprP n = length(kept, indices.size(), place);
        if (n->type.is_none()) return;
        const ir::VarId i = hidden(weak_int, place);
        nonnegative_vars.resize(static_cast<std::size_t>(i) + 1, false);
        nonnegative_vars[static_cast<std::size_t>(i)] = true;
        ir::Body body, *outside = out;
        out = &body;
        indices.push_back(ir::var(i, weak_int, place));
        level(std::move(indices));
        out = outside;
        emit(ir::loop_range(i, ir::int_constant(0, place), n, ir::int_constant(1, place), std::move(body),
                            place));
    };
    level({});
}

}  // namespace xcuda::frontend
