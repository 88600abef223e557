#include "ir/verify.hpp"

#include <fmt/format.h>
#include <array>

#include "base/time_unit.hpp"
#include "frontend/functions.hpp"
#include "ir/print.hpp"

namespace xcuda::ir {
namespace {

struct Checker;
using Rule = const char* (*)(const Checker&, const Expr&);  // null, or the rule that does not hold

struct Checker {
    const Module& module;
    const Function& function;
    Stage stage;

    const Type& arg(const Expr& e, std::size_t i) const { return e.args[i]->type; }
    bool typed() const { return stage == Stage::typed; }
};

bool same_scalar(const Type& a, const Type& b) {
    return a.is_scalar() && b.is_scalar() && a.dtype == b.dtype && a.lanes == b.lanes;
}
bool is_bool(const Type& t) { return t.is_scalar() && t.dtype == DType::b1; }
bool is_index(const Type& t) { return t.is_scalar() && is_integer(t.dtype); }

const char* same_arguments(const Checker& c, const Expr& e) {
    for (std::size_t i = 0; i < e.args.size(); ++i)
        if (!same_scalar(c.arg(e, i), e.type)) return "its arguments are of its own type";
    return nullptr;
}

const char* bits(const Checker& c, const Expr& e) {
    if (is_floating(e.type.dtype) || is_complex(e.type.dtype)) return "bits belong to integers";
    return same_arguments(c, e);
}

const char* reals(const Checker& c, const Expr& e) {
    const bool divides = is_floating(e.type.dtype) || is_complex(e.type.dtype);
    return divides ? same_arguments(c, e) : "true division gives a floating or complex type";
}

const char* numbers(const Checker& c, const Expr& e) {
    if (is_time(e.type.dtype)) return "times have no arithmetic but the functions on their integers";
    return e.type.dtype == DType::b1 ? "bools have no arithmetic" : same_arguments(c, e);
}

const char* comparison(const Checker& c, const Expr& e) {
    if (!is_bool(e.type)) return "a comparison is a bool";
    if (e.op < Op::eq && c.arg(e, 0).is_scalar() && is_complex(c.arg(e, 0).dtype))
        return "complex numbers have no order";
    return c.arg(e, 0).is_scalar() && c.arg(e, 0).dtype == c.arg(e, 1).dtype &&
                   c.arg(e, 0).lanes == c.arg(e, 1).lanes
               ? nullptr
               : "both sides of a comparison are of one type";
}

const char* logic(const Checker& c, const Expr& e) {
    for (std::size_t i = 0; i < e.args.size(); ++i)
        if (!is_bool(c.arg(e, i))) return "logic is between bools";
    return is_bool(e.type) ? nullptr : "logic gives a bool";
}

const char* select(const Checker& c, const Expr& e) {
    if (!is_bool(c.arg(e, 0))) return "a select's condition is a bool";
    return same_scalar(c.arg(e, 1), e.type) && same_scalar(c.arg(e, 2), e.type)
               ? nullptr
               : "both sides are of the node's type";
}

const char* cast(const Checker& c, const Expr& e) {
    return c.arg(e, 0).is_scalar() && e.type.is_scalar() ? nullptr : "a cast is between numbers";
}

const char* constant(const Checker&, const Expr& e) {
    if (!std::holds_alternative<Number>(e.payload)) return "a constant holds a number";
    const Number& n = number_of(e);
    const bool fits =
        e.type.dtype == DType::b1 ? std::holds_alternative<bool>(n)
        : is_integer(e.type.dtype) || is_time(e.type.dtype)
            ? std::holds_alternative<std::int64_t>(n) || std::holds_alternative<std::uint64_t>(n)
        : is_complex(e.type.dtype) ? std::holds_alternative<std::complex<double>>(n)
                                   : std::holds_alternative<double>(n);
    return e.type.is_scalar() && fits ? nullptr : "a constant's number is of its type";
}

const char* var(const Checker& c, const Expr& e) {
    if (!std::holds_alternative<VarId>(e.payload)) return "a variable holds its number";
    const VarId id = var_of(e);
    if (id < 0 || id >= static_cast<VarId>(c.function.vars.size()))
        return "a variable is one of the function's";
    const Type& declared = c.function.vars[id].type;
    const bool same =
        declared.kind == e.type.kind && declared.dtype == e.type.dtype && declared.ndim == e.type.ndim;
    return same ? nullptr : "a variable is read with its declared type";
}

const char* call(const Checker& c, const Expr& e) {
    if (!std::holds_alternative<OverloadId>(e.payload)) return "a call names its overload";
    const frontend::Overload& o = frontend::overload(std::get<OverloadId>(e.payload));
    if (o.in.size() != e.args.size()) return "a call has its overload's arguments";
    for (std::size_t i = 0; i < o.in.size(); ++i)
        if (!c.arg(e, i).is_scalar() || c.arg(e, i).dtype != o.in[i])
            return "a call's arguments are of its overload's types";
    return e.type.dtype == o.out ? nullptr : "a call has its overload's result";
}

// Such a node has its place in the order of statements, and no operand beside it.
bool stands_alone(const Expr& e) { return e.op == Op::invoke || effect_of(e) != Effect::none; }

const char* invoke(const Checker& c, const Expr& e) {
    if (!std::holds_alternative<FunctionId>(e.payload)) return "an invoke names its function";
    const int id = std::get<FunctionId>(e.payload).value;
    if (id < 1 || id >= static_cast<int>(c.module.functions.size()))
        return "an invoke names a function of the module";
    const Function& callee = c.module.functions[id];
    if (callee.params.size() != e.args.size()) return "an invoke has its function's arguments";
    for (std::size_t i = 0; i < e.args.size(); ++i) {
        const Type& declared = callee.vars[callee.params[i]].type;
        if (declared.kind != c.arg(e, i).kind || declared.dtype != c.arg(e, i).dtype ||
            declared.ndim != c.arg(e, i).ndim)
            return "an invoke's arguments are of its function's types";
    }
    if (callee.result.is_none()) return e.type.is_none() ? nullptr : "the function gives nothing";
    return e.type.dtype == callee.result.dtype ? nullptr : "an invoke has its function's result";
}

const char* indexed(const Checker& c, const Expr& e, std::size_t after) {
    if (e.args.empty() || e.args[0]->op != Op::var || !c.arg(e, 0).is_array())
        return "its first argument is an array variable";
    const auto ndim = static_cast<std::size_t>(c.arg(e, 0).ndim);
    if (c.typed() ? e.args.size() != 1 + ndim + after : e.args.size() < 1 + ndim + after)
        return "it has one index an axis";
    for (std::size_t i = 1; i <= ndim; ++i)
        if (!is_index(c.arg(e, i))) return "its indices are integers";
    return e.type.dtype == c.arg(e, 0).dtype ? nullptr : "an element has its array's dtype";
}

const char* access_known(const Checker& c, const Access& a) {
    const bool known = a.site >= 0 && a.site < static_cast<int>(c.module.sites.size());
    return a.checked && !known ? "a checked access has a site" : nullptr;
}

const char* load(const Checker& c, const Expr& e) {
    if (!std::holds_alternative<Access>(e.payload)) return "a load says how it is indexed";
    if (const char* broken = access_known(c, access_of(e))) return broken;
    return indexed(c, e, 0);
}

const char* atomic(const Checker& c, const Expr& e) {
    if (!std::holds_alternative<Atomic>(e.payload)) return "an atomic says which";
    const Atomic& a = std::get<Atomic>(e.payload);
    if (const char* broken = access_known(c, a.access)) return broken;
    if (a.kind == Atomic::Kind::address) {
        if (e.type.dtype != DType::u64) return "an address is a uint64";
        Expr element = e;  // the rest holds as for a load
        element.type.dtype = c.arg(e, 0).dtype;
        return indexed(c, element, 0);
    }
    const std::size_t values = a.kind == Atomic::Kind::cas ? 2 : 1;
    for (std::size_t i = e.args.size() - values; i < e.args.size(); ++i)
        if (c.arg(e, i).dtype != e.type.dtype) return "an atomic's values are of its array's dtype";
    if (a.part != Atomic::Part::whole) {
        if (e.type.dtype != part_of(c.arg(e, 0).dtype)) return "an atomic on a part is of the part's dtype";
        Expr element = e;
        element.type.dtype = c.arg(e, 0).dtype;
        return indexed(c, element, values);
    }
    return indexed(c, e, values);
}

const char* division(const Checker& c, const Expr& e) {
    if (is_complex(e.type.dtype)) return "complex numbers have no floor division";
    if (const Access* a = std::get_if<Access>(&e.payload))
        if (const char* broken = access_known(c, *a)) return broken;
    return numbers(c, e);
}

const char* dim(const Checker& c, const Expr& e) {
    if (e.args[0]->op != Op::var || !c.arg(e, 0).is_array()) return "a length is an array variable's";
    const int axis = std::holds_alternative<Axis>(e.payload) ? std::get<Axis>(e.payload).value : -1;
    return axis >= 0 && axis < 2 * c.arg(e, 0).ndim ? nullptr : "a length is of one of the array's axes";
}

const char* coord(const Checker&, const Expr& e) {
    if (!std::holds_alternative<Coord>(e.payload)) return "a coordinate says which";
    return coord_of(e).axis >= 0 && coord_of(e).axis < 3 && e.type.dtype == DType::i64 ? nullptr
                                                                                       : "axes are 0, 1, 2";
}

const char* bound(const Checker& c, const Expr& e) {
    if (!std::holds_alternative<Access>(e.payload)) return "a view's index says how it is tested";
    if (const char* broken = access_known(c, access_of(e))) return broken;
    return is_index(c.arg(e, 0)) && is_index(c.arg(e, 1)) && e.type.dtype == DType::i64
               ? nullptr
               : "a view's index and length are integers";
}

const char* print(const Checker& c, const Expr& e) {
    if (!std::holds_alternative<Access>(e.payload)) return "a print says what";
    const int site = access_of(e).site;
    if (site < 0 || site >= static_cast<int>(c.module.sites.size())) return "a print has its site";
    for (std::size_t i = 0; i < e.args.size(); ++i)
        if (!c.arg(e, i).is_scalar()) return "a print's arguments are numbers";
    return e.type.is_none() ? nullptr : "a print gives nothing";
}

const char* element(const Checker& c, const Expr& e) {
    if (e.args.empty() || e.args[0]->op != Op::var || !c.arg(e, 0).is_tile())
        return "an element is a tile variable's";
    for (std::size_t i = 1; i < e.args.size(); ++i)
        if (!is_index(c.arg(e, i))) return "its indices are integers";
    const bool all = e.args.size() == 1 || e.args.size() == 1 + c.arg(e, 0).extents.size();
    return all && e.type.dtype == c.arg(e, 0).dtype ? nullptr : "it has one index an axis, or none";
}

const char* position(const Checker&, const Expr& e) {
    const int axis = std::holds_alternative<Axis>(e.payload) ? std::get<Axis>(e.payload).value : -1;
    return axis >= 0 && axis < static_cast<int>(e.type.extents.size())
               ? nullptr
               : "a position is along one of its axes";
}

const char* spread(const Checker& c, const Expr& e) {
    return c.arg(e, 0).is_scalar() && c.arg(e, 0).dtype == e.type.dtype ? nullptr
                                                                        : "a spread keeps its dtype";
}

const char* address(const Checker& c, const Expr& e) { return indexed(c, e, 0); }

const char* widened(const Checker& c, const Expr& e) {
    return c.arg(e, 0).is_scalar() && c.arg(e, 0).lanes == 1 && c.arg(e, 0).dtype == e.type.dtype &&
                   e.type.lanes > 1
               ? nullptr
               : "lanes are made of one number";
}

const char* apart(const Checker& c, const Expr& e) {
    const bool arrays = c.arg(e, 0).is_array() && c.arg(e, 1).is_array();
    return arrays && is_bool(e.type) ? nullptr : "it is asked of two arrays";
}

struct Row {
    Op op;
    int args;  // -1: any
    Stage from;
    Rule rule;
};
constexpr Stage T = Stage::typed, C = Stage::cpu;

// The written table: what each operation takes and gives.
constexpr std::array rows{
    Row{Op::constant, 0, T, constant}, Row{Op::var, 0, T, var},          Row{Op::neg, 1, T, numbers},
    Row{Op::bit_not, 1, T, bits},      Row{Op::logic_not, 1, T, logic},  Row{Op::add, 2, T, numbers},
    Row{Op::sub, 2, T, numbers},       Row{Op::mul, 2, T, numbers},      Row{Op::truediv, 2, T, reals},
    Row{Op::floordiv, 2, T, division}, Row{Op::mod, 2, T, division},     Row{Op::pow, 2, T, numbers},
    Row{Op::shl, 2, T, bits},          Row{Op::shr, 2, T, bits},         Row{Op::bit_and, 2, T, bits},
    Row{Op::bit_or, 2, T, bits},       Row{Op::bit_xor, 2, T, bits},     Row{Op::lt, 2, T, comparison},
    Row{Op::le, 2, T, comparison},     Row{Op::gt, 2, T, comparison},    Row{Op::ge, 2, T, comparison},
    Row{Op::eq, 2, T, comparison},     Row{Op::ne, 2, T, comparison},    Row{Op::logic_and, 2, T, logic},
    Row{Op::logic_or, 2, T, logic},    Row{Op::select, 3, T, select},    Row{Op::cast, 1, T, cast},
    Row{Op::call, -1, T, call},        Row{Op::invoke, -1, T, invoke},   Row{Op::load, -1, T, load},
    Row{Op::dim, 1, T, dim},           Row{Op::coord, 0, T, coord},      Row{Op::atomic, -1, T, atomic},
    Row{Op::ramp, 1, C, widened},      Row{Op::splat, 1, C, widened},    Row{Op::bound, 2, T, bound},
    Row{Op::print, -1, T, print},      Row{Op::element, -1, T, element}, Row{Op::position, 0, T, position},
    Row{Op::spread, 1, T, spread},     Row{Op::address, -1, C, address}, Row{Op::apart, 2, C, apart},
};

struct Walker {
    Checker c;
    const char* after;

