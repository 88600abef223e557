// Lambdas and functions inside a kernel: compiled as helpers are, with what they read of the function around them passed
// along. They read it when they are called, as in Python; defaults are kept from where the function is made.
#include <fmt/format.h>
#include <algorithm>

#include "frontend/lowering.hpp"
#include "frontend/scan.hpp"

namespace xcuda::frontend {

using ir::ExprP;

namespace {

const NameTable no_names;

std::vector<std::string> parameters_of(const ast::Node& args) {
    std::vector<std::string> names;
    for (const char* list : {"posonlyargs", "args", "kwonlyargs"})
        for (const ast::NodeP& a : args.list(list)) names.push_back(a->text("arg"));
    return names;
}

// Each parameter's default, by position; null where it has none.
std::vector<const ast::Node*> defaults_of(const ast::Node& args) {
    const std::size_t positional = args.list("posonlyargs").size() + args.list("args").size();
    std::vector<const ast::Node*> defaults(positional + args.list("kwonlyargs").size(), nullptr);
    const auto& given = args.list("defaults");
    for (std::size_t i = 0; i < given.size(); ++i) defaults[positional - given.size() + i] = given[i].get();
    const auto& by_name = args.list("kw_defaults");
    for (std::size_t i = 0; i < by_name.size() && positional + i < defaults.size(); ++i)
        defaults[positional + i] = by_name[i].get();
    return defaults;
}

}  // namespace

Value Lowering::closure(const Node& node) {
    const Node& args = node.one("args");
    Value v;
    v.kind = Value::Kind::closure;
    v.node = &node;
    v.names = &source.names;
    v.text = node.kind == "Lambda" ? "<lambda>" : node.text("name");
    if (args.maybe("vararg") || args.maybe("kwarg"))
        throw refused(node.place, v.text + "() takes *args or **kwargs, which a function in a kernel can't",
                      "give it named parameters");
    std::vector<const Node*> given;
    for (const Node* d : defaults_of(args))
        if (d) given.push_back(d);
    for (const Value& d : operands(given)) v.items.push_back(kept_still(d));
    return v;
}

void Lowering::inner_function(const Node& node) { assign(node.text("name"), closure(node), node.place); }

// What a name means in the function being lowered, if it is one of its own.
std::optional<Value> Lowering::local_named(const std::string& name, const Place& place) {
    if (const auto loop = loop_variables.find(name); loop != loop_variables.end()) return loop->second;
    if (assigned.count(name)) {
        Node node;
        node.kind = "Name";
        node.place = place;
        ast::Field id;
        id.name = "id";
        id.text = name;
        id.is_text = true;
        node.fields.push_back(std::move(id));
        return read(node);
    }
    if (const auto known = parameters.find(name); known != parameters.end()) return known->second;
    return std::nullopt;
}

std::vector<std::pair<std::string, Value>> Lowering::captured_by(const Value& closure, const Place& place) {
    if (closure.captured) return {closure.captured->begin(), closure.captured->end()};
    if (std::find(capturing.begin(), capturing.end(), closure.node) != capturing.end())
        throw refused(place, closure.text + "() calls itself: recursion can't run in a kernel",
                      "write it as a loop");
    capturing.push_back(closure.node);
    std::vector<std::pair<std::string, Value>> captured;
    for (const std::string& name : free_names(*closure.node)) {
        auto v = local_named(name, place);
        if (!v) continue;
        if (v->kind == Value::Kind::closure) {
            if (v->node == closure.node)
                throw refused(place, closure.text + "() calls itself: recursion can't run in a kernel",
                              "write it as a loop");
            const auto inner = captured_by(*v, place);
            v->captured = std::make_shared<const std::map<std::string, Value>>(inner.begin(), inner.end());
        }
        captured.emplace_back(name, materialised(*v, place));
    }
    capturing.pop_back();
    return captured;
}

Value Lowering::invoke_closure(const Value& closure, const Node& node) {
    const Node& args = closure.node->one("args");
    const std::vector<std::string> parameters = parameters_of(args);
    check_kinds(args, node, closure.text);
    const std::vector<const Node*> defaults = defaults_of(args),
                                   bound = bind(node, closure.text, parameters, 0);
    std::vector<const Node*> given;
    for (const Node* n : bound)
        if (n) given.push_back(n);
    const std::vector<Value> values = operands(given);
    std::vector<std::pair<std::string, Argument>> typed;
    std::vector<ExprP> flat;
    std::vector<Value> passed;
    std::size_t taken = 0, kept = 0;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const bool has_default = defaults[i] != nullptr;
        if (!bound[i] && !has_default)
            throw refused(node.place,
                          fmt::format("{}() needs its argument '{}'", closure.text, parameters[i]));
        const Value v = materialised(bound[i] ? values[taken] : closure.items[kept],
                                     bound[i] ? bound[i]->place : node.place);
        if (unit.names.tile_kernel)
            passed.push_back(v);
        else
            typed.emplace_back(parameters[i],
                               argument_from(v, flat, bound[i] ? bound[i]->place : node.place));
        taken += bound[i] != nullptr;
        kept += has_default;
    }
    if (unit.names.tile_kernel)
        return write_in(*closure.node, closure.text, nullptr, std::move(passed), node);
    for (const auto& [name, v] : captured_by(closure, node.place))
        typed.emplace_back(name, argument_from(v, flat, node.place));
    pass_captured(typed, flat, node.place);
    return invoke_function({closure.text, *closure.node, *closure.names, no_names, false}, std::move(typed),
                           std::move(flat), node);
}

}  // namespace xcuda::frontend
