#include "passes/inline.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include "ir/walk.hpp"
#include "passes/structure.hpp"

namespace xcuda::passes {

using namespace ir;

namespace {

constexpr std::size_t largest_inlined =
    400;  // statements of a kernel after inlining; beyond it calls stay calls

// Every return ends its path: no return inside a loop.
bool tail_returns(const Body& b) {
    for (const Stmt& s : b) {
        const bool loop = s.kind == Stmt::Kind::loop_range || s.kind == Stmt::Kind::loop_while;
        if (loop && (has_leave(s.body) || has_leave(s.orelse))) return false;
        if (!tail_returns(s.body) || !tail_returns(s.orelse)) return false;
    }
    return true;
}

bool always_leaves(const Body& b) {
    for (const Stmt& s : b) {
        if (s.kind == Stmt::Kind::leave) return true;
        if (s.kind == Stmt::Kind::branch && always_leaves(s.body) && always_leaves(s.orelse)) return true;
    }
    return false;
}

// `return e` becomes `result = e`; what follows a branch that may return moves into the side that goes on.
// False where a path both returns and goes on behind a deeper branch: then the rest would stand twice.
bool returns_to(Body& b, VarId result) {
    for (std::size_t i = 0; i < b.size(); ++i) {
        Stmt& s = b[i];
        if (s.kind == Stmt::Kind::leave) {
            if (s.exprs.empty() || result < 0)
                b.resize(i);
            else {
                b[i] = assign(result, s.exprs[0], s.place);
                b.resize(i + 1);
            }
            return true;
        }
        if (s.kind != Stmt::Kind::branch || (!has_leave(s.body) && !has_leave(s.orelse))) continue;
        Body rest(std::make_move_iterator(b.begin() + static_cast<std::ptrdiff_t>(i) + 1),
                  std::make_move_iterator(b.end()));
        b.resize(i + 1);
        Stmt& branch = b[i];
        const bool then_ends = always_leaves(branch.body), else_ends = always_leaves(branch.orelse);
        if (!rest.empty() && !then_ends && !else_ends) return false;
        Body& goes_on = then_ends ? branch.orelse : branch.body;
        if (!(then_ends && else_ends))
            for (Stmt& r : rest) goes_on.push_back(std::move(r));
        return returns_to(branch.body, result) && returns_to(branch.orelse, result);
    }
    return true;
}

// Functions that hold a part of the block: a barrier or a shared array, or a call of such a function.
std::vector<bool> holding_block_parts(const Module& module) {
    std::vector<bool> holds(module.functions.size(), false);
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t i = 1; i < holds.size(); ++i) {
            if (holds[i]) continue;
            const Function& f = module.functions[i];
            bool found = std::any_of(f.vars.begin(), f.vars.end(),
                                     [](const Var& v) { return v.role == Var::Role::shared; });
            found = found || strongest_effect(f.body) >= Effect::warp;
            each_expr(f.body, [&](const Expr& e) {
                if (e.op == Op::invoke)
                    found = found || holds[static_cast<std::size_t>(std::get<FunctionId>(e.payload).value)];
            });
            changed |= found;
            holds[i] = found;
        }
    }
    return holds;
}

struct Inliner {
    Module& module;
    const std::vector<bool>& must;  // by function: inlined however large the kernel is
    bool all = true;                // the others too
    bool changed = false;

    const Expr* call_of(const Stmt& s) const {
        if (s.kind != Stmt::Kind::assign && s.kind != Stmt::Kind::evaluate) return nullptr;
        return s.exprs[0]->op == Op::invoke ? s.exprs[0].get() : nullptr;
    }

    void body(Function& caller, Body& b) {
        Body out;
        for (Stmt& s : b) {
            body(caller, s.body);
            body(caller, s.orelse);
            const Expr* call = call_of(s);
            if (call && expand(caller, s, *call, out))
                changed = true;
            else
                out.push_back(std::move(s));
        }
        b = std::move(out);
    }

    int parameter_of(const Function& caller, VarId v) const {
        for (std::size_t p = 0; p < caller.params.size(); ++p)
            if (caller.params[p] == v) return static_cast<int>(p);
        return -1;
    }

