#include "frontend/tell.hpp"

#include <algorithm>
#include <map>

#include "base/dtype.hpp"
#include "ir/walk.hpp"

namespace xcuda::frontend {

using namespace ir;

namespace {

constexpr std::size_t most = 2;  // values that xc_fail() takes

class Teller {
public:
    Teller(Function& f, const std::vector<Site>& sites) : f_(f), sites_(sites) {
        each_stmt(f.body, [&](const Stmt& s) {
            if (s.var < 0) return;
            ++assigned_[s.var];
            place_[s.var] = s.kind == Stmt::Kind::assign && s.exprs[0]->op == Op::coord;
        });
    }

    void walk(Body& body, const ExprP& condition) {
        for (Stmt& s : body) {
            if (s.kind == Stmt::Kind::fault && condition) take(s, condition);
            const ExprP& here = s.kind == Stmt::Kind::branch ? s.exprs[0] : condition;
            walk(s.body, here);
            walk(s.orelse, here);
        }
    }

private:
    void take(Stmt& fault, const ExprP& condition) {
        const Site::Kind kind = sites_[static_cast<std::size_t>(fault.site)].kind;
        if (kind != Site::Kind::assertion && kind != Site::Kind::raised) return;
        each_expr(condition, [&](const Expr& e) {
            if (e.op != Op::var || fault.exprs.size() == most) return;
            const VarId v = var_of(e);
            const Var& var = f_.vars[static_cast<std::size_t>(v)];
            const bool number = var.type.is_scalar() && !is_complex(var.type.dtype);
            const bool follows = assigned_[v] == 1 && place_[v];
            if (!number || var.role == Var::Role::hidden || var.maybe_unbound || follows) return;
            const auto same = [&](const ExprP& taken) { return var_of(*taken) == v; };
            if (std::none_of(fault.exprs.begin(), fault.exprs.end(), same))
                fault.exprs.push_back(ir::var(v, var.type, e.place));
        });
    }

    Function& f_;
    const std::vector<Site>& sites_;
    std::map<VarId, int> assigned_;
    std::map<VarId, bool> place_;  // a thread's
};

}  // namespace

void tell_conditions(Function& function, const std::vector<Site>& sites) {
    Teller(function, sites).walk(function.body, nullptr);
}

}  // namespace xcuda::frontend
