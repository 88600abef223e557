#include "ir/expr.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>

#include "frontend/functions.hpp"

namespace xcuda::ir {

ExprP make(Op op, Type type, std::vector<ExprP> args, const Place& place) {
    return std::make_shared<const Expr>(Expr{op, std::move(type), place, std::move(args), {}});
}

ExprP constant(Number value, Type type, const Place& place) {
    return std::make_shared<const Expr>(Expr{Op::constant, std::move(type), place, {}, value});
}

ExprP int_constant(std::int64_t value, const Place& place) {
    return constant(value, scalar(DType::i64, true), place);
}

ExprP var(VarId id, Type type, const Place& place) {
    return std::make_shared<const Expr>(Expr{Op::var, std::move(type), place, {}, id});
}

ExprP dim(ExprP array, int axis, const Place& place) {
    return std::make_shared<const Expr>(
        Expr{Op::dim, scalar(DType::i64, true), place, {std::move(array)}, Axis{axis}});
}

ExprP coord(Coord::Kind kind, int axis, const Place& place) {
    return std::make_shared<const Expr>(
        Expr{Op::coord, scalar(DType::i64, true), place, {}, Coord{kind, axis}});
}

ExprP cast(ExprP value, Type type) {
    if (value->type == type) return value;
    const Place place = value->place;
    return make(Op::cast, std::move(type), {std::move(value)}, place);
}

ExprP with_args(const Expr& node, std::vector<ExprP> args) {
    return std::make_shared<const Expr>(Expr{node.op, node.type, node.place, std::move(args), node.payload});
}

bool same_number(const Number& a, const Number& b) {
    const auto *z = std::get_if<std::complex<double>>(&a), *w = std::get_if<std::complex<double>>(&b);
    if (z && w) return same_number(z->real(), w->real()) && same_number(z->imag(), w->imag());
    const double *x = std::get_if<double>(&a), *y = std::get_if<double>(&b);
    return x && y ? std::bit_cast<std::uint64_t>(*x) == std::bit_cast<std::uint64_t>(*y) : a == b;
}

bool same(const Expr& a, const Expr& b) {
    const Number *x = std::get_if<Number>(&a.payload), *y = std::get_if<Number>(&b.payload);
    const bool payloads = x && y ? same_number(*x, *y) : a.payload == b.payload;
    return a.op == b.op && a.type == b.type && payloads && a.args.size() == b.args.size() &&
           std::equal(a.args.begin(), a.args.end(), b.args.begin(),
                      [](const ExprP& x, const ExprP& y) { return x == y || same(*x, *y); });
}

namespace {

bool any_node(const Expr& e, bool (*holds)(const Expr&)) {
    return holds(e) ||
           std::any_of(e.args.begin(), e.args.end(), [&](const ExprP& a) { return any_node(*a, holds); });
}

bool divides_by_zero_maybe(const Expr& e) {
    return (e.op == Op::floordiv || e.op == Op::mod) && std::holds_alternative<Access>(e.payload) &&
           access_of(e).checked != 0;
}

}  // namespace

Effect effect_of(const Expr& e) {
    if (e.op == Op::print) return Effect::order;
    return e.op == Op::call ? frontend::function_of(std::get<OverloadId>(e.payload)).effect : Effect::none;
}

double real_of(const Number& n) {
    return std::visit(
        [](auto v) {
            if constexpr (std::is_same_v<decltype(v), std::complex<double>>)
                return v.real();
            else
                return static_cast<double>(v);
        },
        n);
}

bool has_effect(const Expr& e) {
    return any_node(e, [](const Expr& n) {
        return n.op == Op::atomic || n.op == Op::invoke || effect_of(n) != Effect::none;
    });
}

bool may_fault(const Expr& e) {
    return any_node(e, [](const Expr& n) {
        return divides_by_zero_maybe(n) || n.op == Op::invoke ||
               ((n.op == Op::load || n.op == Op::bound) && access_of(n).checked != 0) ||
               (n.op == Op::atomic && std::get<Atomic>(n.payload).access.checked != 0);
    });
}

}  // namespace xcuda::ir
