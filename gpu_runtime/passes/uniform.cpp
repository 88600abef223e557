#include "passes/uniform.hpp"

#include "ir/walk.hpp"
#include "passes/structure.hpp"

namespace xcuda::passes {

using namespace ir;

AxisMask Varying::of(const Expr& e) const {
    AxisMask mask = 0;
    for (const ExprP& a : e.args) mask |= of(*a);
    switch (e.op) {
        case Op::var: return mask | vars[var_of(e)];
        case Op::coord: {
            const Coord& c = coord_of(e);
            const bool differs = c.kind == Coord::Kind::thread || c.kind == Coord::Kind::global;
            return differs ? AxisMask(1u << c.axis) : AxisMask(0);
        }
        case Op::load: return e.args[0]->type.space == Space::local ? all_axes : mask;
        case Op::atomic:
        case Op::invoke: return all_axes;
        case Op::call:
            switch (effect_of(e)) {
                case Effect::none: return mask;
                case Effect::order:
                case Effect::warp: return all_axes;
                default: return 0;  // every thread is told the same
            }
        default: return mask;
    }
}

namespace {

// One walk; `control` holds the axes along which threads may have parted ways.
struct Walk {
    Varying& known;
    bool changed = false;

    void raise(VarId v, AxisMask mask) {
        if ((known.vars[v] | mask) == known.vars[v]) return;
        known.vars[v] |= mask;
        changed = true;
    }

    static bool jumps(const Body& body) {  // to this loop's end or head
        for (const Stmt& s : body) {
            if (s.kind == Stmt::Kind::break_loop || s.kind == Stmt::Kind::continue_loop) return true;
            const bool loop = s.kind == Stmt::Kind::loop_range || s.kind == Stmt::Kind::loop_while;
            if ((!loop && jumps(s.body)) || jumps(s.orelse)) return true;
        }
        return false;
    }

    AxisMask jump_control(const Body& body, AxisMask control) const {
        AxisMask mask = 0;
        for (const Stmt& s : body) {
            if (s.kind != Stmt::Kind::branch) continue;
            if (jumps(s.body) || jumps(s.orelse)) {
                const AxisMask inner = control | known.of(*s.exprs[0]);
                mask |= inner | jump_control(s.body, inner) | jump_control(s.orelse, inner);
            }
        }
        return mask;
    }

    void body(const Body& b, AxisMask control) {
        for (const Stmt& s : b) {
            switch (s.kind) {
                case Stmt::Kind::assign: raise(s.var, known.of(*s.exprs[0]) | control); break;
                case Stmt::Kind::branch: {
                    const AxisMask inner = control | known.of(*s.exprs[0]);
                    body(s.body, inner);
                    body(s.orelse, inner);
                    if (inner != 0 && (has_leave(s.body) || has_leave(s.orelse))) control = all_axes;
                    break;
                }
                case Stmt::Kind::loop_range: {
                    AxisMask inner = control | jump_control(s.body, control);
                    for (const ExprP& e : s.exprs) inner |= known.of(*e);
                    raise(s.var, inner);
                    body(s.body, inner);
                    body(s.orelse, inner);
                    break;
                }
                case Stmt::Kind::loop_while: {
                    const AxisMask inner = control | known.of(*s.exprs[0]) | jump_control(s.body, control);
                    body(s.body, inner);
                    body(s.orelse, inner);
                    break;
                }
                default: break;
            }
        }
    }
};

}  // namespace

Varying varying(const Function& function, const Body& body, std::vector<AxisMask> live_in) {
    Varying known{std::move(live_in)};
    known.vars.resize(function.vars.size(), 0);
    for (bool again = true; again;) {
        Walk walk{known};
        walk.body(body, 0);
        again = walk.changed;
    }
    return known;
}

std::vector<int> assignment_counts(const Function& function, const Body& body) {
    std::vector<int> counts(function.vars.size(), 0);
    each_stmt(body, [&](const Stmt& s) {
        if (s.kind == Stmt::Kind::assign || s.kind == Stmt::Kind::loop_range) ++counts[s.var];
    });
    return counts;
}

std::vector<bool> assigned_vars(const Function& function, const Body& body) {
    std::vector<bool> assigned(function.vars.size(), false);
    each_stmt(body, [&](const Stmt& s) {
        if (s.kind == Stmt::Kind::assign || s.kind == Stmt::Kind::loop_range) assigned[s.var] = true;
    });
    return assigned;
}

std::vector<int> read_counts(const Function& function, const Body& body) {
    std::vector<int> counts(function.vars.size(), 0);
    each_expr(body, [&](const Expr& e) {
        if (e.op == Op::var) ++counts[var_of(e)];
    });
    return counts;
}

}  // namespace xcuda::passes
