// Python's functions of numbers that are no plain table entry: round, divmod, pow, log with a base.
#include <fmt/format.h>

#include "frontend/function_table.hpp"
#include "frontend/lowering.hpp"

namespace xcuda::frontend {

using ir::ExprP;

// round(x) is an int; round(x, n) and numpy.round keep x's dtype.
Value Lowering::call_round(const Node& node, bool builtin, const Value* of) {
    std::vector<std::string> parameters = {"number", "ndigits"};
    if (!builtin) parameters = {"a", "decimals", "out"};
    if (of) parameters.erase(parameters.begin());
    std::vector<const Node*> args = bind(node, "round", parameters, of ? 0 : 1), given;
    for (const Node* n : args)
        if (n) given.push_back(n);
    std::vector<Value> values = operands(given);
    for (std::size_t i = 0; i < values.size(); ++i) values[i].place = given[i]->place;
    if (of) {
        args.insert(args.begin(), nullptr);
        values.insert(values.begin(), *of);
    }
    std::size_t taken = 1;
    Value digits, into;
    if (args[1]) digits = values[taken++];
    if (!builtin && args[2]) into = values[taken++];
    const auto rounded = [this, digits, builtin, place = node.place](const ExprP& x) {
        return round(x, digits, builtin, place);
    };
    const Value& x = values[0];
    if (!many(x) && into.kind == Value::Kind::none) return scalar_value(rounded(number(x, x.place)));
    if (builtin) number(x, x.place);  // refuses
    if (into.kind == Value::Kind::none)
        return mapped({x}, node.place, [rounded](const Items& items) { return rounded(items[0]); });
    if (!into.is_indexed())
        throw refused(args[2]->place, "out of round() must be an array, found " + spoken(into));
    const Ufunc function{"round", 1, 1, [rounded](const Items& items) { return Items{rounded(items[0])}; }};
    into = settled_view(into);
    write_elements({into}, together({x}, node.place), function, false, node.place);
    return into;
}

ExprP Lowering::round(const ExprP& x, const Value& digits, bool builtin, const Place& place) {
    if (x->type.is_none()) return x;
    const bool real = is_floating(x->type.dtype);
    if (is_complex(x->type.dtype) && (builtin || digits.kind != Value::Kind::none))
        throw refused(place, "round() does not take " + spoken(x->type),
                      "round z.real and z.imag, or write numpy.rint(z)");
    if (digits.kind != Value::Kind::none) {
        const Place& here = digits.place.known() ? digits.place : place;
        const ExprP n = number(digits, here);
        if (!n->type.is_none() && !is_integer(n->type.dtype))
            throw refused(here, "round() needs an integer number of digits, found " + spoken(n->type));
        if (!real) {
            const auto constant = constant_int(digits);
            if (constant && *constant >= 0) return x;
            throw refused(place, "an integer can't be rounded to tens in a kernel yet",
                          "write (x + 5) // 10 * 10");
        }
        return table_apply(*find_function("builtins.round"), "numpy.round",
                           {x, convert(n, ir::scalar(DType::i64, n->type.weak))}, place);
    }
    if (is_complex(x->type.dtype)) return table_apply(*find_function("numpy.rint"), "numpy.rint", {x}, place);
    if (!real) return builtin ? python_cast(DType::i64, true, x, place) : x;
    const ExprP whole = table_apply(*find_function("numpy.rint"), "numpy.rint", {x}, place);
    return builtin ? python_cast(DType::i64, true, whole, place) : whole;
}

Value Lowering::call_divmod(const Node& node) {
    const auto args = bind(node, "divmod", {"a", "b"}, 2);
    const std::vector<Value> v = operands(args);
    ExprP a = number(v[0], args[0]->place), b = number(v[1], args[1]->place);
    if (a->type.is_none() || b->type.is_none())
        return tuple_value({scalar_value(arithmetic(Op::mod, a, b, node.place)),
                            scalar_value(arithmetic(Op::mod, a, b, node.place))});
    if (!repeatable(*a)) a = spill(a);
    if (!repeatable(*b)) b = spill(b);
    return tuple_value({scalar_value(arithmetic(Op::floordiv, a, b, node.place)),
                        scalar_value(arithmetic(Op::mod, a, b, node.place))});
}

Value Lowering::call_pow(const Node& node) {
    const auto args = bind(node, "pow", {"base", "exp", "mod"}, 2);
    if (args[2])
        throw refused(args[2]->place, "pow() with a modulus is not part of the kernel language",
                      "write a % m in a loop");
    const std::vector<Value> v = operands({args[0], args[1]});
    return scalar_value(
        arithmetic(Op::pow, number(v[0], args[0]->place), number(v[1], args[1]->place), node.place));
}

/// math's functions of whole numbers, with the errors that Python raises; isclose; operator's that are no arithmetic.
std::optional<Value> Lowering::call_whole(const std::string& spelling, const Node& node) {
    const Place& place = node.place;
    const auto arguments = [&](std::vector<std::string> names, std::size_t required) {
        std::vector<const Node*> given;
        for (const Node* n : bind(node, spelling.substr(spelling.find('.') + 1), std::move(names), required))
            if (n) given.push_back(n);
        return operands(given);
    };
    const auto whole = [&](const Value& v) {
        const ExprP x = number(v, v.place.known() ? v.place : place);
        if (!x->type.is_none() && !is_integer(x->type.dtype) && x->type.dtype != DType::b1)
            throw refused(v.place, spelling + "() takes whole numbers, found " + spoken(x->type),
                          "write int(...)");
        return spill(convert(x, ir::scalar(DType::i64, true)));
    };
    const auto is_at_least_0 = [&](const ExprP& x) {
        if (!x->type.is_none())
            stop_unless(comparison(Op::ge, x, ir::int_constant(0, place), place), "ValueError",
                        spelling + "() takes no negative numbers", place);
    };
    const auto apply = [&](const char* name, std::vector<ExprP> args) {
        ExprP made = table_apply(internal_function(name), name, std::move(args), place);
        return made->type.is_none() ? scalar_value(made)
                                    : scalar_value(python_cast(made->type.dtype, true, made, place));
    };
    if (spelling == "math.isqrt" || spelling == "math.factorial") {
        const ExprP n = whole(arguments({"n"}, 1)[0]);
        is_at_least_0(n);
        if (spelling == "math.isqrt") return apply("isqrt", {n});
        if (!n->type.is_none())
            stop_unless(comparison(Op::le, n, ir::int_constant(20, place), place), "OverflowError",
                        "the factorial does not fit 64 bits", place);
        return apply("factorial", {n});
    }
    if (spelling == "math.comb" || spelling == "math.perm") {
        const std::vector<Value> v = arguments({"n", "k"}, spelling == "math.comb" ? 2 : 1);
        const ExprP n = whole(v[0]), k = v.size() > 1 ? whole(v[1]) : n;
        is_at_least_0(n), is_at_least_0(k);
        return apply(spelling == "math.comb" ? "comb" : "perm", {n, k});
    }
    if (spelling == "math.isclose" || spelling == "numpy.isclose") {
        const bool numpy = spelling.starts_with("numpy");
        const std::vector<std::string> names = numpy
                                                   ? std::vector<std::string>{"a", "b", "rtol", "atol"}
                                                   : std::vector<std::string>{"a", "b", "rel_tol", "abs_tol"};
        const std::vector<const Node*> bound = bind(node, "isclose", names, 2);
        std::vector<const Node*> given;
        for (const Node* n : bound)
            if (n) given.push_back(n);
        std::vector<Value> v = operands(given);
        const auto tolerance = [&](std::size_t at, double otherwise) {
            const std::size_t taken = at == 3 && !bound[2] ? 2 : at;
            return bound[at] ? v[taken]
                             : scalar_value(ir::constant(otherwise, ir::scalar(DType::f64, true), place));
        };
        const Value relative = tolerance(2, numpy ? 1e-5 : 1e-9), absolute = tolerance(3, numpy ? 1e-8 : 0.0);
        return mapped({v[0], v[1], relative, absolute}, place, [this, numpy, place](const Items& x) {
            std::vector<ExprP> wide;
            for (const ExprP& e : x)
                wide.push_back(e->type.is_none() ? e : convert(e, ir::scalar(DType::f64, e->type.weak)));
            const char* name = numpy ? "isclose_numpy" : "isclose";
            return table_apply(internal_function(name), name, std::move(wide), place);
        });
    }
    if (spelling == "operator.index") return scalar_value(whole(arguments({"a"}, 1)[0]));
    for (const auto& [name, op] : {std::pair{"operator.is_", "Is"}, std::pair{"operator.is_not", "IsNot"}})
        if (spelling == name) {
            const std::vector<Value> v = arguments({"a", "b"}, 2);
            return compare_pair(op, v[0], v[1], place);
        }
    if (spelling == "operator.contains") {
        const std::vector<Value> v = arguments({"a", "b"}, 2);
        return compare_pair("In", v[1], v[0], place);
    }
    return std::nullopt;
}

/// x.bit_length(), x.is_integer(), x.astype(dtype), ...; nothing where numbers in a kernel have no such method.
std::optional<Value> Lowering::number_method(const Value& v, const std::string& name, const Node& node) {
    const ExprP& x = v.expr;
    const Place& place = node.place;
    if (name == "view") return number_view(x, node);
    if (name == "astype") {
        const Node& given = *bind(node, name, {"dtype"}, 1)[0];
        const Value type = value(given);
        const auto dtype = dtype_from(type);
        if (!dtype) throw refused(given.place, "expected a dtype, found " + spoken(type), "write np.float32");
        return scalar_value(python_cast(*dtype, false, x, place));
    }
    if (name != "item" && name != "conjugate" && name != "conj" && name != "bit_count" &&
        name != "bit_length" && name != "is_integer")
        return std::nullopt;
    bind(node, name, {}, 0);
    if (name == "item") return v;
    if (name == "conjugate" || name == "conj") return part("conjugate", x, place);
    if (x->type.is_none()) return v;
    if (name == "is_integer") {
        const ir::Type yes = ir::scalar(DType::b1, true);
        if (!is_floating(x->type.dtype)) return scalar_value(ir::constant(true, yes, place));
        const ExprP kept = spill(x);
        const ExprP whole = table_apply(*find_function("numpy.trunc"), "numpy.trunc", {kept}, place);
        const ExprP finite = table_apply(*find_function("numpy.isfinite"), "numpy.isfinite", {kept}, place);
        return scalar_value(
            ir::make(Op::logic_and, yes, {finite, comparison(Op::eq, whole, kept, place)}, place));
    }
    const char* function = name == "bit_count" ? "bit_count" : "bit_length";
    return scalar_value(
        python_cast(DType::i64, true, table_apply(internal_function(function), function, {x}, place), place));
}

Value Lowering::call_log(const Node& node, const std::string& spelling) {
    const KernelFunction& log = *find_function(spelling);
    const auto args = bind(node, "log", {"x", "base"}, 1);
    if (!args[1]) return scalar_value(table_apply(log, spelling, {number(*args[0])}, node.place));
    const std::vector<Value> v = operands({args[0], args[1]});
    const ExprP x = table_apply(log, spelling, {number(v[0], args[0]->place)}, node.place);
    const ExprP base = table_apply(log, spelling, {number(v[1], args[1]->place)}, node.place);
    return scalar_value(arithmetic(Op::truediv, x, base, node.place));
}

}  // namespace xcuda::frontend
