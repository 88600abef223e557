#include "passes/prove.hpp"

#include <algorithm>
#include <map>

#include "ir/walk.hpp"
#include "passes/build.hpp"
#include "passes/uniform.hpp"

namespace xcuda::passes {

using namespace ir;

namespace {

struct Below {
    ExprP value, bound;  // value < bound holds here
};

struct Prover {
    Function& f;
    std::vector<int> counts;
    std::vector<Below> facts{};
    std::map<VarId, bool> loop_starts_at_zero_or_above{};

    bool settled(const Expr& e) const {  // means the same wherever it stands
        if (e.op == Op::load || e.op == Op::atomic || e.op == Op::invoke || effect_of(e) != Effect::none)
            return false;
        if (e.op == Op::var && !e.type.is_array() && counts[var_of(e)] > 1) return false;
        return std::all_of(e.args.begin(), e.args.end(), [&](const ExprP& a) { return settled(*a); });
    }

    bool not_negative(const Expr& e) const {
        const auto all = [&] {
            return std::all_of(e.args.begin(), e.args.end(),
                               [&](const ExprP& a) { return not_negative(*a); });
        };
        switch (e.op) {
            case Op::constant: {
                const auto* v = std::get_if<std::int64_t>(&number_of(e));
                return v && *v >= 0;
            }
            case Op::coord: return true;
            case Op::dim: return std::get<Axis>(e.payload).value < e.args[0]->type.ndim;
            case Op::var: {
                const auto found = loop_starts_at_zero_or_above.find(var_of(e));
                return found != loop_starts_at_zero_or_above.end() && found->second;
            }
            case Op::add:
            case Op::mul:
            case Op::floordiv:
            case Op::mod:
            case Op::shr: return e.type.dtype == DType::i64 && all();
            case Op::cast: return is_integer(e.type.dtype) && info(e.type.dtype).size == 8 && all();
            default: return is_integer(e.type.dtype) && !is_signed(e.type.dtype);
        }
    }

    void assume(const ExprP& condition) {
        if (condition->op == Op::logic_and) {
            for (const ExprP& a : condition->args) assume(a);
            return;
        }
        const bool less = condition->op == Op::lt, greater = condition->op == Op::gt;
        if (!less && !greater) return;
        const ExprP &small = condition->args[greater], &large = condition->args[less];
        if (settled(*small) && settled(*large)) facts.push_back({small, large});
    }

    bool known_below(const Expr& value, const ExprP& bound) const {
        return std::any_of(facts.begin(), facts.end(), [&](const Below& fact) {
            return same(*fact.value, value) && same(*fact.bound, *bound);
        });
    }

    Access proven(Access access, const ExprP& array, const ExprP* indices) const {
        for (int d = 0; d < array->type.ndim; ++d) {
            const auto bit = static_cast<std::uint8_t>(1u << d);
            if (!not_negative(*indices[d])) continue;
            access.wrap &= static_cast<std::uint8_t>(~bit);
            if (known_below(*indices[d], dim(array, d))) access.checked &= static_cast<std::uint8_t>(~bit);
        }
        return access;
    }

    ExprP expr(const ExprP& e) const {
        return rewrite(e, [&](const ExprP& n) -> ExprP {
            if (n->op == Op::bound)
                return not_negative(*n->args[0]) && known_below(*n->args[0], n->args[1]) ? n->args[0] : n;
            if (n->op != Op::load && n->op != Op::atomic) return n;
            auto node = std::make_shared<Expr>(*n);
            if (auto* atomic = std::get_if<Atomic>(&node->payload))
                atomic->access = proven(atomic->access, n->args[0], &n->args[1]);
            else
                node->payload = proven(access_of(*n), n->args[0], &n->args[1]);
            return node;
        });
    }

    void body(Body& b) {
        for (Stmt& s : b) {
            for (ExprP& e : s.exprs) e = expr(e);
            if (s.kind == Stmt::Kind::store) s.access = proven(s.access, s.exprs[0], &s.exprs[1]);
            const std::size_t before = facts.size();
            const bool counted = s.kind == Stmt::Kind::loop_range && counts[s.var] == 1;
            if (s.kind == Stmt::Kind::branch) assume(s.exprs[0]);
            if (counted && integer_of(s.exprs[2]).value_or(0) > 0) {
                loop_starts_at_zero_or_above[s.var] = not_negative(*s.exprs[0]);
                if (settled(*s.exprs[1])) facts.push_back({var(s.var, f.vars[s.var].type), s.exprs[1]});
            }
            body(s.body);
            facts.resize(before);
            if (counted) loop_starts_at_zero_or_above.erase(s.var);
            body(s.orelse);
        }
    }
};

}  // namespace

void prove_bounds(Function& function) {
    Prover{function, assignment_counts(function, function.body)}.body(function.body);
}

}  // namespace xcuda::passes
