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
    for (int axis = 0; axis < array.expr->type.ndim; ++axis)
        v.axes.push_back({axis, nullptr, nullptr, 1, nullptr});
    return v;
}

std::size_t Lowering::rank(const Value& array) {
    if (array.kind == Value::Kind::records) return array.ndim;
    if (array.kind == Value::Kind::expression) return array.expression->lengths.size();
    return array.kind == Value::Kind::view ? array.axes.size()
                                           : static_cast<std::size_t>(array.expr->type.ndim);
}

ExprP Lowering::length(const Value& array, std::size_t axis, const Place& place) const {
    if (array.kind == Value::Kind::records) return length(first_leaf(array), axis, place);
    if (array.kind == Value::Kind::expression) return array.expression->lengths[axis];
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
    return evaluated(std::move(v));
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
        if (!known) return slice_run_any(slice, n, place);
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

// The same where only the run tells the step.
ViewAxis Lowering::slice_run_any(const Value& slice, const ExprP& n, const Place& place) {
    const auto constant = [&](std::int64_t value) { return ir::int_constant(value, place); };
    const auto either = [&](const ExprP& test, const ExprP& yes, const ExprP& no) {
        return spill(choose_if(test, yes, no));
    };
    const auto taken = [&](const Value& given) {
        const Place& here = given.place.known() ? given.place : place;
        return convert(index(number(given, here), here), weak_int);
    };
    ViewAxis run;
    run.start = run.length = run.by = taken(slice.items[2]);
    if (run.by->type.is_none() || n->type.is_none()) return run;
    run.by = spill(run.by);
    const Place& step_place = slice.items[2].place.known() ? slice.items[2].place : place;
    stop_unless(comparison(Op::ne, run.by, constant(0), place), "ValueError", "slice step cannot be zero",
                step_place);
    const ExprP up = spill(comparison(Op::gt, run.by, constant(0), place));
    const ExprP last = arithmetic(Op::sub, n, constant(1), place);
    const ExprP low = either(up, constant(0), constant(-1)), high = either(up, n, last);
    const auto end = [&](const Value& given, const ExprP& otherwise) {
        if (given.kind == Value::Kind::none) return otherwise;
        ExprP e = taken(given);
        if (e->type.is_none()) return e;
        e = spill(e);
        e = either(comparison(Op::lt, e, constant(0), place), arithmetic(Op::add, e, n, place), e);
        e = either(comparison(Op::lt, e, low, place), low, e);
        return either(comparison(Op::gt, e, high, place), high, e);
    };
    run.start = end(slice.items[0], either(up, constant(0), last));
    const ExprP stop = end(slice.items[1], either(up, n, constant(-1)));
    run.length = stop;
    if (run.start->type.is_none() || stop->type.is_none()) return run;
    const ExprP span =
        either(up, arithmetic(Op::sub, stop, run.start, place), arithmetic(Op::sub, run.start, stop, place));
    const ExprP size = either(up, run.by, negate(Op::neg, run.by, place));
    // (span - 1) // size + 1: no sum runs over where the step is huge.
    const ExprP count = arithmetic(
        Op::add,
        ir::make(Op::floordiv, weak_int, {arithmetic(Op::sub, span, constant(1), place), size}, place),
        constant(1), place);
    run.length = either(comparison(Op::gt, span, constant(0), place), count, constant(0));
    if (run.length->op == Op::var) nonnegative_vars[static_cast<std::size_t>(ir::var_of(*run.length))] = true;
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
            v.axes.push_back({-1, nullptr, nullptr, 1, nullptr});
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
            run.start = arithmetic(Op::add, axis.start,
                                   arithmetic(Op::mul, run.start, step_of(axis, place), place), place);
            if (axis.by || run.by)
                run.by = arithmetic(Op::mul, step_of(axis, place), step_of(run, place), place);
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
        fix_index(view, axis.base, std::move(at));
        return;
    }
    const ExprP inside =
        within("a view of " + fn.vars[ir::var_of(*view.expr)].name, std::move(at), n, number_of_axis, place);
    if (axis.base < 0) {  // of length 1: only the test counts
        if (!is_constant(*inside)) spill(inside);
        return;
    }
    view.tested |= 1u << axis.base;
    const ExprP step = step_of(axis, place);
    for (const ExprP& e : {inside, axis.start, step})
        if (e->type.is_none()) return fix_index(view, axis.base, e);
    const ExprP moved = arithmetic(Op::mul, inside, step, place);
    const bool from_zero = is_constant(*axis.start) && !truthy(ir::number_of(*axis.start));
    fix_index(view, axis.base,
              from_zero                     ? moved
              : !axis.by && axis.step == -1 ? arithmetic(Op::sub, axis.start, inside, place)
                                            : arithmetic(Op::add, axis.start, moved, place));
}

// Axes that reshape made share one of the array: their indices add up.
void Lowering::fix_index(Value& view, int base, ExprP at) const {
    ExprP& slot = view.indices[static_cast<std::size_t>(base)];
    if (!slot || slot->type.is_none() || at->type.is_none())
        slot = std::move(at);
    else
        slot = ir::make(Op::add, weak_int, {slot, std::move(at)}, slot->place);
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

}  // namespace xcuda::frontend
