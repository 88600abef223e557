#include "passes/cpu_strides.hpp"

#include <algorithm>

#include "ir/walk.hpp"
#include "passes/build.hpp"
#include "passes/structure.hpp"
#include "passes/uniform.hpp"

namespace xcuda::passes {

using namespace ir;

namespace {

bool is_coordinate(const Expr& e, Coord::Kind kind, int axis) {
    return e.op == Op::coord && coord_of(e) == Coord{kind, axis};
}

// `if gridsize(axis) == 0: raise`, which range's step asks for; a launch that runs has threads.
bool is_step_test(const Stmt& s, int axis) {
    return s.kind == Stmt::Kind::branch && s.orelse.empty() && s.body.size() == 1 &&
           s.body[0].kind == Stmt::Kind::fault && s.exprs[0]->op == Op::eq &&
           is_coordinate(*s.exprs[0]->args[0], Coord::Kind::grid_size, axis) &&
           integer_of(s.exprs[0]->args[1]) == 0;
}

// Over parameters and the launch, the same all the time.
bool known_at_launch(const Function& f, const Expr& e, const std::vector<bool>& assigned) {
    if (e.op == Op::var)
        return f.vars[var_of(e)].role == Var::Role::parameter &&
               !assigned[static_cast<std::size_t>(var_of(e))];
    if (e.op == Op::coord) return coord_of(e).kind == Coord::Kind::grid_size;
    if (e.op == Op::load || e.op == Op::atomic || e.op == Op::invoke || e.op == Op::call || e.op == Op::bound)
        return false;
    return !may_fault(e) && std::all_of(e.args.begin(), e.args.end(),
                                        [&](const ExprP& a) { return known_at_launch(f, *a, assigned); });
}

// True where a turn reads one of its variables before it has assigned it: it was left there by the turn before.
bool carries(const Body& body, const std::vector<bool>& own, std::vector<bool>& known) {
    for (const Stmt& s : body) {
        bool early = false;
        for (const ExprP& e : s.exprs)
            each_expr(e, [&](const Expr& n) {
                if (n.op != Op::var) return;
                const auto v = static_cast<std::size_t>(var_of(n));
                early |= own[v] && !known[v];
            });
        if (early) return true;
        std::vector<bool> then = known, otherwise = known;
        if (s.kind == Stmt::Kind::loop_range) then[static_cast<std::size_t>(s.var)] = true;
        if (carries(s.body, own, then) || carries(s.orelse, own, otherwise)) return true;
        if (s.kind == Stmt::Kind::branch)
            for (std::size_t v = 0; v < known.size(); ++v) known[v] = then[v] && otherwise[v];
        if (s.kind == Stmt::Kind::assign) known[static_cast<std::size_t>(s.var)] = true;
    }
    return false;
}

using Indices = std::vector<ExprP>;

// What a turn does to memory is its own: an array that it writes is touched only at one place, named by the loop's
// variable; what it changes by atomics it does not read otherwise.
bool turns_meet_in_memory(const Function& f, const Body& body, VarId loop) {
    struct Use {
        VarId array;
        Indices at;
        enum { read, written, atomic } how;
    };
    std::vector<Use> uses;
    bool unknown = false;
    const auto note = [&](const std::vector<ExprP>& parts, int ndim, decltype(Use::how) how) {
        if (parts[0]->op != Op::var || f.vars[var_of(*parts[0])].role != Var::Role::parameter) {
            unknown = true;
            return;
        }
        uses.push_back({var_of(*parts[0]), {parts.begin() + 1, parts.begin() + 1 + ndim}, how});
    };
    each_expr(body, [&](const Expr& e) {
        if (e.op == Op::load) note(e.args, e.args[0]->type.ndim, Use::read);
        if (e.op == Op::atomic) note(e.args, e.args[0]->type.ndim, Use::atomic);
        unknown |= e.op == Op::invoke || effect_of(e) != Effect::none;
    });
    each_stmt(body, [&](const Stmt& s) {
        if (s.kind == Stmt::Kind::store) note(s.exprs, s.exprs[0]->type.ndim, Use::written);
    });
    if (unknown) return true;
    const auto own_place = [&](const Indices& at) {
        return std::any_of(at.begin(), at.end(),
                           [&](const ExprP& i) { return i->op == Op::var && var_of(*i) == loop; });
    };
    const auto same_place = [](const Indices& a, const Indices& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                          [](const ExprP& x, const ExprP& y) { return same(*x, *y); });
    };
    for (const Use& a : uses) {
        if (a.how == Use::read) continue;
        if (a.how == Use::written && !own_place(a.at)) return true;
        for (const Use& b : uses) {
            if (a.array != b.array || (a.how == Use::atomic && b.how == Use::atomic)) continue;
            if (a.how == Use::atomic || b.how == Use::atomic || !same_place(a.at, b.at)) return true;
        }
    }
    return false;
}

bool is_stride(const Function& f, const Body& before, const Stmt& loop, int axis) {
    if (loop.kind != Stmt::Kind::loop_range || !loop.orelse.empty()) return false;
    if (!is_coordinate(*loop.exprs[0], Coord::Kind::global, axis) ||
        !is_coordinate(*loop.exprs[2], Coord::Kind::grid_size, axis))
        return false;
    if (!std::all_of(before.begin(), before.end(), [&](const Stmt& s) { return is_step_test(s, axis); }))
        return false;
    if (breaks(loop.body) || continues(loop.body) || has_leave(loop.body)) return false;
    const std::vector<bool> own = assigned_vars(f, loop.body);
    if (own[static_cast<std::size_t>(loop.var)] || !known_at_launch(f, *loop.exprs[1], own)) return false;
    bool asks = false;  // which thread it is
    each_expr(loop.body, [&](const Expr& e) { asks |= is_coordinate(e, Coord::Kind::global, axis); });
    std::vector<bool> known(own.size(), false);
    return !asks && !carries(loop.body, own, known) && !turns_meet_in_memory(f, loop.body, loop.var);
}

}  // namespace

unsigned take_strides(Function& function, Body& body, Box& domain) {
    unsigned taken = 0;
    for (bool found = true; found && !body.empty();) {
        found = false;
        Stmt loop = body.back();
        const Body before(body.begin(), body.end() - 1);
        for (int axis = 0; axis < 3 && !found; ++axis) {
            if (taken >> axis & 1 || !is_stride(function, before, loop, axis)) continue;
            found = true;
            taken |= 1u << axis;
            domain.high[static_cast<std::size_t>(axis)] = loop.exprs[1];
            const Type type = function.vars[loop.var].type;
            rewrite_exprs(loop.body, [&](const ExprP& e) {
                return e->op == Op::var && var_of(*e) == loop.var
                           ? cast(coord(Coord::Kind::global, axis), type)
                           : e;
            });
            body = std::move(loop.body);
        }
    }
    return taken;
}

}  // namespace xcuda::passes
