// Methods of arrays: reductions, and what makes another array of one.
#include <fmt/format.h>

#include "frontend/function_table.hpp"
#include "frontend/lowering.hpp"

namespace xcuda::frontend {

using ir::ExprP;

/// a.sum(), a.astype(np.float32), ...; nothing where arrays have no such method in a kernel.
std::optional<Value> Lowering::array_method(const Value& base, const std::string& name, const Node& node) {
    const Place& place = node.place;
    static constexpr std::array reductions{"sum", "prod", "mean", "var",    "std",   "min",
                                           "max", "any",  "all",  "argmin", "argmax"};
    if (std::find(reductions.begin(), reductions.end(), name) != reductions.end())
        return call_reduction(*reduction_named(name), &base, node);
    if (name == "reshape") return reshaped(base, node);
    if (name == "ravel" || name == "flatten") {
        bind(node, name, {}, 0);
        const Value line = one_axis(base, place);
        return name == "ravel" ? line : mapped({line}, place, [](const Items& x) { return x[0]; });
    }
    if (name == "view" && base.is_indexed()) return array_view(base, view_dtype(node), place);
    if (name == "dot") return product(base, value(*bind(node, name, {"b"}, 1)[0]), place);
    if (name == "round") return call_round(node, false, &base);
    if (name == "conj" || name == "conjugate") {
        bind(node, name, {}, 0);
        return mapped({base}, place,
                      [this, place](const Items& x) { return part("conjugate", x[0], place).expr; });
    }
    if (name == "copy") {
        bind(node, name, {}, 0);
        return mapped({base}, place, [](const Items& x) { return x[0]; });
    }
    if (name == "astype") {
        const Node& given = *bind(node, name, {"dtype"}, 1)[0];
        const Value type = value(given);
        const auto dtype = dtype_from(type);
        if (!dtype) throw refused(given.place, "expected a dtype, found " + spoken(type), "write np.float32");
        return mapped({base}, place, [this, d = *dtype, place](const Items& x) {
            return python_cast(d, false, x[0], place);
        });
    }
    if (name == "clip") {
        const auto bound = bind(node, name, {"min", "max"}, 1);
        std::vector<const Node*> nodes;
        for (const Node* n : bound)
            if (n) nodes.push_back(n);
        const std::vector<Value> values = operands(nodes);
        Value result = base;
        std::size_t at = 0;
        for (std::size_t i = 0; i < 2; ++i) {
            if (!bound[i]) continue;
            const Value limit = values[at++];
            if (limit.kind == Value::Kind::none) continue;
            const std::string function = i == 0 ? "numpy.maximum" : "numpy.minimum";
            result = mapped({result, limit}, place, [this, function, place](const Items& x) {
                return table_apply(*find_function(function), function, x, place);
            });
        }
        return result;
    }
    if (name == "fill" && base.is_indexed()) {
        const Node& given = *bind(node, name, {"value"}, 1)[0];
        const ExprP e = number(given);
        fill(base, scalar_value(e), place);
        return Value{};
    }
    if (name == "item") {
        const Call c = call_of(node);
        if (c.positional.empty()) {
            for (const ExprP& n : lengths_of(base, place))
                stop_unless(comparison(Op::eq, n, ir::int_constant(1, place), place), "ValueError",
                            "can only convert an array of size 1 to a Python scalar", place);
            return scalar_value(element_at(base, Items(rank(base), ir::int_constant(0, place)), place));
        }
    }
    if (name == "transpose") {
        const Call c = call_of(node);
        if (c.positional.empty()) return array_attribute(base, "T", place);
    }
    return std::nullopt;
}

/// A struct's own method of that kind ("method", "static", "property"); null where its class has none.
const Meaning* Lowering::method_named(const Value& base, const char* kind, const std::string& name) const {
    if (base.fields.empty() || base.text.empty()) return nullptr;
    const auto found = unit.names.methods.find(fmt::format("{} {}.{}", kind, base.text, name));
    return found == unit.names.methods.end() ? nullptr : &found->second;
}

/// A call with what it is a method of as its first argument.
ast::NodeP Lowering::with_self(const Value& base, const Node& call) {
    auto self = std::make_shared<Node>();
    self->kind = "Given";
    self->place = call.place;
    given_values[self.get()] = kept_still(base);
    given_nodes.push_back(self);
    auto made = std::make_shared<Node>();
    made->kind = "Call";
    made->place = call.place;
    for (const char* name : {"args", "keywords"}) {
        ast::Field field;
        field.name = name;
        field.is_list = true;
        if (call.kind == "Call") field.nodes = call.list(name);
        if (field.name == "args") field.nodes.insert(field.nodes.begin(), self);
        made->fields.push_back(std::move(field));
    }
    given_nodes.push_back(made);
    return made;
}

/// base.name(...), or base.name of a property; nothing where the struct's class has none.
std::optional<Value> Lowering::struct_member(const Value& base, const std::string& name, const Node& node) {
    const bool called = node.kind == "Call";
    if (called)
        if (const Meaning* m = method_named(base, "static", name)) return invoke(*m, node);
    const Meaning* m = method_named(base, called ? "method" : "property", name);
    if (!m) return std::nullopt;
    return invoke(*m, *with_self(base, node));
}

}  // namespace xcuda::frontend
