// One function: passes over its tree until every variable's type stands still; the last pass is the result.
#include <fmt/format.h>

#include "frontend/lowering.hpp"
#include "frontend/scan.hpp"
#include "ir/walk.hpp"

namespace xcuda::frontend {

using ir::ExprP;

namespace {

// A return that is not the last statement.
bool returns_early(const ir::Body& body) {
    bool found = false;
    for (std::size_t i = 0; i < body.size(); ++i) {
        const ir::Stmt& s = body[i];
        found |= s.kind == ir::Stmt::Kind::leave && i + 1 < body.size();
        for (const ir::Body* inner : {&s.body, &s.orelse})
            ir::each_stmt(*inner, [&](const ir::Stmt& t) { found |= t.kind == ir::Stmt::Kind::leave; });
    }
    return found;
}

// Of a parameter as users know it.
std::string shown(const std::string& name) {
    return is_captured(name) ? name.substr(name.find(' ', name.find(' ') + 1) + 1) : name;
}

constexpr int most_passes = 60;  // types only rise, in a lattice of 12 steps; nested loops add a few

}  // namespace

bool is_captured(const std::string& parameter) { return parameter.starts_with("captured "); }

Lowering::Lowering(Unit& u, const FunctionSource& s, std::vector<std::pair<std::string, Argument>> a)
    : unit(u),
      source(s),
      arguments(std::move(a)),
      assigned(assigned_names(s.function)),
      loop_only(loop_only_names(s.function)),
      changing(changing_names(s.function)) {
    for (const std::string& name : loop_only) assigned.erase(name);
}

Lowered Lowering::run() {
    for (int round = 0;; ++round) {
        if (round == most_passes) throw bug("the types of " + source.name + "() do not settle");
        pass();
        const Choices found = now_several();
        const bool chosen = found != several;
        several = found;
        if (took_changing_for_constant()) {
            current.clear();
            flagged.clear();
            continue;
        }
        if (next == current && next_flagged == flagged && !chosen) break;
        if (round > most_passes / 2)  // a type that swings is held at its highest
            for (auto& [path, slot] : next)
                if (const auto before = current.find(path);
                    before != current.end() && slot.kind == Slot::Kind::scalar) {
                    const ir::Type both = ir::join(slot.type, before->second.type);
                    if (!both.is_none()) slot.type = both;
                    slot.one_constant = slot.one_coord = slot.nonnegative = false;
                    slot.constant.reset();
                    slot.coord.reset();
                }
        current = next;
        flagged = next_flagged;
    }
    if (untyped)
        throw refused(untyped->first, "'" + untyped->second + "' is read but nothing gives it a value before",
                      "assign it first");
    if (unit.names.tile_kernel) expect_uniform(fn.body);
    Lowered lowered;
    finish_result();
    lowered.result = current.count("return") ? current.at("return") : Slot{};
    for (std::size_t i = 0; i < lowered.result.arity; ++i)
        lowered.item_types.push_back(current.at("return." + std::to_string(i)).type);
    if (lowered.result.kind == Slot::Kind::fixed) expect_given(lowered.result);
    lowered.written_in = block_part.has_value();
    if (block_part && returns_early(fn.body))
        throw refused(*block_part,
                      source.name + "() has a barrier or a shared array and returns before its end",
                      "let it return in its last line only");
    fn.body = without_choices(std::move(fn.body));
    for (const auto& [id, choice] : array_choices)  // nothing names them any more, and they have no memory
        fn.vars[static_cast<std::size_t>(id)].type = ir::scalar(DType::b1);
    lowered.function = std::move(fn);
    lowered.warnings = std::move(warnings);
    return lowered;
}

// True where this pass took a variable for the first number assigned to it, and then met another: what it folded with
// that one, the types too, does not hold. From now on the variable is no constant.
bool Lowering::took_changing_for_constant() {
    bool found = false;
    for (const std::string& path : taken_for_constant)
        if (const auto slot = next.find(path); slot == next.end() || !slot->second.one_constant)
            found |= changing.insert(path).second;
    return found;
}

void Lowering::pass() {
    next.clear();
    taken_for_constant.clear();
    next_flagged.clear();
    fn = ir::Function{};
    fn.name = source.name;
    fn.place = source.function.place;
    fn.is_kernel = source.is_kernel;
    flow = Flow{};
    ids.clear();
    flags.clear();
    parameters.clear();
    loop_variables.clear();
    loops.clear();
    nonnegative_vars.clear();
    coord_vars.clear();
    constants.clear();
    roots.clear();
    array_choices.clear();
    choice_ids.clear();
    met_arrays.clear();
    torn_arrays.clear();
    warnings.clear();
    warned.clear();
    untyped.reset();
    result_arrays.clear();
    value_return.reset();
    block_part.reset();
    if (source.is_kernel) unit.programs = {};
    out = &fn.body;

    for (const auto& [name, argument] : arguments) parameters[name] = parameter(name, argument);
    if (const auto result = current.find("return"); result != current.end())
        for (std::size_t i = 0; i < result->second.arity; ++i) {
            const auto item = current.find("return." + std::to_string(i));
            if (item == current.end() && result->second.kind == Slot::Kind::fixed) continue;
            if (item == current.end() || item->second.kind != Slot::Kind::scalar)
                throw refused(result->second.place, "a helper returns a number or a tuple of numbers");
            const DType dtype = item->second.type.is_none() ? DType::f64 : item->second.type.dtype;
            const ir::Type type = ir::fixed_array(dtype, {1}, ir::Space::local);
            result_arrays.push_back(
                fn.add({fmt::format("result_{}", i), type, ir::Var::Role::parameter, fn.place, false}));
            fn.params.push_back(result_arrays.back());
        }
    const ir::Type boolean = ir::scalar(DType::b1, true);
    for (const std::string& name : flagged) {
        const ir::VarId id = fn.add({name + "_bound", boolean, ir::Var::Role::hidden, fn.place, false});
        flags.emplace(name, id);
        emit(ir::assign(id, ir::constant(false, boolean, fn.place), fn.place));
    }
    for (const auto& [name, argument] : arguments) bind_parameter(name, argument);
    if (source.function.kind == "Lambda") {
        const Node& body = source.function.one("body");
        give_back(value(body), body.place, body.place);
    } else {
        statements(statements_of(source.function));
    }
}

Value Lowering::parameter(const std::string& name, const Argument& argument) {
    switch (argument.kind) {
        case Argument::Kind::fixed:
            return argument.constant ? from_meaning(*argument.constant, name, source.function.place)
                                     : argument.fixed;
        case Argument::Kind::closure: {
            Value v = argument.fixed;
            std::map<std::string, Value> captured;
            for (std::size_t i = 0; i < argument.items.size(); ++i) {
                Value item = parameter(fmt::format("{}_{}", name, i), argument.items[i]);
                if (i < v.items.size())
                    v.items[i] = std::move(item);
                else
                    captured.emplace(argument.names[i - v.items.size()], std::move(item));
            }
            v.captured = std::make_shared<const std::map<std::string, Value>>(std::move(captured));
            return v;
        }
        case Argument::Kind::records: {
            Value v = argument.fixed;
            v.text = name;
            for (std::size_t i = 0; i < v.items.size(); ++i)
                v.items[i] = parameter(name + "." + v.fields[i], argument.items[i]);
            return v;
        }
        case Argument::Kind::tuple: {
            std::vector<Value> items;
            const std::vector<std::string>& fields = argument.fixed.fields;
            for (std::size_t i = 0; i < argument.items.size(); ++i)
                items.push_back(
                    parameter(fields.empty() ? fmt::format("{}[{}]", name, i) : name + "." + fields[i],
                              argument.items[i]));
            Value v = tuple_value(std::move(items));
            v.fields = fields;
            v.text = argument.fixed.text;
            v.only_fields = argument.fixed.only_fields;
            return v;
        }
        default: break;
    }
    const ir::VarId id =
        fn.add({shown(name), argument.type, ir::Var::Role::parameter, source.function.place, false});
    fn.params.push_back(id);
    const ExprP var = ir::var(id, argument.type, source.function.place);
    if (argument.kind == Argument::Kind::view) {
        roots[id] = argument.root;
        Value v = argument.fixed;
        v.expr = var;
        std::size_t i = 0;
        for (ExprP* part : view_parts(v)) {
            *part = parameter(fmt::format("{}_{}", name, i), argument.items[i]).expr;
            ++i;
        }
        return v;
    }
    if (argument.kind == Argument::Kind::scalar) return scalar_value(var);
    roots[id] = argument.root;
    Value v;
    v.kind = Value::Kind::array;
    v.expr = var;
    return v;
}

// A parameter that the function assigns becomes a variable that starts with the argument.
void Lowering::bind_parameter(const std::string& name, const Argument&) {
    if (assigned.count(name)) assign(name, parameters.at(name), source.function.place);
}

// A helper gives back parts of what it was given: its own arrays end with it.
void Lowering::expect_given(const Slot& result) const {
    Value v = result.fixed;
    for (const Value* leaf : array_leaves(v)) {
        const ir::VarId id = ir::var_of(*leaf->expr);
        if (array_choices.count(id))
            throw refused(result.place,
                          fmt::format("{}() returns one array or another, by the path taken", source.name),
                          "let the caller choose: x = a if test else b");
        if (std::find(fn.params.begin(), fn.params.end(), id) == fn.params.end())
            throw refused(
                result.place,
                fmt::format("{}() returns '{}', which ends with the call", source.name, fn.vars[id].name),
                "make it in the caller and pass it");
    }
}

void Lowering::finish_result() {
    const auto result = current.find("return");
    if (source.is_kernel || result == current.end()) return;
    if (flow.live)
        throw refused(source.function.place,
                      fmt::format("{}() returns a value on some paths only", source.name),
                      "end it with a return");
    if (result->second.kind == Slot::Kind::scalar) fn.result = result->second.type;
}

}  // namespace xcuda::frontend
