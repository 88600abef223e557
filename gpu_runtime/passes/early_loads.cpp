#include "passes/early_loads.hpp"

#include <algorithm>

#include "ir/walk.hpp"
#include "passes/cpu_region.hpp"
#include "passes/uniform.hpp"

namespace xcuda::passes {

using namespace ir;

namespace {

constexpr std::size_t most_bytes = 192;  // of a thread's registers

struct Early {
    Function& f;
    const std::vector<bool> assigned;
    Body loads{};
    std::vector<ExprP> known{};
    std::size_t bytes = 0;

    // An element whose place is known before the body begins.
    bool early(const Expr& e) const {
        bool good = true;
        for (const ExprP& index : e.args)
            each_expr(index, [&](const Expr& part) {
                good &= part.op != Op::load && !has_effect(part) && !may_fault(part) &&
                        !(part.op == Op::var && assigned[static_cast<std::size_t>(var_of(part))]);
            });
        return good && access_of(e).checked == 0 && e.args[0]->type.space == Space::global;
    }

    ExprP variable(const ExprP& load) {
        for (std::size_t i = 0; i < known.size(); ++i)
            if (same(*known[i], *load)) return read(f, loads[i].var);
        const std::size_t size = info(load->type.dtype).size * static_cast<std::size_t>(load->type.lanes);
        if (bytes + size > most_bytes) return load;
        bytes += size;
        const VarId v = f.add({"early", load->type, Var::Role::hidden, {}});
        known.push_back(load);
        loads.push_back(assign(v, load));
        return read(f, v);
    }

    // What is always evaluated of an expression.
    ExprP moved(const ExprP& e) {
        if (e->op == Op::load && early(*e)) return variable(e);
        if (e->args.empty() || e->op == Op::load) return e;
        const bool conditional =
            e->type.lanes == 1 && (e->op == Op::select || e->op == Op::logic_and || e->op == Op::logic_or);
        std::vector<ExprP> args = e->args;
        for (std::size_t i = 0; i < (conditional ? 1 : args.size()); ++i) args[i] = moved(args[i]);
        return args == e->args ? e : with_args(*e, std::move(args));
    }
};

bool calls(const Body& body) {
    bool found = false;
    each_expr(body, [&](const Expr& e) {
        found |= e.op == Op::call || e.op == Op::truediv || e.op == Op::pow || e.op == Op::floordiv ||
                 e.op == Op::mod;
    });
    return found;
}

}  // namespace

void load_early(Function& function, Body& body) {
    if (!calls(body)) return;
    Early early{function, assigned_vars(function, body)};
    for (Stmt& s : body) {
        if (s.kind != Stmt::Kind::assign && s.kind != Stmt::Kind::store) break;
        const std::size_t last = s.exprs.size();
        const auto ndim = s.kind == Stmt::Kind::store ? static_cast<std::size_t>(s.exprs[0]->type.ndim) : 0;
        for (std::size_t i = s.kind == Stmt::Kind::store ? ndim + 1 : 0; i < last; ++i)
            s.exprs[i] = early.moved(s.exprs[i]);
        if (s.kind == Stmt::Kind::store) break;
    }
    body.insert(body.begin(), std::make_move_iterator(early.loads.begin()),
                std::make_move_iterator(early.loads.end()));
}

}  // namespace xcuda::passes