    bool expand(Function& caller, const Stmt& s, const Expr& call, Body& out) {
        if (module.functions[static_cast<std::size_t>(std::get<FunctionId>(call.payload).value)].foreign)
            return false;
        if (!all && !must[static_cast<std::size_t>(std::get<FunctionId>(call.payload).value)]) return false;
        const Function callee = module.functions[std::get<FunctionId>(call.payload).value];
        if (!tail_returns(callee.body)) return false;
        for (std::size_t p = 0; p < callee.params.size(); ++p)
            if (call.args[p]->type.is_array() && call.args[p]->op != Op::var) return false;
        Body inner = callee.body;
        VarId result = -1;
        if (!callee.result.is_none()) result = static_cast<VarId>(callee.vars.size());
        if (!returns_to(inner, result)) return false;

        std::map<VarId, ExprP> arrays;
        std::vector<VarId> renamed(callee.vars.size() + 1, -1);
        for (std::size_t p = 0; p < callee.params.size(); ++p)
            if (call.args[p]->type.is_array()) arrays[callee.params[p]] = call.args[p];
        for (std::size_t v = 0; v < callee.vars.size(); ++v) {
            if (arrays.contains(static_cast<VarId>(v))) continue;
            Var copy = callee.vars[v];
            if (copy.role == Var::Role::parameter) copy.role = Var::Role::local;
            renamed[v] = caller.add(std::move(copy));
        }
        if (result >= 0)
            renamed[result] =
                caller.add({callee.name + "_result", callee.result, Var::Role::hidden, s.place});
        for (std::size_t p = 0; p < callee.params.size(); ++p)
            if (!call.args[p]->type.is_array())
                out.push_back(assign(renamed[callee.params[p]], call.args[p], s.place));

        rename(caller, callee, inner, renamed, arrays);
        for (Stmt& i : inner) out.push_back(std::move(i));
        if (s.kind == Stmt::Kind::assign)
            out.push_back(assign(s.var, var(renamed[result], callee.result), s.place));
        return true;
    }

    // A site inside the callee, told in the caller's terms.
    int site_for(const Function& caller, const Function& callee, int site,
                 const std::map<VarId, ExprP>& arrays) {
        if (site < 0) return site;
        Site copy = module.sites[static_cast<std::size_t>(site)];
        if (copy.parameter < 0 || copy.parameter >= static_cast<int>(callee.params.size())) return site;
        const auto found = arrays.find(callee.params[static_cast<std::size_t>(copy.parameter)]);
        if (found == arrays.end()) return site;
        const Var& array = caller.vars[var_of(*found->second)];
        copy.parameter = parameter_of(caller, var_of(*found->second));
        copy.extents = array.type.extents;
        module.sites.push_back(std::move(copy));
        return static_cast<int>(module.sites.size()) - 1;
    }

    void rename(const Function& caller, const Function& callee, Body& b, const std::vector<VarId>& renamed,
                const std::map<VarId, ExprP>& arrays) {
        const auto change = [&](const ExprP& e) -> ExprP {
            if (e->op == Op::var) {
                const auto found = arrays.find(var_of(*e));
                if (found != arrays.end()) return found->second;
                return var(renamed[var_of(*e)], e->type, e->place);
            }
            auto node = std::make_shared<Expr>(*e);
            if (auto* access = std::get_if<Access>(&node->payload))
                access->site = site_for(caller, callee, access->site, arrays);
            else if (auto* atomic = std::get_if<Atomic>(&node->payload))
                atomic->access.site = site_for(caller, callee, atomic->access.site, arrays);
            else
                return e;
            return node;
        };
        for (Stmt& s : b) {
            for (ExprP& e : s.exprs) e = rewrite(e, change);
            if (s.var >= 0) s.var = renamed[s.var];
            if (s.kind == Stmt::Kind::store)
                s.access.site = s.site = site_for(caller, callee, s.access.site, arrays);
            rename(caller, callee, s.body, renamed, arrays);
            rename(caller, callee, s.orelse, renamed, arrays);
        }
    }
};

std::size_t statements(const Body& b) {
    std::size_t n = 0;
    each_stmt(b, [&](const Stmt&) { ++n; });
    return n;
}

void drop_uncalled(Module& module) {
    std::vector<bool> called(module.functions.size(), false);
    const std::function<void(std::size_t)> reach = [&](std::size_t index) {
        if (called[index]) return;
        called[index] = true;
        each_expr(module.functions[index].body, [&](const Expr& e) {
            if (e.op == Op::invoke) reach(static_cast<std::size_t>(std::get<FunctionId>(e.payload).value));
        });
    };
    reach(0);
    std::vector<int> moved(module.functions.size(), -1);
    std::vector<Function> kept;
    for (std::size_t i = 0; i < module.functions.size(); ++i) {
        if (!called[i]) continue;
        moved[i] = static_cast<int>(kept.size());
        kept.push_back(std::move(module.functions[i]));
    }
    module.functions = std::move(kept);
    for (Function& f : module.functions)
        rewrite_exprs(f.body, [&](const ExprP& e) -> ExprP {
            if (e->op != Op::invoke) return e;
            auto node = std::make_shared<Expr>(*e);
            node->payload =
                FunctionId{moved[static_cast<std::size_t>(std::get<FunctionId>(e->payload).value)]};
            return node;
        });
}

}  // namespace

void inline_calls(Module& module) {
    const std::vector<bool> must = holding_block_parts(module);
    for (bool again = true; again;) {
        Inliner inliner{module, must, statements(module.kernel().body) < largest_inlined};
        Function kernel = std::move(module.kernel());
        inliner.body(kernel, kernel.body);
        module.kernel() = std::move(kernel);
        again = inliner.changed;
    }
    drop_uncalled(module);
}

}  // namespace xcuda::passes
