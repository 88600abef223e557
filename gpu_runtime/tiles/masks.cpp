#include "tiles/masks.hpp"

#include <cstdint>
#include <limits>

#include "frontend/functions.hpp"
#include "ir/walk.hpp"
#include "passes/build.hpp"

namespace xcuda::tiles {

using namespace ir;
using passes::both;
using passes::compare;

namespace {

ExprP wide(const ExprP& e) { return cast(e, scalar(DType::i64, true)); }

// The least and the greatest of integers by place, in 64 bits.
struct Range {
    ExprP least, greatest;
    ExprP whole;  // that no sum wraps in its own type; null: for certain
};

std::optional<Range> range_of(const ExprP& e) {
    if (!is_integer(e->type.dtype)) return std::nullopt;
    if (!is_tile(*e)) {
        if (has_effect(*e) || may_fault(*e)) return std::nullopt;
        return Range{wide(e), wide(e), nullptr};
    }
    if (e->op == Op::position) {
        const std::int64_t n = e->type.extents[static_cast<std::size_t>(std::get<Axis>(e->payload).value)];
        return Range{int_constant(0), int_constant(n - 1), nullptr};
    }
    if (e->op == Op::spread) return range_of(e->args[0]);
    const bool sum = e->op == Op::add || e->op == Op::sub;
    if (!sum && e->op != Op::cast) return std::nullopt;
    const auto a = range_of(e->args[0]);
    if (!a) return std::nullopt;
    Range r = *a;
    if (sum) {
        const auto b = range_of(e->args[1]);
        if (!b) return std::nullopt;
        const bool plus = e->op == Op::add;
        r.least = plus ? passes::add(r.least, b->least) : passes::sub(r.least, b->greatest);
        r.greatest = plus ? passes::add(r.greatest, b->greatest) : passes::sub(r.greatest, b->least);
        if (b->whole) r.whole = both(r.whole, b->whole);
    }
    const DType d = e->type.dtype;
    if (!is_signed(d) || info(d).size < 4) return std::nullopt;
    if (info(d).size == 4 && !(passes::integer_of(r.least) && passes::integer_of(r.greatest)))
        r.whole =
            both(r.whole,
                 both(compare(Op::ge, r.least, int_constant(std::numeric_limits<std::int32_t>::min())),
                      compare(Op::le, r.greatest, int_constant(std::numeric_limits<std::int32_t>::max()))));
    return r;
}

std::optional<ExprP> holds(const ExprP& condition) {
    if (condition->op == Op::spread) return holds(condition->args[0]);
    if (condition->op == Op::cast && condition->type.dtype == DType::b1) return holds(condition->args[0]);
    const bool bits = condition->op == Op::bit_and && condition->type.dtype == DType::b1;
    if (condition->op == Op::logic_and || bits) {
        const auto a = holds(condition->args[0]), b = holds(condition->args[1]);
        return a && b ? std::optional(both(*a, *b)) : std::nullopt;
    }
    const bool less = condition->op == Op::lt || condition->op == Op::le,
               more = condition->op == Op::gt || condition->op == Op::ge;
    if (!less && !more) return std::nullopt;
    const auto a = range_of(condition->args[0]), b = range_of(condition->args[1]);
    if (!a || !b) return std::nullopt;
    const ExprP all =
        less ? compare(condition->op, a->greatest, b->least) : compare(condition->op, a->least, b->greatest);
    ExprP whole = a->whole;
    if (b->whole) whole = both(whole, b->whole);
    return both(whole, all);
}

bool is_where(const Expr& e) {
    if (e.op == Op::select) return is_tile(*e.args[0]);
    if (e.op != Op::call || e.args.size() != 3) return false;
    static const frontend::KernelFunction& where = *frontend::find_function("numpy.where");
    const int id = std::get<OverloadId>(e.payload).value;
    return id >= where.first_overload && id < where.first_overload + where.overloads;
}

}  // namespace

std::optional<Unmasked> unmasked(const ExprP& e) {
    ExprP all;
    const ExprP value = rewrite(e, [&](const ExprP& n) -> ExprP {
        if (all || !is_where(*n) || !is_tile(*n->args[0])) return n;
        const auto found = holds(n->args[0]);
        if (!found || !*found) return n;
        all = *found;
        return cast(n->args[1], n->type);
    });
    if (!all || passes::integer_of(all) || all->op == Op::constant) return std::nullopt;
    return Unmasked{all, value};
}

}  // namespace xcuda::tiles
