#include "ir/walk.hpp"
#include "passes/cpu_tile_plan.hpp"

namespace xcuda::passes {

using namespace ir;

namespace {

struct Visitor {
    const Function& function;
    const std::vector<bool>& assigned;
    const std::vector<int>& counts;
    const std::function<void(const AccessSeen&)>& visit;
    std::map<VarId, LoopRange> loops{};
    int depth = 0;

    LinearScope scope() const { return {function, assigned, &loops}; }

    void expr(const ExprP& e) {
        each_expr(e, [&](const Expr& n) {
            if (n.op != Op::load && n.op != Op::atomic) return;
            const auto ndim = static_cast<std::size_t>(n.args[0]->type.ndim);
            const LinearScope here = scope();
            const Access& access = n.op == Op::load ? access_of(n) : std::get<Atomic>(n.payload).access;
            visit({n.args[0], std::span(n.args).subspan(1, ndim), access, here, depth, n.op == Op::atomic});
        });
    }

    void body(const Body& b) {
        for (const Stmt& s : b) {
            for (const ExprP& e : s.exprs) expr(e);
            if (s.kind == Stmt::Kind::store) {
                const auto ndim = static_cast<std::size_t>(s.exprs[0]->type.ndim);
                const LinearScope here = scope();
                visit({s.exprs[0], std::span(s.exprs).subspan(1, ndim), s.access, here, depth, true});
            }
            const bool loop = s.kind == Stmt::Kind::loop_range || s.kind == Stmt::Kind::loop_while;
            const bool named = s.kind == Stmt::Kind::loop_range && counts[static_cast<std::size_t>(s.var)] == 1;
            if (named) loops[s.var] = {s.exprs[0], s.exprs[1], s.exprs[2]};
            depth += loop;
            body(s.body);
            depth -= loop;
            if (named) loops.erase(s.var);
            body(s.orelse);
        }
    }
};

}  // namespace

void each_access(const Function& function, const Body& body, const std::vector<bool>& assigned,
                 const std::vector<int>& counts, const std::function<void(const AccessSeen&)>& visit) {
    Visitor{function, assigned, counts, visit}.body(body);
}

}  // namespace xcuda::passes
