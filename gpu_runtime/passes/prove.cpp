#include "passes/prove.hpp"

#include <algorithm>
#include <optional>

#include "ir/walk.hpp"
#include "passes/build.hpp"
#include "passes/uniform.hpp"

namespace xcuda::passes {

using namespace ir;

namespace {

struct Below {
    ExprP value,
        bound;  // value < bound + more holds here; without `value`: value is 0, without `bound`: bound is
    std::int64_t more;
};

/// An integer as base + offset; no base: a constant.
struct Offset {
    ExprP base;
    std::int64_t offset = 0;
};

constexpr std::int64_t small = std::int64_t{1} << 40;  // sums of offsets up to this don't leave 64 bits

Offset split(const ExprP& e) {
    const auto near = [](std::int64_t v) { return v > -small && v < small; };
    if (const auto v = integer_of(e); v && near(*v)) return {nullptr, *v};
    if ((e->op == Op::add || e->op == Op::sub) && e->type.dtype == DType::i64) {
        const Offset a = split(e->args[0]), b = split(e->args[1]);
        if (!b.base && near(a.offset) && near(b.offset))
            return {a.base, e->op == Op::add ? a.offset + b.offset : a.offset - b.offset};
        if (!a.base && e->op == Op::add && near(a.offset) && near(b.offset))
            return {b.base, a.offset + b.offset};
    }
    return {e, 0};
}

bool same_base(const ExprP& a, const ExprP& b) { return a && b ? same(*a, *b) : !a && !b; }

bool integers(const Expr& comparison) {
    return is_integer(comparison.args[0]->type.dtype) && is_integer(comparison.args[1]->type.dtype);
}

struct Prover {
    Function& f;
    std::vector<int> counts;
    std::vector<Below> facts{};
    bool simplify = false;  // remainders of neighbours; after the proofs, which know remainders

    bool settled(const Expr& e) const {  // means the same wherever it stands
        if (e.op == Op::load || e.op == Op::atomic || e.op == Op::invoke || effect_of(e) != Effect::none)
            return false;
        if (e.op == Op::var && !e.type.is_array()) {
            const bool given = f.vars[static_cast<std::size_t>(var_of(e))].role == Var::Role::parameter;
            if (counts[var_of(e)] + given > 1) return false;
        }
        return std::all_of(e.args.begin(), e.args.end(), [&](const ExprP& a) { return settled(*a); });
    }

    /// The greatest number that a value is known not to lie under.
    std::optional<std::int64_t> least(const ExprP& e) const {
        const auto [base, offset] = split(e);
        if (!base) return offset;
        std::optional<std::int64_t> found;
        if (not_negative(*base)) found = offset;
        for (const Below& fact : facts)  // fact.more: 0 < base + more, so base is at least 1 - more
            if (!fact.value && fact.bound && same(*fact.bound, *base))
                found = std::max(found.value_or(offset + 1 - fact.more), offset + 1 - fact.more);
        return found;
    }

    /// The least number that a value is known to lie under.
    std::optional<std::int64_t> limit(const ExprP& e) const {
        const auto [base, offset] = split(e);
        if (!base) return offset + 1;
        std::optional<std::int64_t> found;
        const auto known = [&](std::int64_t bound) { found = std::min(found.value_or(bound), bound); };
        if (base->op == Op::mod || base->op == Op::bit_and) {
            const auto by = integer_of(base->args[1]);
            if (by && *by > 0 && *by < small && is_integer(base->type.dtype))
                known(offset + *by + (base->op == Op::bit_and));
        }
        for (const Below& fact : facts)
            if (fact.value && !fact.bound && same(*fact.value, *base)) known(offset + fact.more);
        return found;
    }

