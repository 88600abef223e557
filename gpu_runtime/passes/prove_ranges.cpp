#include "passes/prove_ranges.hpp"

#include <bit>

#include "ir/walk.hpp"
#include "passes/ranges.hpp"

namespace xcuda::passes {

using namespace ir;

namespace {

struct RangeProver {
    Ranges& ranges;

    Interval length(const ExprP& array, int axis) const {
        const auto& extents = array->type.extents;
        const auto d = static_cast<std::size_t>(axis);
        return d < extents.size() ? only(extents[d]) : ranges.of(dim(array, axis));
    }

    Access proven(Access access, const ExprP& array, const ExprP* indices) const {
        for (int d = 0; d < array->type.ndim; ++d) {
            const auto bit = static_cast<std::uint8_t>(1u << d);
            if (!((access.checked | access.wrap) & bit)) continue;
            const Interval index = ranges.of(indices[d]);
            if (index.low < 0) continue;
            access.wrap &= static_cast<std::uint8_t>(~bit);
            if (index.high < length(array, d).low) access.checked &= static_cast<std::uint8_t>(~bit);
        }
        return access;
    }

    ExprP node(const ExprP& e) const {
        if (e->op == Op::load || e->op == Op::atomic) {
            auto made = std::make_shared<Expr>(*e);
            if (auto* atomic = std::get_if<Atomic>(&made->payload))
                atomic->access = proven(atomic->access, e->args[0], e->args.data() + 1);
            else
                made->payload = proven(access_of(*e), e->args[0], e->args.data() + 1);
            return made;
        }
        if (e->op == Op::bound) {
            const Interval index = ranges.of(e->args[0]), n = ranges.of(e->args[1]);
            return index.low >= 0 && index.high < n.low ? e->args[0] : e;
        }
        const bool divides = e->op == Op::floordiv || e->op == Op::mod;
        if (divides && is_integer(e->type.dtype) && std::holds_alternative<Access>(e->payload) &&
            access_of(*e).checked && !ranges.of(e->args[1]).contains(0)) {
            auto made = std::make_shared<Expr>(*e);
            Access access = access_of(*e);
            access.checked = 0;
            made->payload = access;
            return made;
        }
        return e;
    }

    ExprP under(const ExprP& condition, bool holds, const ExprP& e) {
        ExprP made;
        ranges.under(condition, holds, [&] { made = expr(e); });
        return made;
    }

    ExprP expr(const ExprP& e) {
        return node(with_operands(
            e, [&](const ExprP& a) { return expr(a); },
            [&](const ExprP& condition, bool holds, const ExprP& a) { return under(condition, holds, a); }));
    }

    void stmt(Stmt& s) {
        if (!ranges.reached()) return;
        for (ExprP& e : s.exprs) e = expr(e);
        if (s.kind == Stmt::Kind::store) s.access = proven(s.access, s.exprs[0], s.exprs.data() + 1);
    }
};

}  // namespace

void prove_ranges(const Function& function, Body& body, const RangeOptions& options) {
    Ranges ranges(function, options);
    RangeProver prover{ranges};
    ranges.run(body, [&](Stmt& s) { prover.stmt(s); });
}

void prove_ranges(Function& function, const RangeOptions& options) {
    prove_ranges(function, function.body, options);
}

int tests_in(const Body& body) {
    int found = 0;
    const auto bits = [](const Access& access) { return std::popcount(access.checked); };
    each_expr(body, [&](const Expr& e) {
        if (const auto* atomic = std::get_if<Atomic>(&e.payload)) found += bits(atomic->access);
        if (const auto* access = std::get_if<Access>(&e.payload); access && e.op != Op::print)
            found += bits(*access);
    });
    each_stmt(body, [&](const Stmt& s) {
        if (s.kind == Stmt::Kind::store) found += bits(s.access);
    });
    return found;
}

}  // namespace xcuda::passes
