// NumPy's functions of numbers: of numbers as they are, of arrays element by element, with out= and where= as NumPy has them.
#include <fmt/format.h>
#include <array>

#include "frontend/function_table.hpp"
#include "frontend/lowering.hpp"

namespace xcuda::frontend {

using ir::ExprP;
using ir::Op;

namespace {

const ir::Type weak_bool = ir::scalar(DType::b1, true);

// NumPy's and operator's functions that are Python's operators.
struct OperatorTwin {
    std::string_view name;  // without the module
    std::string_view ast;   // ast's operator
};
constexpr std::array twins{
    OperatorTwin{"add", "Add"},
    OperatorTwin{"subtract", "Sub"},
    OperatorTwin{"sub", "Sub"},
    OperatorTwin{"multiply", "Mult"},
    OperatorTwin{"mul", "Mult"},
    OperatorTwin{"divide", "Div"},
    OperatorTwin{"true_divide", "Div"},
    OperatorTwin{"truediv", "Div"},
    OperatorTwin{"floor_divide", "FloorDiv"},
    OperatorTwin{"floordiv", "FloorDiv"},
    OperatorTwin{"remainder", "Mod"},
    OperatorTwin{"mod", "Mod"},
    OperatorTwin{"power", "Pow"},
    OperatorTwin{"float_power", "Pow"},
    OperatorTwin{"left_shift", "LShift"},
    OperatorTwin{"right_shift", "RShift"},
    OperatorTwin{"bitwise_and", "BitAnd"},
    OperatorTwin{"bitwise_or", "BitOr"},
    OperatorTwin{"bitwise_xor", "BitXor"},
    OperatorTwin{"less", "Lt"},
    OperatorTwin{"less_equal", "LtE"},
    OperatorTwin{"greater", "Gt"},
    OperatorTwin{"greater_equal", "GtE"},
    OperatorTwin{"equal", "Eq"},
    OperatorTwin{"not_equal", "NotEq"},
};

// Functions of the table that take arrays and have no out=.
constexpr std::array without_out{"real", "imag", "angle"};

bool has_out(const std::string& name) {
    return std::find(without_out.begin(), without_out.end(), name) == without_out.end();
}

std::string how_many(std::size_t n, const char* what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

}  // namespace

// NumPy's and operator's functions that operators do, not the table.
std::optional<Lowering::Ufunc> Lowering::operator_ufunc(const std::string& module, const std::string& name,
                                                        const Place& place) {
    const bool numpy = module == "numpy";
    if (module == "math" && name != "frexp" && name != "modf") return std::nullopt;
    const auto one = [&](auto step) {
        return Ufunc{name, 1, 1, [step](const Items& x) { return Items{step(x[0])}; }, numpy};
    };
    const auto two = [&](auto step) {
        return Ufunc{name, 2, 1, [step](const Items& x) { return Items{step(x[0], x[1])}; }, numpy};
    };
    for (const OperatorTwin& t : twins) {
        if (name != t.name) continue;
        const Op op = *operator_named(std::string(t.ast));
        const bool order = op >= Op::lt && op <= Op::ne;
        return two([this, op, order, numpy, place](const ExprP& a, const ExprP& b) {
            if (!order) return arithmetic(op, a, b, place);
            return numpy ? numpy_comparison(op, a, b, place) : comparison(op, a, b, place);
        });
    }
    const auto negated = [&](Op op) {
        return one([this, op, place](const ExprP& a) { return negate(op, a, place); });
    };
    if (name == "logical_not" || name == "not_") return negated(Op::logic_not);
    if (name == "invert" || name == "inv" || name == "bitwise_not") return negated(Op::bit_not);
    if (name == "negative" || name == "neg") return negated(Op::neg);
    if (name == "positive" || name == "pos") return one([](const ExprP& a) { return a; });
    if (name == "divmod" && numpy)
        return Ufunc{name, 2, 2, [this, place](const Items& x) {
                         return Items{arithmetic(Op::floordiv, x[0], x[1], place),
                                      arithmetic(Op::mod, x[0], x[1], place)};
                     }};
    if (name == "frexp" || name == "modf") {
        const std::string spelling = module + "." + name;
        return Ufunc{
            name,
            1,
            2,
            [this, spelling, python = !numpy, fraction = name == "modf", place](const Items& x) {
                const ExprP first = table_apply(*find_function(spelling), spelling, {x[0]}, place);
                if (first->type.is_none()) return Items{first, first};
                const char* other = fraction ? "numpy.trunc" : "frexp_exponent";
                const KernelFunction& function = fraction ? *find_function(other) : internal_function(other);
                const ExprP whole = table_apply(
                    function, other, {convert(x[0], ir::scalar(first->type.dtype, x[0]->type.weak))}, place);
                return Items{first,
                             python && !fraction ? python_cast(DType::i64, true, whole, place) : whole};
            },
            numpy,
            numpy};
    }
    if (!numpy) return std::nullopt;
    if (name != "logical_and" && name != "logical_or" && name != "logical_xor") return std::nullopt;
    const Op op = name == "logical_and" ? Op::bit_and : name == "logical_or" ? Op::bit_or : Op::bit_xor;
    return two([this, op, place](const ExprP& a, const ExprP& b) {
        const auto numpy_bool = [&](const ExprP& e) {
            const ExprP t = truth(e);
            return python_cast(DType::b1, t->type.weak && e->type.weak, t, place);
        };
        return arithmetic(op, numpy_bool(a), numpy_bool(b), place);
    });
}

/// For "numpy.sin" and the like; not for math's functions, which take numbers alone.
bool Lowering::takes_arrays(const std::string& spelling) {
    return spelling.starts_with("numpy.") || spelling.starts_with("scipy.special.") ||
           spelling == "builtins.abs";
}

Value Lowering::ufunc(const Ufunc& f, const Node& node) {
    const Call c = call_of(node);
    const bool out_allowed = f.takes_out && has_out(f.name);
    const std::size_t most = f.inputs + (out_allowed ? f.outputs : 0), found = c.positional.size();
    std::vector<const Node*> nodes(c.positional.begin(),
                                   c.positional.begin() + static_cast<std::ptrdiff_t>(std::min(found, most)));
    const Node *out_node = nullptr, *where_node = nullptr;
    for (const auto& [key, value] : c.keywords) {
        if (!out_allowed || (key != "out" && key != "where"))
            throw refused(value->place,
                          out_allowed ? fmt::format("{}() has no argument '{}' in a kernel", f.name, key)
                                      : fmt::format("{}() takes no keyword arguments in a kernel", f.name),
                          out_allowed ? "it takes out= and where=" : "");
        (key == "out" ? out_node : where_node) = value;
    }
    if (found < f.inputs || found > most)
        throw refused(
            node.place, fmt::format("{}() takes {}, found {}", f.name, how_many(f.inputs, "argument"), found),
            fmt::format("write {}({})", f.name, std::string_view("x, y, z").substr(0, 3 * f.inputs - 2)));
    if (found > f.inputs && out_node)
        throw refused(out_node->place, fmt::format("{}() got 'out' twice", f.name));
    for (const Node* n : {out_node, where_node})
        if (n) nodes.push_back(n);
    std::vector<Value> values = operands(nodes);
    for (std::size_t i = 0; i < values.size(); ++i) values[i].place = nodes[i]->place;

    std::vector<Value> inputs(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(f.inputs)), outs;
    std::size_t at = f.inputs;
    for (; at < std::min(found, most); ++at) outs.push_back(values[at]);
    if (out_node) {
        const Value& given = values[at++];
        if (given.is_tuple())
            outs = given.items;
        else
            outs.push_back(given);
    }
    if (where_node) inputs.push_back(values[at++]);
    if (!outs.empty() &&
        std::all_of(outs.begin(), outs.end(), [](const Value& v) { return v.kind == Value::Kind::none; }))
        outs.clear();
    if (outs.empty() && where_node)
        throw refused(where_node->place, "where= leaves elements as they are: it needs out=",
                      fmt::format("give out=, or write np.where(mask, {}(...), other)", f.name));
    if (!outs.empty() && outs.size() != f.outputs)
        throw refused(node.place, fmt::format("{}() gives {}, found {} for out", f.name,
                                              how_many(f.outputs, "array"), outs.size()));
    const bool arrays = f.of_arrays && std::any_of(inputs.begin(), inputs.end(), many);
    if (outs.empty() && f.outputs == 1 && seen_among(inputs))
        return seen_map(
            std::move(inputs), [apply = f.apply](const Items& x) { return apply(x)[0]; }, node.place);
    if (!arrays && outs.empty()) {
        Items numbers;
        for (const Value& v : inputs) numbers.push_back(number(v, v.place));
        expect_broadcast(numbers, node.place);
        if (f.outputs > 1)
            for (ExprP& e : numbers)
                if (!e->type.is_none() && !repeatable(*e)) e = spill(e);
        const Items results = f.apply(numbers);
        if (f.outputs == 1) return scalar_value(results[0]);
        std::vector<Value> items;
        for (const ExprP& e : results) items.push_back(scalar_value(e));
        return tuple_value(std::move(items));
    }
    Operands all = together(std::move(inputs), node.place);
    if (!outs.empty()) {
        for (Value& v : outs) {
            if (!v.is_indexed())
                throw refused(v.place.known() ? v.place : node.place,
                              fmt::format("out of {}() must be an array, found {}", f.name, spoken(v)),
                              "pass an array, or a part of one such as A[i:i + 1]");
            v = settled_view(v);
        }
        write_elements(outs, all, f, where_node != nullptr, node.place);
        return outs.size() == 1 ? outs[0] : tuple_value(outs);
    }
    std::vector<Value> results;
    for (std::size_t k = 0; k < f.outputs; ++k)
        results.push_back(expression_value(
            {all.lengths,
             [this, k, inputs_at = all.at, apply = f.apply, several = f.outputs > 1](const Items& indices) {
                 Items items = inputs_at(indices);
                 if (several)
                     for (ExprP& e : items)
                         if (!e->type.is_none() && !repeatable(*e)) e = spill(e);
                 return apply(items)[k];
             },
             all.reads}));
    return results.size() == 1 ? results[0] : tuple_value(std::move(results));
}

void Lowering::write_elements(const std::vector<Value>& outs, const Operands& inputs, const Ufunc& f,
                              bool masked, const Place& place) {
    const auto cast = [name = f.name, place](const ExprP& e, DType into) {
        if (!e->type.is_none() && !fits_in_place(e->type.dtype, into))
            throw refused(place,
                          fmt::format("{}() gives {}, which NumPy does not cast to the {} of out", name,
                                      info(e->type.dtype).name, info(into).name),
                          "give an out of that dtype, or assign: out[:] = np.int64(...)");
        return e;
    };
    if (outs.size() == 1 && !masked) {
        const DType into = outs[0].expr->type.dtype;
        const auto at = [inputs_at = inputs.at, apply = f.apply, cast, into](const Items& indices) {
            return cast(apply(inputs_at(indices))[0], into);
        };
        if (inputs.lengths.empty()) return fill(outs[0], scalar_value(at({})), place);
        return fill(outs[0], expression_value({inputs.lengths, at, inputs.reads}), place);
    }
    const Value shape = expression_value({inputs.lengths, nullptr, inputs.reads});
    std::vector<std::vector<ExprP>> spreads;
    for (const Value& v : outs) {
        if (rank(shape) > rank(v))
            throw refused(place, fmt::format("an array of {} dimensions does not go into one of {}",
                                             rank(shape), rank(v)));
        const Overlap shared = overlap(v, shape, place);
        const bool in_order = shared.ordered && std::none_of(shared.order.begin(), shared.order.end(),
                                                             [](const ExprP& e) { return e; });
        if (shared.any && !in_order)
            throw refused(place,
                          fmt::format("{}() reads '{}' elsewhere than it writes it: NumPy makes a copy first",
                                      f.name, fn.vars[ir::var_of(*v.expr)].name),
                          "give another array as out");
        for (std::size_t i = 0; i < rank(v); ++i) {
            const ExprP n = length(v, i, place), first = length(outs[0], i, place);
            if (rank(v) != rank(outs[0]))
                throw refused(place, fmt::format("the outs of {}() must be of one shape", f.name));
            if (!ir::same(*n, *first))
                stop_unless(comparison(Op::eq, n, first, place), "ValueError",
                            fmt::format("the outs of {}() must be of one shape", f.name), place);
        }
        spreads.push_back(spread_over(v, shape, shared.any, place));
    }
    each_element(outs[0], {}, place, [&](const Items& indices) {
        Items from(indices.end() - static_cast<std::ptrdiff_t>(rank(shape)), indices.end());
        for (std::size_t i = 0; i < from.size(); ++i) from[i] = index_spread(spreads[0][i], from[i], place);
        Items items = inputs.at(from);
        ir::Body body, *outside = out;
        ExprP mask;
        if (masked) {
            mask = truth(items.back());
            items.pop_back();
            out = &body;
        }
        for (ExprP& e : items)
            if (!e->type.is_none()) e = is_constant(*e) ? e : spill(e);
        Items results = f.apply(items);
        for (std::size_t k = 0; k < outs.size(); ++k) {
            results[k] = cast(results[k], outs[k].expr->type.dtype);
            if (outs.size() > 1 && !results[k]->type.is_none() && !is_constant(*results[k]))
                results[k] = spill(results[k]);
        }
        for (std::size_t k = 0; k < outs.size(); ++k) put(outs[k], indices, results[k], place, {});
        out = outside;
        if (!masked) return;
        if (is_constant(*mask)) {
            if (truthy(ir::number_of(*mask)))
                for (ir::Stmt& s : body) emit(std::move(s));
        } else if (!mask->type.is_none()) {
            emit(ir::branch(mask, std::move(body), {}, place));
        }
    });
}

}  // namespace xcuda::frontend