    bool not_negative(const Expr& e) const {
        const auto all = [&] {
            return std::all_of(e.args.begin(), e.args.end(),
                               [&](const ExprP& a) { return least(a).value_or(-1) >= 0; });
        };
        switch (e.op) {
            case Op::constant: {
                const auto* v = std::get_if<std::int64_t>(&number_of(e));
                return v && *v >= 0;
            }
            case Op::coord: return true;
            case Op::dim: return std::get<Axis>(e.payload).value < e.args[0]->type.ndim;
            case Op::mod:  // takes the divisor's sign
                return e.type.dtype == DType::i64 && least(e.args[1]).value_or(-1) >= 0;
            case Op::bit_and:
                return e.type.dtype == DType::i64 &&
                       std::any_of(e.args.begin(), e.args.end(),
                                   [&](const ExprP& a) { return least(a).value_or(-1) >= 0; });
            case Op::add:
            case Op::mul:
            case Op::floordiv:
            case Op::shr: return e.type.dtype == DType::i64 && all();
            case Op::cast: return is_integer(e.type.dtype) && info(e.type.dtype).size == 8 && all();
            default: return is_integer(e.type.dtype) && !is_signed(e.type.dtype);
        }
    }

    /// Holds: small + more < large.
    void know(const ExprP& small_side, const ExprP& large_side, std::int64_t more) {
        if (!settled(*small_side) || !settled(*large_side)) return;
        const Offset a = split(small_side), b = split(large_side);
        facts.push_back({a.base, b.base, b.offset - a.offset - more});
    }

    void assume(const ExprP& condition, bool holds = true) {
        const Expr& e = *condition;
        if (e.op == Op::logic_not) return assume(e.args[0], !holds);
        if (e.op == (holds ? Op::logic_and : Op::logic_or)) {
            for (const ExprP& a : e.args) assume(a, holds);
            return;
        }
        const bool orders = e.op == Op::lt || e.op == Op::le || e.op == Op::gt || e.op == Op::ge;
        if (!orders || !integers(e)) return;
        const bool less = (e.op == Op::lt || e.op == Op::le) == holds;  // args[0] is the smaller one
        const bool strict = (e.op == Op::lt || e.op == Op::gt) == holds;
        know(e.args[less ? 0 : 1], e.args[less ? 1 : 0], strict ? 0 : -1);
    }

    bool known_below(const ExprP& value, const ExprP& bound) const {
        const Offset v = split(value), b = split(bound);
        if (v.base && v.base->op == Op::mod && v.offset <= b.offset && b.base &&
            v.base->type.dtype == DType::i64 && same(*v.base->args[1], *b.base) && not_negative(*b.base))
            return true;
        if (!b.base) return limit(value).value_or(b.offset + 1) <= b.offset;
        return std::any_of(facts.begin(), facts.end(), [&](const Below& fact) {
            return same_base(fact.value, v.base) && same_base(fact.bound, b.base) &&
                   fact.more <= b.offset - v.offset;
        });
    }

    ExprP length(const ExprP& array, int axis) const {
        const auto& extents = array->type.extents;
        const auto d = static_cast<std::size_t>(axis);
        return d < extents.size() ? int_constant(extents[d]) : dim(array, axis);
    }

    Access proven(Access access, const ExprP& array, const ExprP* indices) const {
        for (int d = 0; d < array->type.ndim; ++d) {
            const auto bit = static_cast<std::uint8_t>(1u << d);
            if (least(indices[d]).value_or(-1) < 0) continue;
            access.wrap &= static_cast<std::uint8_t>(~bit);
            if (known_below(indices[d], length(array, d))) access.checked &= static_cast<std::uint8_t>(~bit);
        }
        return access;
    }

