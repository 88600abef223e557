// Slices assigned: a number, a tuple or an array goes into a view, element by element, as NumPy broadcasts and overlaps.
#include <fmt/format.h>

#include "frontend/lowering.hpp"

namespace xcuda::frontend {

using ir::ExprP;
using ir::Op;

namespace {

const ir::Type weak_int = ir::scalar(DType::i64, true);
constexpr std::int64_t most_kept = 64;  // elements that are read before the first is written

std::optional<std::int64_t> whole(const ExprP& e) {
    if (!e || !is_constant(*e)) return std::nullopt;
    const auto* i = std::get_if<std::int64_t>(&ir::number_of(*e));
    return i ? std::optional(*i) : std::nullopt;
}

const ir::Type weak_bool = ir::scalar(DType::b1, true);

// Of tests, null for one that never holds.
ExprP either(const ExprP& a, const ExprP& b, const Place& place) {
    if (!a || !b) return a ? a : b;
    if (is_constant(*a)) return a;
    return is_constant(*b) ? b : ir::make(Op::logic_or, weak_bool, {a, b}, place);
}

// Two views whose elements of one index are one element.
bool same_place(const Value& a, const Value& b) {
    const auto same = [](const ExprP& x, const ExprP& y) { return !x == !y && (!x || ir::same(*x, *y)); };
    if (a.axes.size() != b.axes.size()) return false;
    for (std::size_t i = 0; i < a.indices.size(); ++i)
        if (!same(a.indices[i], b.indices[i])) return false;
    for (std::size_t i = 0; i < a.axes.size(); ++i) {
        const ViewAxis &x = a.axes[i], &y = b.axes[i];
        if (x.base != y.base || x.step != y.step || !same(x.start, y.start) || !same(x.by, y.by))
            return false;
    }
    return true;
}

// Which view axis an array's axis has; -1: none, it has an index; -2: several, as reshape makes them.
int axis_on(const Value& view, int base) {
    int found = -1;
    for (std::size_t i = 0; i < view.axes.size(); ++i)
        if (view.axes[i].base == base) found = found == -1 ? static_cast<int>(i) : -2;
    return found;
}

}  // namespace

// NumPy changes an array in place only where the result's kind is not above the array's.
bool fits_in_place(DType from, DType into) {
    const auto rank = [](DType d) {
        switch (info(d).kind) {
            case DKind::boolean: return 0;
            case DKind::unsigned_int: return 1;
            case DKind::signed_int: return 2;
            case DKind::floating: return 3;
            case DKind::complex: return 4;
            case DKind::datetime:
            case DKind::timedelta: return 5;  // whether it can become one is for convert() to say
        }
        return 5;
    };
    return rank(from) <= rank(into);
}

// A view whose numbers may be read again and again.
Value Lowering::settled_view(const Value& v) {
    Value kept = view_of(v);
    for (ExprP* part : view_parts(kept))
        if (!(*part)->type.is_none() &&
            (!repeatable(**part) || ir::may_fault(**part) || (*part)->op == Op::load))
            *part = spill(*part);
    return kept;
}

void Lowering::stop_unless(const ExprP& test, const std::string& exception, const std::string& message,
                           const Place& place) {
    if (test->type.is_none()) return;
    if (is_constant(*test)) {
        if (truthy(ir::number_of(*test))) return;
        throw Error(Fault::user, exception, message, place);
    }
    if (!unit.checked) return;
    ir::Body body, *outside = out;
    out = &body;
    fault({ir::Site::Kind::raised, place, exception, message, 0, -1, {}});
    out = outside;
    emit(ir::branch(negate(Op::logic_not, test, place), std::move(body), {}, place));
}

void Lowering::put(const Value& target, std::vector<ExprP> indices, ExprP value, const Place& place,
                   std::optional<Op> op) {
    const Element e = element(target, std::move(indices), place);
    if (!op) return store(e, std::move(value), place);
    const ExprP result = arithmetic(*op, load(e, place), std::move(value), place);
    const DType into = target.expr->type.dtype;
    if (!result->type.is_none() && !fits_in_place(result->type.dtype, into))
        throw refused(place,
                      fmt::format("the result is {}, which NumPy does not put into {} elements in place",
                                  info(result->type.dtype).name, info(into).name),
                      "convert it, as np." + std::string(info(into).name) + "(x)");
    store(e, result, place);
}

// view[...] = v, or view[...] op= v.
void Lowering::fill(const Value& target, const Value& v, const Place& place, std::optional<Op> op) {
    const Value kept = settled_view(target);
    if (v.is_tuple()) return fill_from_tuple(kept, v, place, op);
    if (v.is_indexed()) return fill_from_array(kept, settled_view(v), place, op);
    if (v.kind == Value::Kind::expression) return fill_from_array(kept, v, place, op);
    if (!v.is_scalar())
        throw refused(place,
                      fmt::format("only numbers and arrays can be assigned to a slice, found {}", spoken(v)),
                      "write a for loop over its elements");
    const ExprP value = v.expr->op == Op::var || is_constant(*v.expr) ? v.expr : spill(v.expr);
    each_element(kept, {}, place,
                 [&](const std::vector<ExprP>& indices) { put(kept, indices, value, place, op); });
}

void Lowering::fill_from_tuple(const Value& target, const Value& v, const Place& place,
                               std::optional<Op> op) {
    if (rank(target) != 1)
        throw refused(place,
                      fmt::format("a tuple can be assigned to a part of one axis, found {}", rank(target)),
                      "assign row by row");
    const ExprP n = length(target, 0, place);
    if (n->type.is_none()) return;
    std::vector<ExprP> numbers;  // all are read before the first is written
    for (const Value& item : v.items) numbers.push_back(spill(number(item, place)));
    stop_unless(
        comparison(Op::eq, n, ir::int_constant(static_cast<std::int64_t>(numbers.size()), place), place),
        "ValueError",
        fmt::format("could not broadcast a tuple of {} into a slice of another length", numbers.size()),
        place);
    for (std::size_t i = 0; i < numbers.size(); ++i)
        put(target, {ir::int_constant(static_cast<std::int64_t>(i), place)}, numbers[i], place, op);
}

void Lowering::fill_from_array(const Value& target, const Value& source, const Place& place,
                               std::optional<Op> op) {
    const std::size_t wide = rank(target), narrow = rank(source);
    if (narrow > wide)
        throw refused(place,
                      fmt::format("an array of {} dimensions does not go into one of {}", narrow, wide),
                      "index its first axes");
    for (std::size_t i = 0; i < wide; ++i)
        if (length(target, i, place)->type.is_none()) return;
    for (std::size_t i = 0; i < narrow; ++i)
        if (length(source, i, place)->type.is_none()) return;
    const Overlap shared = overlap(target, source, place);
    const std::vector<ExprP> spread = spread_over(target, source, shared.any, place);
    if (!shared.ordered) return fill_known(target, source, place, op);
    each_element(target, shared.order, place, [&](const std::vector<ExprP>& indices) {
        std::vector<ExprP> from(indices.end() - static_cast<std::ptrdiff_t>(narrow), indices.end());
        for (std::size_t i = 0; i < narrow; ++i) from[i] = index_spread(spread[i], from[i], place);
        put(target, indices, element_at(source, std::move(from), place), place, op);
    });
}

// How the elements that are read lie to those that are written, where both are of one array.
Lowering::Overlap Lowering::overlap(const Value& target, const Value& source, const Place& place) {
    std::vector<ArrayExpression::Read> reads;
    if (source.is_indexed())
        reads.push_back({source, true, {}});
    else
        reads = source.expression->reads;
    Overlap found;
    found.order.resize(rank(target));
    std::vector<ExprP> earlier(rank(target));
    for (const ArrayExpression::Read& r : reads) {
        if (!may_be_one(target, r.array)) continue;
        found.any = true;
        if (!r.same_index) {
            found.ordered = false;
            continue;
        }
        for (const ExprP& equal : r.equals)  // else one element would serve for many
            stop_unless(equal, "ValueError",
                        fmt::format("a part of '{}' of another length is read while it is written",
                                    fn.vars[ir::var_of(*target.expr)].name),
                        place);
        if (same_place(target, r.array)) continue;  // element by element
        if (target.joined || r.array.joined) {
            found.ordered = false;
            continue;
        }
        const auto order = shifts(target, r.array, place);
        if (!order) {
            found.ordered = false;
            continue;
        }
        for (std::size_t axis = 0; axis < rank(target); ++axis) {
            found.order[axis] = either(found.order[axis], order->later[axis], place);
            earlier[axis] = either(earlier[axis], order->earlier[axis], place);
        }
    }
    for (std::size_t axis = 0; axis < rank(target) && found.ordered; ++axis) {
        const ExprP &back = found.order[axis], &forth = earlier[axis];
        if (!back || !forth) continue;
        if (is_constant(*back) && is_constant(*forth))
            found.ordered = false;
        else
            stop_unless(
                negate(Op::logic_not, ir::make(Op::logic_and, weak_bool, {back, forth}, place), place),
                "ValueError",
                fmt::format("parts of '{}' that are read lie before and after the part that is written",
                            fn.vars[ir::var_of(*target.expr)].name),
                place);
    }
    return found;
}

// By axis of the source: null where it has the target's length, else whether its one element serves all.
std::vector<ExprP> Lowering::spread_over(const Value& target, const Value& source, bool one_array,
                                         const Place& place) {
    std::vector<ExprP> spread;
    const std::size_t first = rank(target) - rank(source);
    const std::string name =
        source.is_indexed() ? "'" + fn.vars[ir::var_of(*source.expr)].name + "'" : "an array expression";
    for (std::size_t i = 0; i < rank(source); ++i) {
        const ExprP n = length(source, i, place), wanted = length(target, first + i, place);
        spread.push_back(nullptr);
        if (ir::same(*n, *wanted)) continue;
        const ExprP equal = comparison(Op::eq, n, wanted, place);
        const ExprP one = comparison(Op::eq, n, ir::int_constant(1, place), place);
        const bool never_one = is_constant(*one) && !truthy(ir::number_of(*one));
        const std::string message =
            fmt::format("could not broadcast {} into a slice of another shape (axis {})", name, i);
        if (one_array || never_one) {  // on itself NumPy would go through a copy
            stop_unless(equal, "ValueError", message, place);
            continue;
        }
        if (is_constant(*equal) && truthy(ir::number_of(*equal))) continue;
        spread.back() = is_constant(*one) ? one : spill(one);
        if (!is_constant(*one))
            stop_unless(ir::make(Op::logic_or, ir::scalar(DType::b1, true), {equal, spread.back()}, place),
                        "ValueError", message, place);
    }
    return spread;
}

// Two parts of one array: by axis of the target, whether it starts later than what is read, or earlier (null: never). Read
// before they are written are its elements from its end where it starts later, else from its start. Nothing where no order
// does that.
std::optional<Lowering::Shifts> Lowering::shifts(const Value& target, const Value& source,
                                                 const Place& place) {
    Shifts found{std::vector<ExprP>(rank(target)), std::vector<ExprP>(rank(target))};
    const std::size_t first = rank(target) - rank(source);
    bool ordered = true;
    for (int base = 0; base < target.expr->type.ndim; ++base) {
        const ExprP& t = target.indices[static_cast<std::size_t>(base)];
        const ExprP& s = source.indices[static_cast<std::size_t>(base)];
        const int to = axis_on(target, base), from = axis_on(source, base);
        if (to == -1 && from == -1) {
            const auto i = whole(t), k = whole(s);
            if (i && k && *i != *k && (*i < 0) == (*k < 0))
                return Shifts{std::vector<ExprP>(rank(target)), std::vector<ExprP>(rank(target))};
            continue;
        }
        if (to < 0 || from < 0 || to != from + static_cast<int>(first)) {
            ordered = false;
            continue;
        }
        const ViewAxis &a = target.axes[static_cast<std::size_t>(to)],
                       &b = source.axes[static_cast<std::size_t>(from)];
        if (a.by || b.by || a.step != b.step) {
            ordered = false;
            continue;
        }
        const ExprP zero = ir::int_constant(0, place), at = a.start ? a.start : zero,
                    with = b.start ? b.start : zero;
        if (ir::same(*at, *with)) continue;
        const auto told = [&](Op op) -> ExprP {
            const ExprP test = comparison(op, at, with, place);
            if (!is_constant(*test)) return spill(test);
            return truthy(ir::number_of(*test)) ? test : nullptr;
        };
        found.later[static_cast<std::size_t>(to)] = told(a.step > 0 ? Op::gt : Op::lt);
        found.earlier[static_cast<std::size_t>(to)] = told(a.step > 0 ? Op::lt : Op::gt);
    }
    return ordered ? std::optional(found) : std::nullopt;
}

// Few elements: all are read, then all are written.
void Lowering::fill_known(const Value& target, const Value& source, const Place& place,
                          std::optional<Op> op) {
    std::int64_t count = 1;
    std::vector<std::int64_t> lengths;
    for (std::size_t i = 0; i < rank(target); ++i) {
        lengths.push_back(whole(length(target, i, place)).value_or(most_kept + 1));
        count *= lengths.back();
        if (count > most_kept) break;
    }
    if (count > most_kept)
        throw refused(place,
                      fmt::format("both sides are parts of '{}' and may overlap: NumPy makes a copy first",
                                  fn.vars[ir::var_of(*target.expr)].name),
                      "copy one side into another array, or write the loop");
    std::vector<std::vector<ExprP>> places;
    std::vector<ExprP> values;
    for (std::int64_t k = 0; k < count; ++k) {
        std::vector<ExprP> indices(lengths.size());
        std::int64_t rest = k;
        for (std::size_t i = lengths.size(); i-- > 0; rest /= lengths[i])
            indices[i] = ir::int_constant(rest % lengths[i], place);
        std::vector<ExprP> from(indices.end() - static_cast<std::ptrdiff_t>(rank(source)), indices.end());
        values.push_back(spill(element_at(source, std::move(from), place)));
        places.push_back(std::move(indices));
    }
    for (std::size_t k = 0; k < places.size(); ++k) put(target, places[k], values[k], place, op);
}

void Lowering::each_element(const Value& target, const std::vector<ExprP>& order, const Place& place,
                            const std::function<void(const std::vector<ExprP>&)>& body) {
    each_index(lengths_of(target, place), order, place, body);
}

// Loops over all indices of a shape, the last axis innermost.
void Lowering::each_index(const std::vector<ExprP>& lengths, const std::vector<ExprP>& order,
                          const Place& place, const std::function<void(const std::vector<ExprP>&)>& body) {
    std::vector<ExprP> indices;
    const std::function<void()> level = [&] {
        const std::size_t axis = indices.size();
        if (axis == lengths.size()) return body(indices);
        const ExprP& n = lengths[axis];
        if (n->type.is_none()) return;
        const ir::VarId i = hidden(weak_int, place);
        nonnegative_vars.resize(static_cast<std::size_t>(i) + 1, false);
        nonnegative_vars[static_cast<std::size_t>(i)] = true;
        ir::Body inside, *outside = out;
        out = &inside;
        ExprP at = ir::var(i, weak_int, place);
        if (axis < order.size() && order[axis]) {
            const ExprP last = arithmetic(Op::sub, n, ir::int_constant(1, place), place);
            const ExprP mirrored = arithmetic(Op::sub, last, at, place);
            const ir::VarId k = hidden(weak_int, place);
            nonnegative_vars.resize(static_cast<std::size_t>(k) + 1, false);
            nonnegative_vars[static_cast<std::size_t>(k)] = true;
            emit(ir::assign(k,
                            is_constant(*order[axis])
                                ? mirrored
                                : ir::make(Op::select, weak_int, {order[axis], mirrored, at}, place),
                            place));
            at = ir::var(k, weak_int, place);
        }
        indices.push_back(at);
        level();
        indices.pop_back();
        out = outside;
        emit(ir::loop_range(i, ir::int_constant(0, place), n, ir::int_constant(1, place), std::move(inside),
                            place));
    };
    level();
}

}  // namespace xcuda::frontend
