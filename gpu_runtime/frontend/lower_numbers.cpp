// Python's functions of numbers that are no plain table entry: round, divmod, pow, log with a base.
#include <fmt/format.h>

#include "frontend/function_table.hpp"
#include "frontend/lowering.hpp"

namespace xcuda::frontend {

using ir::ExprP;
using ir::Op;
using ir::Type;

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
