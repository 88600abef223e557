#include "passes/powers.hpp"

#include <algorithm>

#include "ir/walk.hpp"
#include "passes/build.hpp"
#include "passes/uniform.hpp"

namespace xcuda::passes {

using namespace ir;

namespace {

constexpr Whole largest = Whole(1) << 62;

bool power(Whole v) { return v > 0 && v <= largest && (v & (v - 1)) == 0; }

Whole constant_power(const ExprP& e) {
    const auto v = integer_of(e);
    return v && power(*v) ? *v : 0;
}

// v * 2, v << 1, v // 2, v >> 1 and the like. Where doubling leaves the type it leaves the positive numbers for good.
bool doubled_or_halved(const Expr& e, VarId v) {
    const auto is_v = [v](const ExprP& a) { return a->op == Op::var && var_of(*a) == v; };
    switch (e.op) {
        case Op::mul:
            return (is_v(e.args[0]) && constant_power(e.args[1]) > 0) ||
                   (is_v(e.args[1]) && constant_power(e.args[0]) > 0);
        case Op::floordiv: return is_v(e.args[0]) && constant_power(e.args[1]) > 0;
        case Op::shl:
        case Op::shr: return is_v(e.args[0]) && integer_of(e.args[1]).value_or(-1) >= 0;
        default: return false;
    }
}

}  // namespace

bool is_power(const Function& function, VarId v) {
    const Var& variable = function.vars[static_cast<std::size_t>(v)];
    if (variable.role == Var::Role::parameter || !is_integer(variable.type.dtype)) return false;
    int known = 0;
    each_stmt(function.body, [&](const Stmt& s) {
        if (s.kind != Stmt::Kind::assign || s.var != v) return;
        known += constant_power(s.exprs[0]) > 0 || doubled_or_halved(*s.exprs[0], v);
    });
    return known > 0 && known == assignment_counts(function, function.body)[static_cast<std::size_t>(v)];
}

Scaled scaled(const ExprP& e) {
    if (e->op == Op::var && e->type.is_scalar()) return {1, var_of(*e)};
    if (e->op != Op::mul && e->op != Op::shl) return {};
    const bool constant_first = e->op == Op::mul && integer_of(e->args[0]).has_value();
    const Scaled inner = scaled(e->args[constant_first ? 1 : 0]);
    const ExprP& by = e->args[constant_first ? 0 : 1];
    const auto shift = e->op == Op::shl ? integer_of(by) : std::nullopt;
    const Whole factor = e->op == Op::mul                      ? constant_power(by)
                         : shift && *shift >= 0 && *shift < 62 ? Whole(1) << static_cast<int>(*shift)
                                                               : 0;
    if (inner.factor == 0 || factor == 0 || !power(inner.factor * factor)) return {};
    return {inner.factor * factor, inner.of};
}

Multiple multiple(const ExprP& remainder) {
    if (remainder->op == Op::mod) return {remainder->args[0], scaled(remainder->args[1])};
    if (remainder->op != Op::bit_and) return {};
    const ExprP& mask = remainder->args[1];  // a power of two less one
    if (mask->op == Op::sub && integer_of(mask->args[1]).value_or(0) == 1)
        return {remainder->args[0], scaled(mask->args[0])};
    if (mask->op == Op::add && integer_of(mask->args[1]).value_or(0) == -1)
        return {remainder->args[0], scaled(mask->args[0])};
    return {};
}

Whole most_within(const Interval& value, const Interval& step, Whole inner, Whole outer, Whole all) {
    if (value.low < 0 || value.high >= largest || step.low < 1 || step.high >= largest) return all;
    Whole found = -1;
    for (Whole s = 1; s <= step.high; s *= 2)
        if (s >= step.low) found = std::max(found, value.high - value.high % (outer * s) + inner * s);
    return found < 0 ? all : std::min(all, found);
}

}  // namespace xcuda::passes