    [[noreturn]] void broken(const std::string& what, const char* rule) const {
        throw bug(fmt::format("after {}, in {}(): {}: {}", after, c.function.name, what, rule));
    }

    void expr(const Expr& e, bool whole) const {
        for (const ExprP& a : e.args) {
            if (!a) broken("an operation", "an argument is missing");
            expr(*a, false);
        }
        for (const Row& r : rows) {
            if (r.op != e.op) continue;
            const char* rule = nullptr;
            if (r.from == Stage::cpu && c.typed())
                rule = "it belongs after the CPU passes";
            else if (r.args >= 0 && r.args != static_cast<int>(e.args.size()))
                rule = "the number of its arguments";
            else if (!whole && stands_alone(e))
                rule = "an invoke, and a call with an effect, stand alone in a statement";
            else if (c.typed() && e.type.lanes != 1)
                rule = "lanes belong after the CPU passes";
            else
                rule = r.rule(c, e);
            if (rule) broken(to_string(c.function, e), rule);
            return;
        }
        broken(to_string(c.function, e), "the table has no such operation");
    }

    void condition(const Stmt& s) const {
        if (s.exprs.size() != 1 || !is_bool(s.exprs[0]->type))
            broken("a branch or loop", "its condition is a bool");
    }

    void variable(const Stmt& s) const {
        if (s.var < 0 || s.var >= static_cast<VarId>(c.function.vars.size()))
            broken("an assignment", "its variable is known");
    }

