#include "passes/build.hpp"

#include "ir/type.hpp"

namespace xcuda::passes {

using namespace ir;

std::optional<std::int64_t> integer_of(const ExprP& e) {
    if (e->op == Op::cast && is_integer(e->type.dtype) && e->type.lanes == 1) return integer_of(e->args[0]);
    if (e->op == Op::neg) {
        if (auto v = integer_of(e->args[0])) return -*v;
        return std::nullopt;
    }
    if (e->op != Op::constant) return std::nullopt;
    if (const auto* v = std::get_if<std::int64_t>(&number_of(*e))) return *v;
    return std::nullopt;
}

namespace {

ExprP binary(Op op, ExprP a, ExprP b) {
    return make(op, scalar(DType::i64, true), {std::move(a), std::move(b)});
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
    return a / b - ((a % b != 0) && ((a < 0) != (b < 0)));
}

const Type& boolean() {
    static const Type type = scalar(DType::b1);
    return type;
}

}  // namespace

ExprP add(ExprP a, ExprP b) {
    const auto x = integer_of(a), y = integer_of(b);
    if (x && y) return int_constant(*x + *y);
    if (x && *x == 0) return b;
    if (y && *y == 0) return a;
    if (x) return add(std::move(b), std::move(a));
    if (y && (a->op == Op::add || a->op == Op::sub)) {
        if (const auto inner = integer_of(a->args[1]))
            return add(a->args[0], int_constant(*y + (a->op == Op::add ? *inner : -*inner)));
    }
    if (y && *y < 0) return binary(Op::sub, std::move(a), int_constant(-*y));
    return binary(Op::add, std::move(a), std::move(b));
}

ExprP sub(ExprP a, ExprP b) {
    const auto x = integer_of(a), y = integer_of(b);
    if (y) return add(std::move(a), int_constant(-*y));
    if (x && *x == 0) return make(Op::neg, scalar(DType::i64, true), {std::move(b)});
    if (same(*a, *b)) return int_constant(0);
    return binary(Op::sub, std::move(a), std::move(b));
}

ExprP mul(ExprP a, ExprP b) {
    const auto x = integer_of(a), y = integer_of(b);
    if (x && y) return int_constant(*x * *y);
    if ((x && *x == 0) || (y && *y == 0)) return int_constant(0);
    if (x && *x == 1) return b;
    if (y && *y == 1) return a;
    return binary(Op::mul, std::move(a), std::move(b));
}

ExprP div_floor(ExprP a, ExprP b) {
    const auto x = integer_of(a), y = integer_of(b);
    if (x && y) return int_constant(floor_div(*x, *y));
    if (y && *y == 1) return a;
    return binary(Op::floordiv, std::move(a), std::move(b));
}

ExprP mod_floor(ExprP a, ExprP b) {
    const auto x = integer_of(a), y = integer_of(b);
    if (x && y) return int_constant(*x - floor_div(*x, *y) * *y);
    if (y && *y == 1) return int_constant(0);
    return binary(Op::mod, std::move(a), std::move(b));
}

ExprP ceil_div(ExprP a, ExprP b) { return div_floor(add(std::move(a), sub(b, int_constant(1))), b); }

ExprP minimum(ExprP a, ExprP b) {
    const auto x = integer_of(a), y = integer_of(b);
    if (x && y) return int_constant(std::min(*x, *y));
    if (same(*a, *b)) return a;
    ExprP condition = compare(Op::lt, a, b);
    return make(Op::select, scalar(DType::i64, true), {std::move(condition), std::move(a), std::move(b)});
}

ExprP maximum(ExprP a, ExprP b) {
    const auto x = integer_of(a), y = integer_of(b);
    if (x && y) return int_constant(std::max(*x, *y));
    if (same(*a, *b)) return a;
    ExprP condition = compare(Op::gt, a, b);
    return make(Op::select, scalar(DType::i64, true), {std::move(condition), std::move(a), std::move(b)});
}

ExprP compare(Op op, ExprP a, ExprP b) { return make(op, boolean(), {std::move(a), std::move(b)}); }

ExprP both(ExprP a, ExprP b) {
    if (!a) return b;
    if (!b) return a;
    return make(Op::logic_and, boolean(), {std::move(a), std::move(b)});
}

ExprP either(ExprP a, ExprP b) { return make(Op::logic_or, boolean(), {std::move(a), std::move(b)}); }

ExprP negate(ExprP condition) {
    static const struct {
        Op op, turned;
    } table[] = {{Op::lt, Op::ge}, {Op::ge, Op::lt}, {Op::gt, Op::le},
                 {Op::le, Op::gt}, {Op::eq, Op::ne}, {Op::ne, Op::eq}};
    if (condition->op == Op::logic_not) return condition->args[0];
    if (condition->op == Op::logic_or && condition->type.lanes == 1)
        return both(negate(condition->args[0]), negate(condition->args[1]));
    for (const auto& row : table)  // not of floats: a NaN is neither
        if (condition->op == row.op && !is_floating(condition->args[0]->type.dtype))
            return make(row.turned, condition->type, condition->args, condition->place);
    Type type = condition->type;
    return make(Op::logic_not, type, {std::move(condition)});
}

}  // namespace xcuda::passes
