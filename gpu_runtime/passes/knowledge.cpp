#include "passes/knowledge.hpp"

#include <algorithm>

#include "frontend/functions.hpp"
#include "ir/walk.hpp"
#include "passes/build.hpp"
#include "passes/powers.hpp"

namespace xcuda::passes {

using namespace ir;

namespace {

constexpr std::size_t most_facts = 24;
constexpr Whole most_blocks = INT32_MAX;  // of a grid's axis
constexpr Whole longest_narrow = (Whole(1) << 31) - (Whole(1) << 16) - 1;

bool discrete(const Type& t) { return t.is_scalar() && t.lanes == 1 && is_discrete(t.dtype); }

// The axes of an automatic launch may be laid otherwise: what is said of global indices holds for each.
Interval of_coordinate(const Coord& c, const RangeOptions& options) {
    const Whole threads = options.most_threads[static_cast<std::size_t>(c.axis)];
    const Whole blocks = options.narrow_grid ? longest_narrow : most_blocks;
    const Whole all = options.narrow_grid ? longest_narrow : most_blocks * 1024;
    switch (c.kind) {
        case Coord::Kind::thread: return {0, threads - 1};
        case Coord::Kind::block_dim: return {1, threads};
        case Coord::Kind::block: return {0, blocks - 1};
        case Coord::Kind::grid_dim: return {1, blocks};
        case Coord::Kind::global: return {0, all - 1};
        case Coord::Kind::grid_size: return {1, all};
    }
    return numbers_of(DType::i64);
}

bool reads(const Expr& e, VarId v) {
    if (e.op == Op::var) return var_of(e) == v;
    return std::any_of(e.args.begin(), e.args.end(), [&](const ExprP& a) { return reads(*a, v); });
}

Whole floor_div(Whole a, Whole b) {
    const Whole q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

}  // namespace

bool is_discrete(DType dtype) { return is_integer(dtype) || dtype == DType::b1; }

Interval small_numbers(DType dtype) { return meet(numbers_of(dtype), {-longest_narrow, longest_narrow}); }

void forget(Knowledge& k, VarId v) {
    std::erase_if(k.facts, [&](const Fact& fact) { return reads(*fact.value, v); });
}

bool assigns(const Stmt& s, VarId v) {
    bool found = false;
    each_stmt({s}, [&](const Stmt& inner) {
        found |= (inner.kind == Stmt::Kind::assign || inner.kind == Stmt::Kind::loop_range) && inner.var == v;
    });
    return found;
}

bool lasting(const Expr& e) {
    if (e.op == Op::load || e.op == Op::atomic || e.op == Op::invoke || e.op == Op::print ||
        e.op == Op::select || effect_of(e) != Effect::none)
        return false;
    return std::all_of(e.args.begin(), e.args.end(), [](const ExprP& a) { return lasting(*a); });
}

Interval Query::length(const Expr& array, int axis) const {
    const auto d = static_cast<std::size_t>(axis);
    if (d < array.type.extents.size()) return only(array.type.extents[d]);
    const std::vector<std::int64_t>& known = f.vars[static_cast<std::size_t>(var_of(array))].lengths;
    if (d < known.size() && known[d] >= 0) return only(known[d]);
    const bool narrow = options.narrow || array.type.space == Space::shared;
    return {0, narrow ? longest_narrow : Whole(INT64_MAX)};
}

Interval Query::range(const ExprP& e, const Knowledge& k) const {
    if (!discrete(e->type)) return {};
    if (!k.reached) return numbers_of(e->type.dtype);
    Interval r = of_node(e, k);
    if (e->op == Op::var || e->op == Op::constant || e->op == Op::cast) return r;
    for (const Fact& fact : k.facts)
        if (same(*fact.value, *e)) r = meet(r, fact.range);
    if (e->op == Op::add) r.high = most_of_sum(e, k, r.high);
    return r;
}

// `t + step` where `t % (2 * step) == 0`, as in a tree over neighbours.
Whole Query::most_of_sum(const ExprP& e, const Knowledge& k, Whole all) const {
    for (const Fact& fact : k.facts) {
        if (fact.range != only(0)) continue;
        const Multiple known = multiple(fact.value);
        if (known.by.factor == 0) continue;
        for (const int i : {0, 1}) {
            const Scaled added = scaled(e->args[1 - i]);
            if (added.of != known.by.of || added.factor == 0 || !same(*e->args[i], *known.value)) continue;
            const Interval value = range(e->args[i], k), step = k.vars[static_cast<std::size_t>(added.of)];
            const Interval type = numbers_of(e->type.dtype);
            const bool exact = plus(value, times(step, only(added.factor))).within(type) &&
                               times(step, only(known.by.factor)).within(type);
            if (exact && is_power(f, added.of))
                all = most_within(value, step, added.factor, known.by.factor, all);
        }
    }
    return all;
}

Interval Query::of_node(const ExprP& e, const Knowledge& k) const {
    const DType dtype = e->type.dtype;
    const Interval type = numbers_of(dtype);
    switch (e->op) {
        case Op::constant: {
            const Number& n = number_of(*e);
            if (const auto* b = std::get_if<bool>(&n)) return only(*b);
            if (const auto* i = std::get_if<std::int64_t>(&n)) return wrapped(only(*i), dtype);
            if (const auto* u = std::get_if<std::uint64_t>(&n)) return wrapped(only(*u), dtype);
            return type;
        }
        case Op::var: {
            const Interval& v = k.vars[static_cast<std::size_t>(var_of(*e))];
            return v.empty() ? type : v;
        }
        case Op::coord: return of_coordinate(coord_of(*e), options);
        case Op::dim: {
            const int axis = std::get<Axis>(e->payload).value;
            return axis < e->args[0]->type.ndim ? length(*e->args[0], axis) : type;
        }
        case Op::neg: return wrapped(minus(only(0), range(e->args[0], k)), dtype);
        case Op::bit_not:
            return wrapped(minus(only(is_signed(dtype) ? -1 : type.high), range(e->args[0], k)), dtype);
        case Op::cast:
            if (!discrete(e->args[0]->type)) return type;
            if (dtype == DType::b1) return type;
            return wrapped(range(e->args[0], k), dtype);
        case Op::select: {
            Knowledge yes = k, no = k;
            assume(yes, e->args[0], true);
            assume(no, e->args[0], false);
            if (!yes.reached) return range(e->args[2], no);
            if (!no.reached) return range(e->args[1], yes);
            return hull(range(e->args[1], yes), range(e->args[2], no));
        }
        case Op::bound:
            if (!access_of(*e).checked && !access_of(*e).wrap) return range(e->args[0], k);
            return {0, range(e->args[1], k).high - 1};
        case Op::call: return of_call(e, k);
        case Op::add:
        case Op::sub:
        case Op::mul:
        case Op::floordiv:
        case Op::mod:
        case Op::shl:
        case Op::shr:
        case Op::bit_and:
        case Op::bit_or:
        case Op::bit_xor:
            if (dtype == DType::b1) return type;
            return of_operation(e->op, range(e->args[0], k), range(e->args[1], k), dtype);
        default: return type;
    }
}

Interval Query::of_call(const ExprP& e, const Knowledge& k) const {
    const Interval type = numbers_of(e->type.dtype);
    const std::string_view name = frontend::function_of(std::get<OverloadId>(e->payload)).name;
    const auto arg = [&](std::size_t i) {
        const ExprP& a = e->args[i];
        return a->type.dtype == e->type.dtype ? range(a, k) : type;
    };
    const bool least = name == "min" || name == "minimum", greatest = name == "max" || name == "maximum";
    if ((least || greatest) && e->args.size() == 2) {
        const Interval a = arg(0), b = arg(1);
        if (a.empty() || b.empty()) return type;
        if (least) return {std::min(a.low, b.low), std::min(a.high, b.high)};
        return {std::max(a.low, b.low), std::max(a.high, b.high)};
    }
    if (name == "abs" && e->args.size() == 1) {
        const Interval a = arg(0), turned = minus(only(0), a);
        const Interval size = hull(meet(a, {0, type.high}), meet(turned, {0, -type.low}));
        return wrapped(size, e->type.dtype);
    }
    return type;
}

void Query::refine(Knowledge& k, const ExprP& e, const Interval& to) const {
    if (!k.reached || !discrete(e->type)) return;
    const Interval was = range(e, k), now = meet(was, to);
    if (now == was) return;
    if (now.empty()) {
        k.reached = false;
        return;
    }
    const DType dtype = e->type.dtype;
    const auto arg = [&](std::size_t i) { return range(e->args[i], k); };
    switch (e->op) {
        case Op::constant: return;
        case Op::var: k.vars[static_cast<std::size_t>(var_of(*e))] = now; return;
        case Op::add: {
            const Interval a = arg(0), b = arg(1);
            if (!plus(a, b).within(numbers_of(dtype))) break;
            refine(k, e->args[0], minus(now, b));
            refine(k, e->args[1], minus(now, a));
            break;
        }
        case Op::sub: {
            const Interval a = arg(0), b = arg(1);
            if (!minus(a, b).within(numbers_of(dtype))) break;
            refine(k, e->args[0], plus(now, b));
            refine(k, e->args[1], minus(a, now));
            break;
        }
        case Op::mul: {
            const auto by = integer_of(e->args[1]);
            const Interval a = arg(0);
            if (!by || *by <= 0 || !times(a, only(*by)).within(numbers_of(dtype))) break;
            refine(k, e->args[0], {-floor_div(-now.low, *by), floor_div(now.high, *by)});
            break;
        }
        case Op::floordiv: {
            const auto by = integer_of(e->args[1]);
            if (by && *by > 0) refine(k, e->args[0], {now.low * *by, now.high * *by + (*by - 1)});
            break;
        }
        case Op::cast: {
            const ExprP& from = e->args[0];
            if (dtype != DType::b1 && discrete(from->type) && range(from, k).within(numbers_of(dtype)))
                refine(k, from, now);
            return;
        }
        default: break;
    }
    if (!k.reached || !lasting(*e)) return;
    for (Fact& fact : k.facts)
        if (same(*fact.value, *e)) {
            fact.range = meet(fact.range, now);
            return;
        }
    if (k.facts.size() < most_facts) k.facts.push_back({e, now});
}

void Query::assume(Knowledge& k, const ExprP& condition, bool holds) const {
    if (!k.reached) return;
    const Expr& e = *condition;
    switch (e.op) {
        case Op::logic_not: return assume(k, e.args[0], !holds);
        case Op::logic_and:
        case Op::logic_or: {
            if ((e.op == Op::logic_and) == holds) {
                assume(k, e.args[0], holds);
                assume(k, e.args[1], holds);
                return;
            }
            Knowledge second = k;
            assume(k, e.args[0], holds);
            assume(second, e.args[0], !holds);
            assume(second, e.args[1], holds);
            k = joined(k, second);
            return;
        }
        case Op::constant:
        case Op::var: refine(k, condition, only(holds)); return;
        case Op::lt:
        case Op::le:
        case Op::gt:
        case Op::ge:
        case Op::eq:
        case Op::ne: break;
        default: return;
    }
    const ExprP &x = e.args[0], &y = e.args[1];
    if (!discrete(x->type) || !discrete(y->type)) return;
    const Interval a = range(x, k), b = range(y, k);
    if ((e.op == Op::eq) == holds && (e.op == Op::eq || e.op == Op::ne)) {
        refine(k, x, b);
        refine(k, y, a);
        return;
    }
    if (e.op == Op::eq || e.op == Op::ne) {  // they differ: an end that is all of the other is out
        const auto without = [](Interval from, const Interval& one) {
            if (one.low != one.high) return from;
            if (from.low == one.low) ++from.low;
            if (from.high == one.low) --from.high;
            return from;
        };
        refine(k, x, without(a, b));
        refine(k, y, without(b, a));
        return;
    }
    const bool less = (e.op == Op::lt || e.op == Op::le) == holds;  // x is the smaller one
    const bool or_equal = (e.op == Op::le || e.op == Op::ge) == holds;
    refine(k, x, less ? below(a, b, or_equal) : above(a, b, or_equal));
    refine(k, y, less ? above(b, a, or_equal) : below(b, a, or_equal));
    // And their difference, as an index may have it.
    if (x->type == y->type && x->op != Op::constant && y->op != Op::constant &&
        minus(a, b).within(numbers_of(x->type.dtype))) {
        const ExprP apart = make(Op::sub, x->type, {less ? y : x, less ? x : y}, e.place);
        refine(k, apart, {or_equal ? 0 : 1, numbers_of(x->type.dtype).high});
    }
}

void Query::learn_access(Knowledge& k, const ExprP& array, const ExprP* indices, const Access& access) const {
    for (int d = 0; d < array->type.ndim; ++d) {
        const Whole n = length(*array, d).high;
        const bool negative = access.wrap >> d & 1;
        refine(k, indices[d], {negative ? -n : Whole(0), n - 1});
    }
}

void Query::learn_accesses(Knowledge& k, const ExprP& e) const {
    if (e->op == Op::select || e->op == Op::logic_and || e->op == Op::logic_or)
        return learn_accesses(k, e->args[0]);
    for (const ExprP& a : e->args) learn_accesses(k, a);
    if (e->op == Op::load) learn_access(k, e->args[0], e->args.data() + 1, access_of(*e));
    if (const auto* atomic = std::get_if<Atomic>(&e->payload))
        learn_access(k, e->args[0], e->args.data() + 1, atomic->access);
}

Knowledge Query::joined(const Knowledge& a, const Knowledge& b) const {
    if (!a.reached) return b;
    if (!b.reached) return a;
    Knowledge r{true, a.vars, {}};
    for (std::size_t v = 0; v < r.vars.size(); ++v) r.vars[v] = hull(a.vars[v], b.vars[v]);
    for (const Fact& fact : a.facts) {
        const Interval both = hull(fact.range, range(fact.value, b));
        if (both != of_node(fact.value, r)) r.facts.push_back({fact.value, both});
    }
    return r;
}

bool Query::same_facts(const Knowledge& a, const Knowledge& b) const {
    return a.facts.size() == b.facts.size() &&
           std::equal(a.facts.begin(), a.facts.end(), b.facts.begin(), [](const Fact& x, const Fact& y) {
               return x.range == y.range && same(*x.value, *y.value);
           });
}

}  // namespace xcuda::passes