    /// `(i - 1) % n` of an i that is known to lie in [0, n): no division.
    ExprP simplified(const ExprP& n) const {
        const ExprP &x = n->args[0], &by = n->args[1];
        if (n->type.dtype != DType::i64 || x->type.dtype != DType::i64 || by->type.dtype != DType::i64)
            return n;
        const Offset v = split(x);
        if (!v.base || v.offset < -1 || v.offset > 1 || !settled(*x) || !settled(*by)) return n;
        if (least(v.base).value_or(-1) < 0 || !known_below(v.base, by)) return n;
        if (v.offset == 0) return x;
        const bool down = v.offset < 0;
        const ExprP outside =
            down ? compare(Op::lt, x, constant(std::int64_t{0}, x->type)) : compare(Op::eq, x, by);
        const ExprP wrapped = down ? make(Op::add, n->type, {x, by}) : constant(std::int64_t{0}, n->type);
        return make(Op::select, n->type, {outside, wrapped, x}, n->place);
    }

    ExprP node(const ExprP& n) const {
        if (simplify) return n->op == Op::mod ? simplified(n) : n;
        if (n->op == Op::bound)
            return least(n->args[0]).value_or(-1) >= 0 && known_below(n->args[0], n->args[1]) ? n->args[0]
                                                                                              : n;
        if (n->op != Op::load && n->op != Op::atomic) return n;
        auto made = std::make_shared<Expr>(*n);
        if (auto* atomic = std::get_if<Atomic>(&made->payload))
            atomic->access = proven(atomic->access, n->args[0], n->args.data() + 1);
        else
            made->payload = proven(access_of(*n), n->args[0], n->args.data() + 1);
        return made;
    }

    /// What is evaluated only where a condition holds, or does not.
    ExprP under(const ExprP& condition, bool holds, const ExprP& e) {
        const std::size_t before = facts.size();
        assume(condition, holds);
        ExprP made = expr(e);
        facts.resize(before);
        return made;
    }

    ExprP expr(const ExprP& e) {
        return node(with_operands(
            e, [&](const ExprP& a) { return expr(a); },
            [&](const ExprP& condition, bool holds, const ExprP& a) { return under(condition, holds, a); }));
    }

    /// What is known of a value is known of the variable that nothing else is assigned to, from here on.
    void assigned(const Stmt& s) {
        const Var& v = f.vars[static_cast<std::size_t>(s.var)];
        const Expr& value = *s.exprs[0];
        const ExprP name = var(s.var, v.type);
        if (v.type.dtype != DType::i64 || value.type.dtype != DType::i64 || !settled(*name)) return;
        const auto from = least(s.exprs[0]), to = limit(s.exprs[0]);
        if (from) facts.push_back({nullptr, name, 1 - *from});
        if (to) facts.push_back({name, nullptr, *to});
        if (value.op == Op::mod && least(value.args[1]).value_or(-1) >= 0) know(name, value.args[1], 0);
    }

    void body(Body& b) {
        for (Stmt& s : b) {
            for (ExprP& e : s.exprs) e = expr(e);
            if (s.kind == Stmt::Kind::store && !simplify)
                s.access = proven(s.access, s.exprs[0], s.exprs.data() + 1);
            const std::size_t before = facts.size();
            const bool counted = s.kind == Stmt::Kind::loop_range && counts[s.var] == 1;
            if (s.kind == Stmt::Kind::branch) assume(s.exprs[0]);
            if (counted && integer_of(s.exprs[2]).value_or(0) > 0) {
                const ExprP counter = var(s.var, f.vars[s.var].type);
                if (const auto from = least(s.exprs[0]))
                    facts.push_back({nullptr, counter, 1 - *from});  // 0 < counter + 1 - from
                if (settled(*s.exprs[1])) know(counter, s.exprs[1], 0);
            }
            body(s.body);
            facts.resize(before);
            if (s.kind == Stmt::Kind::branch) assume(s.exprs[0], false);
            body(s.orelse);
            facts.resize(before);
            if (s.kind == Stmt::Kind::assign) assigned(s);
        }
    }
};

}  // namespace

void prove_bounds(Function& function) {
    const std::vector<int> counts = assignment_counts(function, function.body);
    Prover{function, counts}.body(function.body);
    Prover{.f = function, .counts = counts, .simplify = true}.body(function.body);
}

}  // namespace xcuda::passes
