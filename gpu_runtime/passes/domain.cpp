#include "passes/domain.hpp"

#include <algorithm>

#include "ir/walk.hpp"
#include "passes/build.hpp"
#include "passes/cpu_tile_plan.hpp"
#include "passes/guard.hpp"
#include "passes/inline.hpp"
#include "passes/propagate.hpp"
#include "passes/structure.hpp"

namespace xcuda::passes {

using namespace ir;

namespace {

// Known before the launch: parameters, their shapes, constants.
bool known_on_host(const Function& f, const Expr& e) {
    if (e.op == Op::var) return f.vars[var_of(e)].role == Var::Role::parameter;
    if (e.op == Op::coord || e.op == Op::load || e.op == Op::atomic || e.op == Op::invoke || e.op == Op::call)
        return false;
    return std::all_of(e.args.begin(), e.args.end(), [&](const ExprP& a) { return known_on_host(f, *a); });
}

int axes_used(const Function& f) {
    int axes = 0;
    each_expr(f.body, [&](const Expr& e) {
        if (e.op == Op::coord &&
            (coord_of(e).kind == Coord::Kind::global || coord_of(e).kind == Coord::Kind::thread))
            axes = std::max(axes, coord_of(e).axis + 1);
    });
    return axes;
}

// Where a kernel asks for the index in the grid, its place in the block says nothing of how many there are:
// `cuda.threadIdx.x == 0` picks one of each block. As a block's number it bounds nothing.
void ignore_places_in_blocks(Function& f) {
    std::array<bool, 3> global{};
    each_expr(f.body, [&](const Expr& e) {
        if (e.op == Op::coord && coord_of(e).kind == Coord::Kind::global)
            global[static_cast<std::size_t>(coord_of(e).axis)] = true;
    });
    rewrite_exprs(f.body, [&](const ExprP& e) {
        const bool place = e->op == Op::coord && coord_of(*e).kind == Coord::Kind::thread &&
                           global[static_cast<std::size_t>(coord_of(*e).axis)];
        return place ? coord(Coord::Kind::block, coord_of(*e).axis, e->place) : e;
    });
}

// No grid covers an axis yet: a high bound below every other.
const ExprP& unbounded() {
    static const ExprP e = int_constant(INT64_MAX);
    return e;
}

ExprP without_unbounded(const ExprP& e) {  // min(unbounded, e) is e
    if (e->op == Op::select && e->args[1] == unbounded()) return without_unbounded(e->args[2]);
    if (e->op != Op::select) return e;
    return minimum(without_unbounded(e->args[1]), without_unbounded(e->args[2]));
}

void from_guard(const Function& f, Body body, std::array<ExprP, 3>& extent) {
    Box box;
    for (int axis = 0; axis < 3; ++axis) {
        box.low[axis] = int_constant(0);
        box.high[axis] = unbounded();
    }
    strip_guard(f, body, box);
    for (int axis = 0; axis < 3; ++axis) {
        if (extent[axis] || box.high[axis] == unbounded()) continue;
        const ExprP bound = without_unbounded(box.high[axis]);
        if (known_on_host(f, *bound)) extent[axis] = bound;
    }
}

// `if i < n:` may stand after other statements; `for k in range(grid(1), n, gridsize(1))` covers n.
void from_statements(const Function& f, const Body& body, std::array<ExprP, 3>& extent) {
    const std::vector<bool> assigned = assigned_vars(f, f.body);
    for (const Stmt& s : body) {
        if (s.kind == Stmt::Kind::branch) from_guard(f, Body{s}, extent);
        if (s.kind == Stmt::Kind::loop_range && known_on_host(f, *s.exprs[1])) {
            const auto start = linear(s.exprs[0], {f, assigned});
            for (int axis = 0; start && axis < 3; ++axis)
                if (!extent[axis] && start->coefficients[axis] && integer_of(start->coefficients[axis]) == 1)
                    extent[axis] = s.exprs[1];
        }
    }
}

void from_written_array(const Function& f, std::array<ExprP, 3>& extent) {
    const std::vector<bool> assigned = assigned_vars(f, f.body);
    each_access(f, f.body, assigned, assignment_counts(f, f.body), [&](const AccessSeen& seen) {
        if (!seen.writes || seen.access.joined || seen.array->type.space != Space::global) return;
        for (std::size_t d = 0; d < seen.indices.size(); ++d) {
            const auto sum = linear(seen.indices[d], seen.scope);
            for (int axis = 0; sum && axis < 3; ++axis)
                if (!extent[axis] && sum->coefficients[axis] && integer_of(sum->coefficients[axis]) == 1)
                    extent[axis] = dim(seen.array, static_cast<int>(d));
        }
    });
}

}  // namespace

std::vector<ExprP> launch_domain(const Module& module) {
    Module copy = module;
    inline_calls(copy);
    Function& f = copy.kernel();
    structure_returns(f.body);
    propagate(f);
    const int axes = axes_used(f);
    if (axes == 0) return {int_constant(1)};  // no index asked for: one thread
    ignore_places_in_blocks(f);
    std::array<ExprP, 3> extent{};
    from_guard(f, f.body, extent);
    from_statements(f, f.body, extent);
    from_written_array(f, extent);
    std::vector<ExprP> domain;
    for (int axis = 0; axis < axes; ++axis) {
        if (!extent[axis]) return {};
        domain.push_back(extent[axis]);
    }
    return domain;
}

std::vector<ParameterUse> parameter_uses(const Module& module) {
    // By function and parameter, to a fixpoint over calls.
    std::vector<std::vector<ParameterUse>> uses;
    for (const Function& f : module.functions) uses.emplace_back(f.params.size());
    const auto position = [](const Function& f, VarId v) {
        const auto found = std::find(f.params.begin(), f.params.end(), v);
        return found == f.params.end() ? -1 : static_cast<int>(found - f.params.begin());
    };
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t index = 0; index < module.functions.size(); ++index) {
            const Function& f = module.functions[index];
            const auto note = [&](const Expr& array, bool read, bool written) {
                const int p = array.op == Op::var ? position(f, var_of(array)) : -1;
                if (p < 0) return;
                ParameterUse& use = uses[index][static_cast<std::size_t>(p)];
                changed |= (read && !use.read) || (written && !use.written);
                use.read |= read;
                use.written |= written;
            };
            each_expr(f.body, [&](const Expr& e) {
                if (e.op == Op::load) note(*e.args[0], true, false);
                if (e.op == Op::atomic) note(*e.args[0], true, true);
                if (e.op != Op::invoke) return;
                const auto callee = static_cast<std::size_t>(std::get<FunctionId>(e.payload).value);
                for (std::size_t a = 0; a < e.args.size(); ++a)
                    if (e.args[a]->type.is_array())
                        note(*e.args[a], uses[callee][a].read, uses[callee][a].written);
            });
            each_stmt(f.body, [&](const Stmt& s) {
                if (s.kind == Stmt::Kind::store) note(*s.exprs[0], false, true);
                // The first of a machine statement's operands is where it writes.
                if (s.kind == Stmt::Kind::machine)
                    for (std::size_t i = 0; i < s.exprs.size(); ++i)
                        if (s.exprs[i]->op == Op::address) note(*s.exprs[i]->args[0], i > 0, i == 0);
            });
        }
    }
    return uses.front();
}

}  // namespace xcuda::passes
