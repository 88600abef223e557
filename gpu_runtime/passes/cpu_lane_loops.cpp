#include "passes/cpu_lane_loops.hpp"

#include <algorithm>

#include "ir/walk.hpp"
#include "passes/build.hpp"
#include "passes/cpu_blocks.hpp"
#include "passes/cpu_region.hpp"
#include "passes/linear.hpp"
#include "passes/structure.hpp"
#include "passes/uniform.hpp"

namespace xcuda::passes {

using namespace ir;

namespace {

bool holds(const Body& body, Stmt::Kind kind) {
    bool found = false;
    each_stmt(body, [&](const Stmt& s) { found |= s.kind == kind; });
    return found;
}

struct LaneLoops {
    Function& f;
    const CpuOptions& options;
    const std::vector<bool> assigned;  // in the whole kernel: no fixed bounds
    std::vector<VarId> counters{};

    // The axis along which the threads start one apart, and where the first starts.
    std::optional<std::pair<int, ExprP>> start_of(const Stmt& loop) const {
        const auto start = linear(loop.exprs[0], {f, assigned});
        if (!start || !start->loops.empty()) return {};
        int axis = -1;
        for (int a = 0; a < 3; ++a) {
            if (!start->coefficients[a]) continue;
            if (axis >= 0 || integer_of(start->coefficients[a]) != 1) return {};
            axis = a;
        }
        if (axis < 0) return {};
        return {{axis, start->base}};
    }

    bool steps_over(const ExprP& step, int axis, std::int64_t extent) const {
        if (const auto number = integer_of(step)) return *number >= extent;
        return step->op == Op::coord && coord_of(*step) == Coord{Coord::Kind::grid_size, axis};
    }

    bool share(const Stmt& loop, Body& out) {
        if (loop.kind != Stmt::Kind::loop_range || !loop.orelse.empty()) return false;
        for (const Stmt::Kind kind : {Stmt::Kind::break_loop, Stmt::Kind::continue_loop, Stmt::Kind::leave})
            if (holds(loop.body, kind)) return false;
        if (assigned_vars(f, loop.body)[static_cast<std::size_t>(loop.var)]) return false;
        const auto start = start_of(loop);
        if (!start) return false;
        const auto& [axis, first] = *start;
        const auto extent = integer_of(block_dim(options, axis));
        const ExprP& step = loop.exprs[2];
        const auto stop = linear(loop.exprs[1], {f, assigned});
        if (!extent || *extent < 1 || !steps_over(step, axis, *extent) || !stop || !stop->uniform())
            return false;

        const VarId rounds = hidden(f, "rounds"), round = hidden(f, "round");
        const ExprP last = add(first, int_constant(*extent - 1));
        const ExprP turns = maximum(int_constant(0), ceil_div(sub(loop.exprs[1], last), step));
        out.push_back(assign(rounds, turns, loop.place));
        const auto turn = [&](VarId count) {
            Body body = loop.body;
            const ExprP at = add(loop.exprs[0], mul(read(f, count), step));
            const Type type = f.vars[loop.var].type;
            rewrite_exprs(body, [&](const ExprP& e) {
                return e->op == Op::var && var_of(*e) == loop.var ? cast(at, type) : e;
            });
            return body;
        };
        out.push_back(
            loop_range(round, int_constant(0), read(f, rounds), int_constant(1), turn(round), loop.place));
        const ExprP at = add(loop.exprs[0], mul(read(f, rounds), step));
        out.push_back(branch(compare(Op::lt, at, loop.exprs[1]), turn(rounds), {}, loop.place));
        counters.push_back(round);
        return true;
    }

    Body frame(const Body& body) {
        Body out;
        for (const Stmt& s : body) {
            if (holds({s}, Stmt::Kind::barrier)) {
                Stmt copy = s;
                copy.body = frame(s.body);
                copy.orelse = frame(s.orelse);
                out.push_back(std::move(copy));
            } else if (!share(s, out)) {
                out.push_back(s);
            }
        }
        return out;
    }
};

}  // namespace

std::vector<VarId> share_lane_loops(Function& function, const CpuOptions& options) {
    LaneLoops loops{function, options, assigned_vars(function, function.body)};
    Body body = loops.frame(function.body);
    function.body = std::move(body);
    return std::move(loops.counters);
}

}  // namespace xcuda::passes
