#include "passes/hoist.hpp"

#include "ir/walk.hpp"
#include "passes/build.hpp"
#include "passes/cpu_tile_plan.hpp"
#include "passes/defer.hpp"

namespace xcuda::passes {

using namespace ir;

namespace {

struct Hoister {
    Function& f;

    // The test that makes every linear access of the loop safe, and the loop without those checks.
    struct Split {
        ExprP test;
        Stmt fast;
    };

    static std::optional<Range> range_of(const ExprP& index, const LinearScope& scope) {
        const auto sum = linear(index, scope);
        if (!sum) return std::nullopt;
        return range_over(*sum, Box{}, scope);
    }

    // Clears what the test covers. Walks as each_access does, so that the loops around an access are open.
    struct Clear {
        const std::vector<bool>& assigned;
        const std::vector<int>& counts;
        Function& f;
        std::map<VarId, LoopRange> loops{};

        Access cleared(Access access, const ExprP& array, const ExprP* indices) const {
            const LinearScope scope{f, assigned, &loops, true, true};
            for (int d = 0; d < array->type.ndim; ++d) {
                if (!range_of(indices[d], scope)) continue;
                access.checked &= static_cast<std::uint8_t>(~(1u << d));
                access.wrap &= static_cast<std::uint8_t>(~(1u << d));
            }
            return access;
        }

        ExprP expr(const ExprP& e) const {
            if (e->args.empty()) return e;
            auto node = std::make_shared<Expr>(*e);
            for (ExprP& a : node->args) a = expr(a);
            if (e->op == Op::bound && bound_range(*e, Box{}, {f, assigned, &loops, true, true}))
                return node->args[0];
            if (e->op == Op::load) node->payload = cleared(access_of(*e), e->args[0], e->args.data() + 1);
            if (auto* atomic = std::get_if<Atomic>(&node->payload))
                atomic->access = cleared(atomic->access, e->args[0], e->args.data() + 1);
            return node;
        }

        // The loop whose test it is: its own bounds and its else stand outside.
        void loop(Stmt& s) {
            const bool named = counts[s.var] == 1;
            if (named) loops[s.var] = {s.exprs[0], s.exprs[1], s.exprs[2]};
            for (Stmt& inner : s.body) stmt(inner);
            loops.clear();
        }

        void stmt(Stmt& s) {
            for (ExprP& e : s.exprs) e = expr(e);
            if (s.kind == Stmt::Kind::store) s.access = cleared(s.access, s.exprs[0], s.exprs.data() + 1);
            const bool named = s.kind == Stmt::Kind::loop_range && counts[s.var] == 1;
            if (named) loops[s.var] = {s.exprs[0], s.exprs[1], s.exprs[2]};
            for (Stmt& inner : s.body) stmt(inner);
            if (named) loops.erase(s.var);
            for (Stmt& inner : s.orelse) stmt(inner);
        }
    };

    void body(Body& b) {
        Body made;
        made.reserve(b.size());
        for (Stmt& s : b) {
            // Where threads meet they must stay together: only the loops inside may stand twice.
            if (s.kind != Stmt::Kind::loop_range || strongest_effect(s.body) >= Effect::warp) {
                body(s.body);
                body(s.orelse);
                made.push_back(std::move(s));
                continue;
            }
            for (Stmt& part : with_fixed_bounds(std::move(s))) made.push_back(std::move(part));
        }
        b = std::move(made);
    }

    // The loop with what is left of its checks after it, where it only computes.
    Body deferred(Stmt loop, const Stmt& careful) {
        Body made = deferred_checks(f, loop, careful);
        if (made.empty()) made.push_back(std::move(loop));
        return made;
    }

    // Bounds from memory are read once, before the loop: then they are fixed.
    Body with_fixed_bounds(Stmt loop) {
        Body made;
        for (std::size_t i = 0; i < 2; ++i) {
            bool loads = false;
            each_expr(loop.exprs[i], [&](const Expr& e) { loads |= e.op == Op::load; });
            if (!loads) continue;
            Var bound;
            bound.name = i == 0 ? "start" : "end";
            bound.type = scalar(DType::i64, true);
            bound.role = Var::Role::hidden;
            const ExprP name = var(f.add(std::move(bound)), scalar(DType::i64, true));
            made.push_back(assign(var_of(*name), cast(loop.exprs[i], name->type), loop.place));
            loop.exprs[i] = name;
        }
        for (Stmt& part : split(std::move(loop))) made.push_back(std::move(part));
        return made;
    }

    Body split(Stmt loop) {
        const Body alone{loop};
        const std::vector<bool> assigned = assigned_vars(f, alone);
        const std::vector<int> counts = assignment_counts(f, alone);
        ExprP test;
        std::vector<ExprP> seen_tests;
        const auto require = [&](ExprP condition) {
            for (const ExprP& old : seen_tests)
                if (same(*old, *condition)) return;
            seen_tests.push_back(condition);
            test = both(test, std::move(condition));
        };
        each_access(f, alone, assigned, counts, [&](const AccessSeen& seen) {
            if (seen.depth == 0) return;  // the loop's own bounds
            LinearScope scope = seen.scope;
            scope.threads_fixed = scope.bounds_tested = true;
            for (std::size_t d = 0; d < seen.indices.size(); ++d) {
                const bool checked = seen.access.checked >> d & 1, wraps = seen.access.wrap >> d & 1;
                if (!checked && !wraps) continue;
                const auto range = range_of(seen.indices[d], scope);
                if (!range) continue;
                const auto least = integer_of(range->least);
                if (!least || *least < 0) require(compare(Op::ge, range->least, int_constant(0)));
                if (checked) require(compare(Op::lt, range->greatest, dim(seen.array, static_cast<int>(d))));
            }
        });
        each_bound(f, alone, assigned, counts, [&](const Expr& bound, LinearScope scope) {
            scope.threads_fixed = true;
            if (const auto range = bound_range(bound, Box{}, scope)) require_bound(bound, *range, require);
        });
        if (!test) return deferred(loop, loop);
        Stmt fast = loop;
        Clear{assigned, counts, f}.loop(fast);
        Body quick = deferred(std::move(fast), loop), careful, made;
        loop.hint = Stmt::Hint::cold;  // rarely run: not worth unrolling
        careful.push_back(std::move(loop));
        made.push_back(branch(test, std::move(quick), std::move(careful)));
        return made;
    }
};

}  // namespace

void hoist_checks(Function& function) { Hoister{function}.body(function.body); }

}  // namespace xcuda::passes