    void statement(const Stmt& s, int loops) const {
        using Kind = Stmt::Kind;
        const bool takes_invoke = s.kind == Kind::assign || s.kind == Kind::evaluate;
        for (const ExprP& e : s.exprs) {
            if (!e) broken("a statement", "an expression is missing");
            expr(*e, takes_invoke);
        }
        if (s.kind > Kind::fault && c.typed()) broken("a statement", "it belongs after the CPU passes");
        if ((s.kind == Kind::break_loop || s.kind == Kind::continue_loop) && loops == 0)
            broken("break or continue", "it stands in a loop");
        if (s.kind == Kind::branch || s.kind == Kind::loop_while) condition(s);
        if (s.kind == Kind::assign) {
            variable(s);
            const Type& declared = c.function.vars[s.var].type;
            if (declared.dtype != s.exprs.at(0)->type.dtype || declared.is_array() ||
                !s.exprs[0]->type.is_scalar())
                broken(to_string(c.function, *s.exprs[0]) + " to " + c.function.vars[s.var].name,
                       "a value has its variable's type");
        }
        if (s.kind == Kind::tile && s.tile.kind != TileOp::Kind::store) variable(s);
        if (s.kind == Kind::loop_range) {
            variable(s);
            if (s.exprs.size() != 3) broken("a loop", "it has start, stop and step");
            for (const ExprP& e : s.exprs)
                if (!is_index(e->type)) broken("a loop", "its bounds are integers");
        }
        if (s.kind == Kind::store) {
            const Type array = s.exprs.size() >= 2 ? s.exprs[0]->type : Type{};
            const std::size_t least = 2 + static_cast<std::size_t>(array.ndim);
            if (!array.is_array() || s.exprs[0]->op != Op::var)
                broken("a store", "it is into an array variable");
            if (c.typed() ? s.exprs.size() != least : s.exprs.size() < least)
                broken("a store", "it has one index an axis");
            for (int axis = 1; axis <= array.ndim; ++axis)
                if (!is_index(s.exprs[axis]->type)) broken("a store", "its indices are integers");
            if (s.exprs[1 + array.ndim]->type.dtype != array.dtype)
                broken("a store", "a value has its array's dtype");
            if (const char* rule = access_known(c, s.access)) broken("a store", rule);
        }
        if (s.kind == Kind::fault && (s.site < 0 || s.site >= static_cast<int>(c.module.sites.size())))
            broken("a fault", "it has a site");
        if (s.kind == Kind::leave && c.typed() && s.exprs.size() != (c.function.result.is_none() ? 0u : 1u))
            broken("a return", "it gives what the function says");
        const bool loop = s.kind == Kind::loop_range || s.kind == Kind::loop_while;
        body(s.body, loops + loop);
        body(s.orelse, loops);
    }

    void body(const Body& statements, int loops) const {
        for (const Stmt& s : statements) statement(s, loops);
    }
};

}  // namespace

void verify(const Module& module, Stage stage, const char* after) {
    for (const Function& f : module.functions) Walker{{module, f, stage}, after}.body(f.body, 0);
    if (module.tiles) Walker{{module, *module.tiles, stage}, after}.body(module.tiles->body, 0);
    if (module.fiber) Walker{{module, *module.fiber, stage}, after}.body(module.fiber->body, 0);
}

}  // namespace xcuda::ir
