// Calls: functions of the table, casts, and Python's own functions that are no plain table entry.
#include <fmt/format.h>
#include <algorithm>

#include "frontend/function_table.hpp"
#include "frontend/lowering.hpp"

namespace xcuda::frontend {

using ir::ExprP;
using ir::Type;

namespace {

const Type weak_int = ir::scalar(DType::i64, true);

bool safe(DType from, DType to) { return promote(from, to) == to; }

// What to write instead of a method that arrays in a kernel don't have.
std::string near_method(const std::string& attr) {
    const std::string close =
        nearest(attr, {"sum",  "prod",   "mean",   "var",     "std",  "min",      "max",  "any",
                       "all",  "argmin", "argmax", "reshape", "dot",  "round",    "conj", "conjugate",
                       "copy", "astype", "clip",   "fill",    "item", "transpose"});
    return close.empty() ? "index its elements in a for loop" : "did you mean '" + close + "'?";
}

}  // namespace

Lowering::Call Lowering::call_of(const Node& node) const {
    Call c;
    for (const ast::NodeP& a : node.list("args")) {
        if (a->kind == "Starred") refuse_node(*a);  // call() has put the items in its place
        c.positional.push_back(a.get());
    }
    for (const ast::NodeP& k : node.list("keywords")) {
        if (k->text("arg").empty())
            throw refused(k->place, "** is not part of the kernel language", "write the arguments out");
        c.keywords.emplace_back(k->text("arg"), &k->one("value"));
    }
    return c;
}

// Parameters after * are given by name only, those before / by place only.
void Lowering::check_kinds(const Node& parameters, const Node& node, const std::string& name) const {
    const auto& by_place = parameters.list("posonlyargs");
    const auto& by_name = parameters.list("kwonlyargs");
    const std::size_t places = by_place.size() + parameters.list("args").size();
    const Call c = call_of(node);
    if (c.positional.size() > places && !by_name.empty())
        throw refused(c.positional[places]->place,
                      fmt::format("{}() takes {} argument{} by place, found {}", name, places,
                                  places == 1 ? "" : "s", c.positional.size()),
                      fmt::format("write {}=...", by_name[0]->text("arg")));
    for (const auto& [key, value] : c.keywords)
        for (const ast::NodeP& a : by_place)
            if (a->text("arg") == key)
                throw refused(value->place, fmt::format("{}() takes '{}' by place only", name, key),
                              "leave its name out");
}

std::vector<const ast::Node*> Lowering::bind(const Node& node, const std::string& name,
                                             std::vector<std::string> parameters,
                                             std::size_t required) const {
    const Call c = call_of(node);
    std::vector<const Node*> bound(parameters.size(), nullptr);
    if (c.positional.size() > parameters.size())
        throw refused(
            node.place,
            fmt::format("{}() takes {} argument{}, found {}", name, parameters.size(),
                        parameters.size() == 1 ? "" : "s", c.positional.size()),
            parameters.empty() ? "" : fmt::format("write {}({})", name, fmt::join(parameters, ", ")));
    std::copy(c.positional.begin(), c.positional.end(), bound.begin());
    if (name == "range" && c.positional.size() == 1) std::swap(bound[0], bound[1]);  // range(stop)
    for (const auto& [key, value] : c.keywords) {
        const auto at = std::find(parameters.begin(), parameters.end(), key);
        if (at == parameters.end())
            throw refused(value->place, fmt::format("{}() has no argument '{}'", name, key));
        const Node*& slot = bound[at - parameters.begin()];
        if (slot) throw refused(value->place, fmt::format("{}() got '{}' twice", name, key));
        slot = value;
    }
    const auto given =
        static_cast<std::size_t>(std::count_if(bound.begin(), bound.end(), [](auto* n) { return n; }));
    if (given < required) {
        std::string text;
        for (std::size_t i = 0; i < required; ++i) text += (i ? ", " : "") + parameters[i];
        throw refused(node.place,
                      fmt::format("{}() needs {} argument{}, found {}", name, required,
                                  required == 1 ? "" : "s", given),
                      name == "range" ? "write range(n)" : fmt::format("write {}({})", name, text));
    }
    for (std::size_t i = 0; i < required && name != "range"; ++i)
        if (!bound[i]) throw refused(node.place, fmt::format("{}() needs '{}'", name, parameters[i]));
    return bound;
}

Value Lowering::call(const Node& given) {
    const ast::NodeP spread = spread_call(given);
    const Node& node = spread ? *spread : given;
    const Node& function = node.one("func");
    if (function.kind == "Attribute") {  // a method: arrays and numbers have none here
        std::string written;
        if (!meaning_of(function, &written)) {
            const Value base = value(function.one("value"));
            const std::string& attr = function.text("attr");
            if (base.kind == Value::Kind::seen || (base.is_scalar() && ir::is_tile(*base.expr))) {
                bool known = false;
                const Value made = tile_method(base, attr, node, &known);
                if (known) return made;
            }
            if (base.kind == Value::Kind::records && attr == "reshape") return reshaped(base, node);
            if (base.has_elements())
                if (auto made = array_method(base, attr, node)) return *made;
            if (base.is_scalar())
                if (auto made = number_method(base, attr, node)) return *made;
            if (base.is_tuple())
                if (auto made = struct_member(base, attr, node)) return *made;
            if (base.kind == Value::Kind::string)
                if (auto made = string_method(base, attr, node)) return *made;
            if (base.has_elements() || base.is_scalar() || base.is_tuple() ||
                base.kind == Value::Kind::string)
                throw refused(node.place,
                              (base.text.empty() || !base.is_tuple() ? spoken(base) : base.text) +
                                  " has no method '" + attr + "' in a kernel",
                              base.has_elements() && is_array_attribute(attr)
                                  ? "write it without brackets: " +
                                        (ast::dotted(function).empty() ? "x." + attr : ast::dotted(function))
                              : base.is_array()      ? near_method(attr)
                              : attr == "format"     ? to_print
                              : !base.fields.empty() ? "write a function: " + attr + "(x)"
                                                     : "");
        }
    }
    const Value f = value(function);
    if (is_record_dtype(f))
        throw refused(function.place, "a record can't be made by calling its dtype",
                      "write cuda.local.array(1, dtype)");
    if (f.kind == Value::Kind::dtype) return dtype_call(f.dtype, node);
    if (f.kind == Value::Kind::closure) return invoke_closure(f, node);
    if (f.kind != Value::Kind::meaning) throw refused(function.place, spoken(f) + " can't be called");
    const Meaning& m = *f.meaning;
    if (m.kind == Meaning::Kind::intrinsic) return intrinsic(m.text, node);
    if (m.kind == Meaning::Kind::helper) return invoke(m, node);
    if (m.kind == Meaning::Kind::record) return make_record(m, node);
    if (const auto member = member_of_value(f, node)) return *member;
    if (m.kind != Meaning::Kind::function) refuse_meaning(m, f.text, function.place);
    bool known = false;
    Value special = special_call(m.text, node, &known);
    if (known) return special;
    if (const KernelFunction* k = find_function(m.text)) return table_call(*k, m.text, node);
    refuse_function(m.text, f.text, node.place);
}

// Point(x, y): a tuple whose items have names.
Value Lowering::make_record(const Meaning& record, const Node& node) {
    const std::vector<const Node*> bound = bind(node, record.text, record.fields, 0);
    std::vector<const Node*> given;
    for (const Node* n : bound)
        if (n) given.push_back(n);
    const std::vector<Value> values = operands(given);
    const std::size_t first_default = record.fields.size() - record.items.size();
    std::vector<Value> items;
    std::size_t taken = 0;
    for (std::size_t i = 0; i < bound.size(); ++i) {
        if (!bound[i] && i < first_default)
            throw refused(node.place,
                          fmt::format("{}() needs its argument '{}'", record.text, record.fields[i]));
        items.push_back(bound[i]
                            ? values[taken++]
                            : from_meaning(record.items[i - first_default], record.fields[i], node.place));
    }
    Value v = tuple_value(std::move(items));
    v.fields = record.fields;
    v.text = record.text;
    v.only_fields = record.only_fields;
    return v;
}

Value Lowering::special_call(const std::string& spelling, const Node& node, bool* known) {
    *known = true;
    const auto dot = spelling.find('.');
    const std::string module = spelling.substr(0, dot), name = spelling.substr(dot + 1);
    if (spelling == "builtins.len") return call_len(node);
    if (spelling == "builtins.print") return call_print(node);
    if (spelling ==
        "builtins.breakpoint") {  // a mark for passes/stepped; a variable that nobody reads costs nothing
        const ir::VarId id = hidden(ir::scalar(DType::b1), node.place);
        fn.vars[static_cast<std::size_t>(id)].name = "breakpoint";
        emit(ir::assign(id, ir::constant(false, ir::scalar(DType::b1), node.place), node.place));
        warn(node.place,
             "breakpoint() stops under %%cuda_debug (cuda.debug); in this launch it does nothing");
        return {};
    }
    if (spelling == "builtins.min" || spelling == "builtins.max")
        return call_least(node, *find_function(spelling), spelling);
    if (spelling == "builtins.round") return call_round(node, true);
    if (spelling == "numpy.round" || spelling == "numpy.around") return call_round(node, false);
    if (spelling == "builtins.int") return call_number(node, DType::i64);
    if (spelling == "builtins.float") return call_number(node, DType::f64);
    if (spelling == "builtins.complex") return call_complex(node, DType::c128, true);
    if (spelling == "builtins.bool") return call_number(node, DType::b1);
    if (spelling == "builtins.pow") return call_pow(node);
    if (auto made = call_whole(spelling, node)) return *made;
    if (spelling == "builtins.divmod") return call_divmod(node);
    if (spelling == "math.log" || spelling == "cmath.log") return call_log(node, spelling);
    if (spelling == "numpy.where") return call_where(node);
    if (spelling == "cmath.polar") {
        ExprP z = number(*bind(node, "polar", {"z"}, 1)[0]);
        if (!repeatable(*z)) z = spill(z);
        const KernelFunction& size = *find_function("builtins.abs");
        return tuple_value(
            {scalar_value(table_apply(size, "builtins.abs", {z}, node.place)),
             scalar_value(table_apply(*find_function("cmath.phase"), "cmath.phase", {z}, node.place))});
    }
    if (spelling == "builtins.slice") return call_slice(node);
    if (spelling == "builtins.ord") return call_ord(node);
    if (spelling == "builtins.tuple") {
        const Value v = value(*bind(node, "tuple", {"items"}, 1)[0]);
        if (v.is_tuple()) return v;
        if (const auto items = known_items(v)) return tuple_value(*items);
        if (const auto items = known_range(v)) return tuple_value(*items);
        if (v.kind == Value::Kind::lazy && v.text == "generator")
            if (auto made = comprehended(*v.node)) return *made;
        throw refused(node.place, "tuple() of " + spoken(v) + " is not part of the kernel language",
                      "write (a, b)");
    }
    if (spelling == "numba.literal_unroll")  // loops over tuples are written out anyway
        return value(*bind(node, name, {"container"}, 1)[0]);
    if (spelling == "builtins.range") return call_range(node);
    if (spelling == "builtins.enumerate" || spelling == "builtins.zip" || spelling == "builtins.reversed")
        return call_lazy(node, name);
    if (spelling == "numpy.finfo" || spelling == "numpy.iinfo") return call_limits(node, name);
    if (spelling == "numpy.ndindex" || spelling == "numpy.ndenumerate") return call_indices(node, name);
    if (spelling == "builtins.sum") return call_sum(node);
    if (spelling == "builtins.any" || spelling == "builtins.all") return call_any(node, name == "any");
    if (module == "numpy")
        if (const ReductionRow* row = reduction_named(name)) return call_reduction(*row, nullptr, node);
    if (spelling == "numpy.dot" || spelling == "numpy.matmul") {
        const std::vector<Value> sides = operands(bind(node, name, {"a", "b"}, 2));
        return product(sides[0], sides[1], node.place);
    }
    if (module == "numpy" || module == "operator" || module == "math")
        if (const auto made = operator_ufunc(module, name, node.place)) return ufunc(*made, node);
    *known = false;
    return {};
}

Value Lowering::table_call(const KernelFunction& function, const std::string& spelling, const Node& node) {
    Call c = call_of(node);
    const std::string name = spelling.substr(spelling.rfind('.') + 1);
    if (takes_arrays(spelling)) {
        const auto apply = [this, &function, spelling, place = node.place](const Items& x) {
            return Items{table_apply(function, spelling, x, place)};
        };
        const std::size_t inputs = all_overloads()[function.first_overload].in.size();
        return ufunc({name, inputs, 1, apply, !spelling.starts_with("builtins.")}, node);
    }
    if (!function.parameters.empty()) {
        c.positional = bind(node, name, {function.parameters.begin(), function.parameters.end()},
                            function.parameters.size());
        c.keywords.clear();
    }
    if (!c.keywords.empty())
        throw refused(c.keywords[0].second->place,
                      fmt::format("{}() takes no keyword arguments in a kernel", name));
    const std::size_t wanted = all_overloads()[function.first_overload].in.size();
    const bool chain = spelling == "math.hypot" && c.positional.size() > 2;
    if (c.positional.size() != wanted && !chain)
        throw refused(
            node.place,
            fmt::format("{}() takes {} argument{}, found {}", name, wanted, wanted == 1 ? "" : "s",
                        c.positional.size()),
            fmt::format("write {}({})", name, std::string_view("x, y, z").substr(0, 3 * wanted - 2)));
    const std::vector<Value> values = operands(c.positional);
    if (std::any_of(values.begin(), values.end(), [](const Value& v) { return v.kind == Value::Kind::seen; }))
        return seen_map(
            values,
            [this, &function, spelling, place = node.place](std::vector<ExprP> parts) {
                return table_apply(function, spelling, std::move(parts), place);
            },
            node.place);
    std::vector<ExprP> args;
    for (std::size_t i = 0; i < values.size(); ++i) args.push_back(number(values[i], c.positional[i]->place));
    expect_broadcast(args, node.place);
    if (chain) {
        ExprP all = args[0];
        for (std::size_t i = 1; i < args.size(); ++i)
            all = table_apply(function, spelling, {all, args[i]}, node.place);
        return scalar_value(all);
    }
    return scalar_value(table_apply(function, spelling, std::move(args), node.place));
}

ExprP Lowering::table_apply(const KernelFunction& function, const std::string& spelling,
                            std::vector<ExprP> args, const Place& place) {
    bool weak = true;
    for (const ExprP& a : args) {
        if (a->type.is_none()) return ir::make(Op::constant, Type{}, {}, place);
        weak = weak && a->type.weak;
    }
    if (std::any_of(args.begin(), args.end(), is_time_value))
        return time_function(function, std::move(args), place);
    if (spelling == "numpy.isnat" && !args.empty())
        throw refused(place, "isnat() takes a datetime64 or timedelta64, found " + spoken(args[0]->type),
                      "write np.isnan(x)");
    Type all = args.empty() ? Type{} : args[0]->type;
    bool half = false;
    for (const ExprP& a : args) {
        all = ir::join(all, a->type);
        half = half || is_half(a->type.dtype);
    }
    if (const std::vector<DType>& own = all_overloads()[function.first_overload].in; std::any_of(
            own.begin(), own.end(), is_half)) {  // CUDA's functions of half precision; they convert integers
        half = false;
        for (std::size_t i = 0; i < args.size(); ++i)
            if (is_half(own[i]) && is_integer(args[i]->type.dtype))
                args[i] = convert(args[i], ir::scalar(own[i]));
    }
    if (half) {  // computed in float32, and rounded where every argument is of half precision
        const bool rounded = is_half(all.dtype);
        for (ExprP& a : args)
            if (rounded || is_half(a->type.dtype))
                a = convert(rounded ? convert(a, all) : a, ir::scalar(DType::f32, a->type.weak));
        ExprP result = table_apply(function, spelling, std::move(args), place);
        return rounded && result->type.dtype == DType::f32 ? convert(std::move(result), all) : result;
    }
    const bool real_only = spelling.starts_with("math.");
    if (spelling.starts_with("cmath."))  // its functions take every number for a complex one
        for (ExprP& a : args)
            if (function.name != "rect" && !is_complex(a->type.dtype))
                a = convert(a, ir::join(a->type, ir::scalar(DType::c128, true)));
    // math's whole numbers and tests are Python's own; its floats keep their argument's width.
    const auto gives_python = [&](const Overload& o) {
        if (o.out != DType::i64 && o.out != DType::b1) return false;
        const bool builtin = spelling.starts_with("builtins.") && is_floating(o.in[0]);
        return spelling.starts_with("math.") || spelling.starts_with("cmath.") || builtin;
    };
    // The overload of just the join of the arguments that share a type in it; else the first that holds it.
    for (const bool exactly : {true, false}) {
        for (int i = 0; i < function.overloads; ++i) {
            const int id = function.first_overload + i;
            const Overload& o = all_overloads()[id];
            if (o.in.size() != args.size()) continue;
            if (real_only && is_complex(o.in[0])) continue;
            std::vector<Type> types(args.size());
            bool holds = true;
            for (std::size_t k = 0; k < args.size() && holds; ++k) {
                Type joined = args[k]->type;
                for (std::size_t j = 0; j < args.size(); ++j)
                    if (o.in[j] == o.in[k]) joined = ir::join(joined, args[j]->type);
                DType d = joined.dtype;
                if (joined.weak && d == DType::b1 && o.in[k] != DType::b1) d = DType::i64;
                // math's functions give a Python float for integers of any width.
                if (spelling.starts_with("math.") && is_integer(d) && is_floating(o.in[k])) d = DType::i64;
                holds = exactly ? d == o.in[k] : safe(d, o.in[k]);
                types[k] = ir::scalar(o.in[k], joined.weak);
            }
            if (!holds) continue;
            for (std::size_t k = 0; k < args.size(); ++k) {
                args[k] = convert(args[k], types[k]);
                if (o.cpu.find("$" + std::to_string(k)) == std::string_view::npos)
                    evaluated(scalar_value(args[k]));
            }
            ir::Expr node =
                *ir::make(Op::call, ir::scalar(o.out, weak || gives_python(o)), std::move(args), place);
            node.payload = ir::OverloadId{id};
            return std::make_shared<const ir::Expr>(std::move(node));
        }
    }
    std::string found;
    for (const ExprP& a : args) found += (found.empty() ? "" : " and ") + spoken(a->type);
    const bool complex =
        std::any_of(args.begin(), args.end(), [](const ExprP& a) { return is_complex(a->type.dtype); });
    const std::string twin = complex && real_only ? "cmath" + spelling.substr(4) : "";
    throw refused(place, fmt::format("{}() does not take {}", function.name, found),
                  !twin.empty() && find_function(twin) ? "write " + twin + "()"
                  : complex                            ? "work on z.real and z.imag"
                                                       : "convert it, as np.float32(x)");
}

Value Lowering::dtype_call(DType dtype, const Node& node) {
    if (is_complex(dtype)) return call_complex(node, dtype, false);
    if (is_time(dtype)) return call_time(dtype, node);
    const auto args = bind(node, std::string(info(dtype).name), {"x"}, 0);
    if (!args[0])
        return scalar_value(ir::constant(to_dtype(std::int64_t{0}, dtype), ir::scalar(dtype), node.place));
    Value x = value(*args[0]);
    x.place = args[0]->place;
    return mapped({std::move(x)}, node.place, [this, dtype, place = node.place](const Items& items) {
        return python_cast(dtype, false, items[0], place);
    });
}

Value Lowering::call_number(const Node& node, DType dtype) {
    const auto args = bind(node,
                           dtype == DType::i64  ? "int"
                           : dtype == DType::b1 ? "bool"
                                                : "float",
                           {"x"}, 0);
    if (!args[0])
        return scalar_value(
            ir::constant(to_dtype(std::int64_t{0}, dtype), ir::scalar(dtype, true), node.place));
    const Value v = value(*args[0]);
    if (v.kind == Value::Kind::string && dtype == DType::f64) {
        char* end = nullptr;
        const double parsed = std::strtod(v.text.c_str(), &end);
        if (end && *end == 0 && !v.text.empty())
            return scalar_value(ir::constant(parsed, ir::scalar(DType::f64, true), node.place));
    }
    const ExprP x = number(v, args[0]->place);
    if (dtype == DType::b1) {
        const ExprP t = truth(x);
        return scalar_value(t->type.is_none() ? t : python_cast(DType::b1, true, t, node.place));
    }
    // A uint64 keeps its type: a Python int would hold it, int64 does not.
    if (dtype == DType::i64 && x->type.is_scalar() && x->type.dtype == DType::u64) return scalar_value(x);
    return scalar_value(python_cast(dtype, true, x, node.place));
}

// complex(re, im), np.complex64(re, im), or of one number.
Value Lowering::call_complex(const Node& node, DType dtype, bool weak) {
    const auto args = bind(node, std::string(info(dtype).name), {"real", "imag"}, 0);
    const DType part = part_of(dtype);
    const Type type = ir::scalar(dtype, weak);
    if (!args[0] && !args[1])
        return scalar_value(ir::constant(to_dtype(std::int64_t{0}, dtype), type, node.place));
    if (!args[1]) return scalar_value(python_cast(dtype, weak, number(*args[0]), node.place));
    std::vector<const Node*> given = {args[1]};
    if (args[0]) given.insert(given.begin(), args[0]);
    const std::vector<Value> values = operands(given);
    std::vector<ExprP> parts;
    if (!args[0]) parts.push_back(ir::constant(0.0, ir::scalar(part, weak), node.place));
    for (std::size_t i = 0; i < values.size(); ++i) {
        const ExprP x = number(values[i], given[i]->place);
        if (x->type.is_scalar() && is_complex(x->type.dtype))
            throw refused(given[i]->place, "a complex number as a part of a complex number",
                          "write a + 1j * b");
        parts.push_back(python_cast(part, weak, x, node.place));
    }
    if (is_constant(*parts[0]) && is_constant(*parts[1])) {
        const std::complex<double> z(as_double(ir::number_of(*parts[0])),
                                     as_double(ir::number_of(*parts[1])));
        return scalar_value(ir::constant(to_dtype(z, dtype), type, node.place));
    }
    return scalar_value(table_apply(internal_function("complex"), "complex", std::move(parts), node.place));
}

Value Lowering::call_len(const Node& node) {
    const auto args = bind(node, "len", {"x"}, 1);
    const Value v = value(*args[0]);
    if (v.has_elements() || v.kind == Value::Kind::records) {
        if (rank(v) == 0 && v.kind == Value::Kind::records)
            return scalar_value(ir::int_constant(static_cast<std::int64_t>(v.fields.size()), node.place));
        if (rank(v) == 0) throw refused(node.place, "len() of an array without dimensions");
        return scalar_value(length(v, 0, node.place));
    }
    if (v.is_tuple())
        return scalar_value(ir::int_constant(static_cast<std::int64_t>(v.items.size()), node.place));
    if (v.kind == Value::Kind::range) return scalar_value(range_count(v, node.place));
    if (const auto items = constant_items(v))
        return scalar_value(ir::int_constant(static_cast<std::int64_t>(items->size()), node.place));
    throw refused(args[0]->place, "len() of " + spoken(v) + " has no meaning", "write len(A) for an array");
}

Value Lowering::call_slice(const Node& node) {
    std::vector<const Node*> args = bind(node, "slice", {"start", "stop", "step"}, 0);
    if (args[0] && !args[1] && call_of(node).keywords.empty()) std::swap(args[0], args[1]);  // slice(stop)
    std::vector<const Node*> given;
    for (const Node* n : args)
        if (n) given.push_back(n);
    const std::vector<Value> values = operands(given);
    Value v;
    v.kind = Value::Kind::slice;
    std::size_t taken = 0;
    for (const Node* n : args) v.items.push_back(n ? values[taken++] : Value{});
    return evaluated(std::move(v));
}

Value Lowering::call_least(const Node& node, const KernelFunction& function, const std::string& spelling) {
    const Call c = call_of(node);
    const std::string name(function.name);
    if (!c.keywords.empty())
        throw refused(c.keywords[0].second->place, name + "() takes no keyword arguments in a kernel");
    std::vector<Value> values = operands(c.positional);
    if (values.size() == 1 && !values[0].is_tuple() && iterable(values[0]))
        return least_of(values[0], function, spelling, node.place);
    const bool spread = values.size() == 1 && values[0].is_tuple();  // min((a, b))
    if (spread) values = std::vector<Value>(values[0].items);
    if (values.empty() || (values.size() == 1 && !spread))
        throw refused(node.place, name + "() needs two numbers or more", "write " + name + "(a, b)");
    Type type = number(values[0], node.place)->type;
    for (const Value& v : values) type = ir::join(type, number(v, node.place)->type);
    ExprP best = number(values[0], node.place);
    for (std::size_t i = 1; i < values.size(); ++i) {
        const ExprP next_one = number(values[i], node.place);
        if (type.is_none()) return scalar_value(ir::make(Op::constant, Type{}, {}, node.place));
        best = table_apply(function, spelling, {convert(best, type), convert(next_one, type)}, node.place);
    }
    return scalar_value(best);
}

Value Lowering::call_where(const Node& node) {
    const auto args = bind(node, "where", {"condition", "x", "y"}, 3);
    std::vector<Value> v = operands(args);
    for (std::size_t i = 1; i < 3; ++i) v[i] = evaluated(std::move(v[i]));
    return mapped(std::move(v), node.place, [this, place = node.place](const Items& x) {
        return chosen(truth(x[0]), x[1], x[2], place);
    });
}

ExprP Lowering::chosen(const ExprP& test, const ExprP& x, const ExprP& y, const Place& place) {
    if (test->type.is_none() || x->type.is_none() || y->type.is_none())
        return ir::make(Op::constant, Type{}, {}, place);
    const Type type = ir::join(x->type, y->type);
    if (is_half(type.dtype) || is_complex(type.dtype) || is_time(type.dtype))
        return ir::make(Op::select, type, {test, convert(x, type), convert(y, type)}, place);
    const KernelFunction& where = *find_function("numpy.where");
    for (int i = 0; i < where.overloads; ++i) {
        const int id = where.first_overload + i;
        if (all_overloads()[id].out != type.dtype) continue;
        ir::Expr e =
            *ir::make(Op::call, type,
                      {convert(test, ir::scalar(DType::b1)), convert(x, type), convert(y, type)}, place);
        e.payload = ir::OverloadId{id};
        return std::make_shared<const ir::Expr>(std::move(e));
    }
    throw refused(place, "where() does not take " + spoken(type));
}

}  // namespace xcuda::frontend
