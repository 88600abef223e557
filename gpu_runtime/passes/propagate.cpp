#include "passes/propagate.hpp"

#include <map>

#include "ir/walk.hpp"
#include "passes/uniform.hpp"

namespace xcuda::passes {

using namespace ir;

namespace {

constexpr int largest_definition = 48;  // nodes; a longer one is cheaper to keep in a variable

int size_of(const Expr& e) {
    int n = 1;
    for (const ExprP& a : e.args) n += size_of(*a);
    return n;
}

bool is_coord(const Expr& e, Coord::Kind kind) { return e.op == Op::coord && coord_of(e).kind == kind; }

// thread + block * block_dim of one axis, in any order.
ExprP as_global(const ExprP& e) {
    if (e->op != Op::add) return e;
    for (int side = 0; side < 2; ++side) {
        const Expr &thread = *e->args[side], &base = *e->args[1 - side];
        if (!is_coord(thread, Coord::Kind::thread) || base.op != Op::mul) continue;
        for (int inner = 0; inner < 2; ++inner) {
            const Expr &block = *base.args[inner], &width = *base.args[1 - inner];
            if (is_coord(block, Coord::Kind::block) && is_coord(width, Coord::Kind::block_dim) &&
                coord_of(block).axis == coord_of(thread).axis &&
                coord_of(width).axis == coord_of(thread).axis)
                return coord(Coord::Kind::global, coord_of(thread).axis, e->place);
        }
    }
    return e;
}

struct Propagation {
    Function& f;
    std::vector<int> counts;
    std::map<VarId, ExprP> definitions;

    bool stable(const Expr& e) const {  // its value cannot change between the definition and a use
        switch (e.op) {
            case Op::constant:
            case Op::coord:
            case Op::dim: return true;
            case Op::var:
                return f.vars[var_of(e)].type.is_scalar() && counts[var_of(e)] <= 1 &&
                       !f.vars[var_of(e)].maybe_unbound;
            case Op::add:
            case Op::sub:
            case Op::mul:
            case Op::neg:
            case Op::cast: break;
            case Op::select:  // the ends of a slice
                return is_integer(e.args[0]->args.empty() ? DType::b1 : e.args[0]->args[0]->type.dtype) &&
                       e.args[0]->op >= Op::lt && e.args[0]->op <= Op::ne && stable(*e.args[0]->args[0]) &&
                       stable(*e.args[0]->args[1]) && stable(*e.args[1]) && stable(*e.args[2]);
            case Op::floordiv:
            case Op::mod:
            case Op::shl:
            case Op::shr:
                if (may_fault(e)) return false;
                break;
            default: return false;
        }
        for (const ExprP& a : e.args)
            if (!is_integer(a->type.dtype) || !stable(*a)) return false;
        return true;
    }

    ExprP substitute(const ExprP& e) const {
        return rewrite(e, [&](const ExprP& n) -> ExprP {
            if (n->op != Op::var) return as_global(n);
            const auto found = definitions.find(var_of(*n));
            return found == definitions.end() ? n : found->second;
        });
    }

    void body(Body& b) {
        for (Stmt& s : b) {
            for (ExprP& e : s.exprs) e = substitute(e);
            if (s.kind == Stmt::Kind::assign) {
                const Var& v = f.vars[s.var];
                const ExprP& value = s.exprs[0];
                if (counts[s.var] == 1 && v.role != Var::Role::parameter && !v.maybe_unbound &&
                    v.type.is_scalar() && is_integer(v.type.dtype) && v.type.dtype == value->type.dtype &&
                    stable(*value) && size_of(*value) <= largest_definition)
                    definitions[s.var] = value;
            }
            body(s.body);
            body(s.orelse);
        }
    }
};

bool drop_unread(const Function& f, Body& b, const std::vector<int>& reads) {
    bool dropped = false;
    for (auto s = b.begin(); s != b.end();) {
        const bool dead = s->kind == Stmt::Kind::assign && reads[s->var] == 0 &&
                          f.vars[s->var].role != Var::Role::parameter && !has_effect(*s->exprs[0]) &&
                          !may_fault(*s->exprs[0]);
        if (dead) {
            s = b.erase(s);
            dropped = true;
            continue;
        }
        dropped |= drop_unread(f, s->body, reads);
        dropped |= drop_unread(f, s->orelse, reads);
        ++s;
    }
    return dropped;
}

}  // namespace

void propagate(Function& function) {
    Propagation p{function, assignment_counts(function, function.body), {}};
    p.body(function.body);
    while (drop_unread(function, function.body, read_counts(function, function.body))) {}
}

}  // namespace xcuda::passes
