#include "passes/linear.hpp"

#include "passes/build.hpp"

namespace xcuda::passes {

using namespace ir;

namespace {

ExprP zero() { return int_constant(0); }

ExprP plus(const ExprP& a, const ExprP& b) {
    if (!a) return b;
    if (!b) return a;
    ExprP sum = add(a, b);
    const auto value = integer_of(sum);
    return value && *value == 0 ? nullptr : sum;
}

ExprP times(const ExprP& a, const ExprP& factor) { return a ? mul(a, factor) : nullptr; }

Linear sum_of(const Linear& a, const Linear& b) {
    Linear r{add(a.base, b.base), {}, a.loops};
    for (int axis = 0; axis < 3; ++axis)
        r.coefficients[axis] = plus(a.coefficients[axis], b.coefficients[axis]);
    for (const auto& [v, c] : b.loops) {
        ExprP sum = plus(r.loops.contains(v) ? r.loops[v] : nullptr, c);
        if (sum)
            r.loops[v] = sum;
        else
            r.loops.erase(v);
    }
    return r;
}

Linear scaled(const Linear& a, const ExprP& factor) {
    Linear r{mul(a.base, factor), {}, {}};
    for (int axis = 0; axis < 3; ++axis) r.coefficients[axis] = times(a.coefficients[axis], factor);
    for (const auto& [v, c] : a.loops) r.loops[v] = mul(c, factor);
    return r;
}

// A value that all threads of the body share and that stays the same while it runs.
bool fixed(const Expr& e, const LinearScope& scope) {
    switch (e.op) {
        case Op::coord:
            if (scope.threads_fixed) return true;
            if (coord_of(e).kind == Coord::Kind::thread || coord_of(e).kind == Coord::Kind::global)
                return false;
            break;
        case Op::var:
            if (e.type.is_array()) return true;
            if (scope.assigned[static_cast<std::size_t>(var_of(e))]) return false;
            break;
        case Op::load:
        case Op::atomic:
        case Op::print:
        case Op::invoke: return false;
        case Op::call:
            if (effect_of(e) != Effect::none) return false;
            break;
        default: break;
    }
    for (const ExprP& a : e.args)
        if (!fixed(*a, scope)) return false;
    return !may_fault(e);
}

bool wide_integer(const Type& t) { return t.dtype == DType::i64 || t.dtype == DType::u64; }

}  // namespace

std::optional<Linear> linear(const ExprP& e, const LinearScope& scope) {
    if (!is_integer(e->type.dtype)) return std::nullopt;
    if (fixed(*e, scope)) return Linear{e, {}, {}};
    switch (e->op) {
        case Op::coord: {
            Linear r{zero(), {}, {}};
            r.coefficients[coord_of(*e).axis] = int_constant(1);
            return r;
        }
        case Op::var: {
            if (!scope.loops || !scope.loops->contains(var_of(*e))) return std::nullopt;
            Linear r{zero(), {}, {}};
            r.loops[var_of(*e)] = int_constant(1);
            return r;
        }
        case Op::cast:
            if (!wide_integer(e->type) || e->args[0]->type.dtype == DType::u64) return std::nullopt;
            return linear(e->args[0], scope);
        case Op::bound: return scope.bounds_tested ? linear(e->args[0], scope) : std::nullopt;
        case Op::neg: {
            const auto a = linear(e->args[0], scope);
            if (!a || !wide_integer(e->type)) return std::nullopt;
            return scaled(*a, int_constant(-1));
        }
        case Op::add:
        case Op::sub:
        case Op::mul: {
            if (!wide_integer(e->type)) return std::nullopt;  // a narrow type may wrap
            const auto a = linear(e->args[0], scope), b = linear(e->args[1], scope);
            if (!a || !b) return std::nullopt;
            if (e->op == Op::add) return sum_of(*a, *b);
            if (e->op == Op::sub) return sum_of(*a, scaled(*b, int_constant(-1)));
            if (b->uniform()) return scaled(*a, b->base);
            if (a->uniform()) return scaled(*b, a->base);
            return std::nullopt;
        }
        default: return std::nullopt;
    }
}

namespace {

void widen(Range& r, const ExprP& factor, const ExprP& least, const ExprP& greatest) {
    ExprP a = mul(factor, least), b = mul(factor, greatest);
    if (const auto c = integer_of(factor)) {
        if (*c < 0) std::swap(a, b);
        r = {add(r.least, a), add(r.greatest, b)};
    } else {
        r = {add(r.least, minimum(a, b)), add(r.greatest, maximum(a, b))};
    }
}

std::optional<Range> range_of_loop(VarId v, const Box& box, const LinearScope& scope) {
    const LoopRange& loop = scope.loops->at(v);
    const auto step = integer_of(loop.step);
    if (!step || *step == 0) return std::nullopt;
    const auto start = linear(loop.start, scope), stop = linear(loop.stop, scope);
    if (!start || !stop) return std::nullopt;
    const auto from = range_over(*start, box, scope), to = range_over(*stop, box, scope);
    if (!from || !to) return std::nullopt;
    if (*step > 0) return Range{from->least, sub(to->greatest, int_constant(1))};
    return Range{add(to->least, int_constant(1)), from->greatest};
}

}  // namespace

std::optional<Range> range_over(const Linear& sum, const Box& box, const LinearScope& scope) {
    Range r{sum.base, sum.base};
    for (int axis = 0; axis < 3; ++axis)
        if (sum.coefficients[axis])
            widen(r, sum.coefficients[axis], box.low[axis], sub(box.high[axis], int_constant(1)));
    for (const auto& [v, factor] : sum.loops) {
        const auto loop = range_of_loop(v, box, scope);
        if (!loop) return std::nullopt;
        widen(r, factor, loop->least, loop->greatest);
    }
    return r;
}

}  // namespace xcuda::passes
