#include "ir/walk.hpp"
#include "passes/build.hpp"
#include "passes/cpu_tile_plan.hpp"

namespace xcuda::passes {

using namespace ir;

namespace {

struct Visitor {
    const Function& function;
    const std::vector<bool>& assigned;
    const std::vector<int>& counts;
    std::function<void(const AccessSeen&)> visit;
    std::function<void(const Expr&, const LinearScope&)> visit_bound;
    std::map<VarId, LoopRange> loops{};
    int depth = 0, branches = 0;

    LinearScope scope() const { return {function, assigned, &loops}; }

    // `perhaps`: another value decides whether this one is asked for; vectors compute it all the same.
    void expr(const ExprP& e, bool perhaps) {
        const bool chooses = e->op == Op::select || e->op == Op::logic_and || e->op == Op::logic_or;
        for (std::size_t a = 0; a < e->args.size(); ++a) expr(e->args[a], perhaps || (chooses && a > 0));
        node(*e, perhaps);
    }

    void node(const Expr& n, bool perhaps) {
        if (n.op == Op::bound && visit_bound) {
            LinearScope here = scope();
            here.bounds_tested = true;
            return visit_bound(n, here);
        }
        if ((n.op != Op::load && n.op != Op::atomic) || !visit) return;
        const auto ndim = static_cast<std::size_t>(n.args[0]->type.ndim);
        const LinearScope here = scope();
        const bool writes = n.op == Op::atomic;
        const Access& access = writes ? std::get<Atomic>(n.payload).access : access_of(n);
        visit({&n, n.args[0], std::span(n.args).subspan(1, ndim), access, here, depth, writes,
               perhaps && !writes});
    }

    void body(const Body& b) {
        for (const Stmt& s : b) {
            for (const ExprP& e : s.exprs) expr(e, branches > 0);
            if (s.kind == Stmt::Kind::store && visit) {
                const auto ndim = static_cast<std::size_t>(s.exprs[0]->type.ndim);
                const LinearScope here = scope();
                visit({nullptr, s.exprs[0], std::span(s.exprs).subspan(1, ndim), s.access, here, depth, true,
                       false});
            }
            const bool loop = s.kind == Stmt::Kind::loop_range || s.kind == Stmt::Kind::loop_while;
            const bool named =
                s.kind == Stmt::Kind::loop_range && counts[static_cast<std::size_t>(s.var)] == 1;
            if (named) loops[s.var] = {s.exprs[0], s.exprs[1], s.exprs[2]};
            const bool branch = s.kind == Stmt::Kind::branch;
            depth += loop;
            branches += branch;
            body(s.body);
            depth -= loop;
            if (named) loops.erase(s.var);
            body(s.orelse);
            branches -= branch;
        }
    }
};

}  // namespace

void each_access(const Function& function, const Body& body, const std::vector<bool>& assigned,
                 const std::vector<int>& counts, const std::function<void(const AccessSeen&)>& visit) {
    Visitor{function, assigned, counts, visit, nullptr}.body(body);
}

void each_bound(const Function& function, const Body& body, const std::vector<bool>& assigned,
                const std::vector<int>& counts,
                const std::function<void(const Expr&, const LinearScope&)>& visit) {
    Visitor{function, assigned, counts, nullptr, visit}.body(body);
}

std::optional<Range> bound_range(const Expr& bound, const Box& box, LinearScope scope) {
    scope.bounds_tested = true;
    const auto sum = linear(bound.args[0], scope), length = linear(bound.args[1], scope);
    if (!sum || !length || !length->uniform()) return std::nullopt;
    return range_over(*sum, box, scope);
}

void require_bound(const Expr& bound, const Range& range, const std::function<void(ExprP)>& require) {
    const Access& access = access_of(bound);
    if (!access.checked && !access.wrap) return;
    const auto least = integer_of(range.least);
    if (!least || *least < 0) require(compare(Op::ge, range.least, int_constant(0)));
    if (access.checked) require(compare(Op::lt, range.greatest, bound.args[1]));
}

}  // namespace xcuda::passes
