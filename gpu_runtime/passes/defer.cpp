#include "passes/defer.hpp"

#include <utility>

#include "ir/walk.hpp"
#include "passes/build.hpp"
#include "passes/prove_ranges.hpp"
#include "passes/uniform.hpp"

namespace xcuda::passes {

using namespace ir;

namespace {

constexpr int most_deferred = 8;  // checks in a loop: each keeps an index and a flag in registers

const Type boolean = scalar(DType::b1), integer = scalar(DType::i64, true);

struct Deferrer {
    Function& f;
    ExprP bad;  // the flag
    int done = 0;

    ExprP hidden(const char* name, const Type& type) const {
        Var made;
        made.name = name;
        made.type = type;
        made.role = Var::Role::hidden;
        return var(f.add(std::move(made)), type);
    }
    ExprP kept(const char* name, const ExprP& value, Body& before) const {
        const ExprP v = hidden(name, value->type);
        before.push_back(assign(var_of(*v), value, value->place));
        return v;
    }

    // The load where it is in range, 0 where it is not; its indices and whether they are in range are worked out before.
    ExprP load(const ExprP& e, Body& before) {
        Access access = access_of(*e);
        std::vector<ExprP> args = e->args;
        ExprP fine;
        for (int d = 0; d < args[0]->type.ndim; ++d) {
            if (!(access.checked >> d & 1)) continue;
            ExprP& index = args[static_cast<std::size_t>(d) + 1];
            const ExprP n = dim_of(args[0], d);
            index = kept("index", cast(index, integer), before);
            if (access.wrap >> d & 1)
                index = kept("index",
                             make(Op::select, integer,
                                  {compare(Op::lt, index, int_constant(0)), add(index, n), index}),
                             before);
            fine = both(fine, both(compare(Op::ge, index, int_constant(0)), compare(Op::lt, index, n)));
            access.checked &= static_cast<std::uint8_t>(~(1u << d));
            access.wrap &= static_cast<std::uint8_t>(~(1u << d));
            ++done;
        }
        fine = kept("fine", fine, before);
        before.push_back(assign(
            var_of(*bad), make(Op::bit_or, boolean, {bad, make(Op::logic_not, boolean, {fine})}), e->place));
        auto made = std::make_shared<Expr>(*e);
        made->args = std::move(args);
        made->payload = access;
        const ExprP zero = is_floating(e->type.dtype)   ? constant(0.0, e->type)
                           : e->type.dtype == DType::b1 ? constant(false, e->type)
                                                        : constant(std::int64_t{0}, e->type);
        return make(Op::select, e->type, {fine, std::move(made), zero}, e->place);
    }

    static ExprP dim_of(const ExprP& array, int d) {
        const auto& extents = array->type.extents;
        const auto axis = static_cast<std::size_t>(d);
        return axis < extents.size() ? int_constant(extents[axis]) : dim(array, d);
    }

    // Checked loads that are evaluated in any case; others stay, and are counted as not deferred.
    ExprP expr(const ExprP& e, Body& before) {
        if (e->args.empty()) return e;
        std::vector<ExprP> args = e->args;
        const bool chooses = e->op == Op::select || e->op == Op::logic_and || e->op == Op::logic_or;
        for (std::size_t i = 0; i < (chooses ? 1 : args.size()); ++i) args[i] = expr(args[i], before);
        const ExprP made = args == e->args ? e : with_args(*e, std::move(args));
        const bool number = is_integer(e->type.dtype) || e->type.dtype == DType::b1 ||
                            e->type.dtype == DType::f32 || e->type.dtype == DType::f64;
        return e->op == Op::load && access_of(*e).checked && number ? load(made, before) : made;
    }

    Body body(const Body& from) {
        Body made;
        for (const Stmt& given : from) {
            Stmt s = given;
            for (ExprP& e : s.exprs) e = expr(e, made);
            s.body = body(given.body);
            s.orelse = body(given.orelse);
            made.push_back(std::move(s));
        }
        return made;
    }
};

bool only_computes(const Body& body) {
    bool pure = true;
    each_stmt(body, [&](const Stmt& s) {
        pure &=
            s.kind == Stmt::Kind::assign || s.kind == Stmt::Kind::branch || s.kind == Stmt::Kind::loop_range;
        for (const ExprP& e : s.exprs) pure &= !has_effect(*e);
    });
    return pure;
}

}  // namespace

Body deferred_checks(Function& f, const Stmt& loop, const Stmt& careful) {
    const int tests = tests_in(loop.body);
    if (loop.kind != Stmt::Kind::loop_range || !loop.orelse.empty() || tests == 0 || tests > most_deferred ||
        !only_computes(loop.body) || tests_in(Body{loop}) != tests)
        return {};
    const std::size_t vars = f.vars.size();
    Deferrer deferrer{f, nullptr};
    deferrer.bad = deferrer.hidden("bad", boolean);
    Stmt fast = loop;
    fast.body = deferrer.body(loop.body);
    if (deferrer.done != tests) {
        f.vars.resize(vars);
        return {};
    }
    Body made, again;
    const std::vector<bool> assigned = assigned_vars(f, Body{loop});
    for (std::size_t v = 0; v < vars; ++v) {
        if (!assigned[v] || !f.vars[v].type.is_scalar()) continue;
        const ExprP now = var(static_cast<VarId>(v), f.vars[v].type);
        again.push_back(assign(static_cast<VarId>(v), deferrer.kept("kept", now, made), loop.place));
    }
    made.push_back(assign(var_of(*deferrer.bad), constant(false, boolean), loop.place));
    made.push_back(std::move(fast));
    again.push_back(careful);
    again.back().hint = Stmt::Hint::cold;
    made.push_back(branch(deferrer.bad, std::move(again)));
    return made;
}

}  // namespace xcuda::passes
