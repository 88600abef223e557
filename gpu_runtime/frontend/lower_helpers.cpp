// Plain Python functions called from a kernel: compiled once for each set of argument types, never recursively.
#include <fmt/format.h>
#include <algorithm>

#include "frontend/lowering.hpp"
#include "ir/print.hpp"

namespace xcuda::frontend {

using ir::ExprP;

std::string Argument::key() const {
    switch (kind) {
        case Kind::scalar: return ir::to_string(type);
        case Kind::array: return fmt::format("{}@{}", ir::to_string(type), root);
        case Kind::view: {
            std::string text = fmt::format("{}@{}:{}", ir::to_string(type), root, fixed.tested);
            if (fixed.joined) text += 'j';
            if (fixed.viewed) text += fmt::format("as {}", info(*fixed.viewed).name);
            for (const ir::ExprP& index : fixed.indices) text += index ? 'i' : ':';
            for (const ViewAxis& a : fixed.axes)
                text += fmt::format(" {}{}{}{}", a.base, a.start ? '/' : ':', a.step, a.by ? "*" : "");
            for (const Argument& a : items) text += "," + a.key();
            return text;
        }
        case Kind::records: {
            std::string text = fmt::format("{}[{}](", fixed.meaning->text, fixed.ndim);
            for (const Argument& a : items) text += a.key() + ",";
            return text + ")";
        }
        case Kind::tuple: {
            std::string text = fmt::format("{}({}|", fixed.text, fmt::join(fixed.fields, ","));
            for (const Argument& a : items) text += a.key() + ",";
            return text + ")";
        }
        case Kind::closure: {
            std::string text = fmt::format("closure {}", static_cast<const void*>(fixed.node));
            for (const Argument& a : items) text += "," + a.key();
            return text;
        }
        case Kind::fixed: {
            const Meaning* m = fixed.meaning;
            std::string text =
                fmt::format("[{} {} {} {} {}", static_cast<int>(fixed.kind), fixed.text,
                            static_cast<int>(fixed.dtype), m ? m->text : "", m ? m->helper : -1);
            if (fixed.is_scalar())
                text += fmt::format(" {} {}", ir::to_string(fixed.expr->type),
                                    ir::to_string(ir::Function{}, *fixed.expr));
            return text + "]";
        }
    }
    return {};
}

Argument Lowering::argument_from(const Value& v, std::vector<ExprP>& flat, const Place& place) {
    Argument a;
    switch (v.kind) {
        case Value::Kind::scalar:
            if (literals_stay && is_constant(*v.expr)) {
                a.kind = Argument::Kind::fixed;
                a.fixed = v;
                return a;
            }
            a.kind = Argument::Kind::scalar;
            a.type = v.expr->type;
            flat.push_back(v.expr);
            return a;
        case Value::Kind::array: {
            const ir::VarId id = ir::var_of(*v.expr);
            a.kind = Argument::Kind::array;
            a.type = v.expr->type;
            a.root = roots.count(id) ? roots.at(id) : -1;
            a.choice = array_choices.count(id) ? id : -1;
            flat.push_back(v.expr);
            return a;
        }
        case Value::Kind::closure:
            a.kind = Argument::Kind::closure;
            a.fixed = v;
            for (const Value& d : v.items) a.items.push_back(argument_from(d, flat, place));
            for (const auto& [name, captured] : captured_by(v, place)) {
                a.names.push_back(name);
                a.items.push_back(argument_from(captured, flat, place));
            }
            return a;
        case Value::Kind::tuple:
            a.kind = Argument::Kind::tuple;
            a.fixed.fields = v.fields;
            a.fixed.text = v.text;
            a.fixed.only_fields = v.only_fields;
            for (const Value& item : v.items) a.items.push_back(argument_from(item, flat, place));
            return a;
        case Value::Kind::records:
            a.kind = Argument::Kind::records;
            a.fixed = v;
            for (const Value& item : v.items) a.items.push_back(argument_from(item, flat, place));
            return a;
        case Value::Kind::view: {
            const ir::VarId id = ir::var_of(*v.expr);
            a.kind = Argument::Kind::view;
            a.type = v.expr->type;
            a.root = roots.count(id) ? roots.at(id) : -1;
            a.choice = array_choices.count(id) ? id : -1;
            flat.push_back(v.expr);
            a.fixed = v;
            for (ExprP* part : view_parts(a.fixed))
                a.items.push_back(argument_from(scalar_value(*part), flat, place));
            return a;
        }
        default:
            a.kind = Argument::Kind::fixed;
            a.fixed = v;
            return a;
    }
}

namespace {

bool widens(const ir::Type& from, DType to) {
    return from.weak ? ir::join(from, ir::scalar(to)).dtype == to
                     : ir::join(ir::scalar(from.dtype), ir::scalar(to)).dtype == to;
}

// The declared types that fit a call best: equal ones, else those that all numbers widen to, most of them being of their
// own type, else the first.
const Declared* declared_for(const std::vector<Declared>& all, const std::vector<Value>& values) {
    const auto each = [&](const Declared& d, const auto& fits) {
        if (d.arguments.size() != values.size()) return false;
        for (std::size_t i = 0; i < values.size(); ++i)
            if (d.arguments[i] && values[i].kind == Value::Kind::scalar &&
                !fits(values[i].expr->type, *d.arguments[i]))
                return false;
        return true;
    };
    for (const Declared& d : all)
        if (each(d, [](const ir::Type& t, DType to) { return t.dtype == to; })) return &d;
    const Declared* best = nullptr;
    int most = -1;
    for (const Declared& d : all) {
        if (!each(d, widens)) continue;
        int equal = 0;
        for (std::size_t i = 0; i < values.size(); ++i)
            equal += d.arguments[i] && values[i].is_scalar() && values[i].expr->type.dtype == *d.arguments[i];
        if (equal > most) most = equal, best = &d;
    }
    if (best) return best;
    for (const Declared& d : all)
        if (d.arguments.size() == values.size()) return &d;
    return nullptr;
}

bool holds_literal(const Value& v) {
    if (v.is_scalar()) return is_constant(*v.expr);
    return v.is_tuple() && std::any_of(v.items.begin(), v.items.end(), holds_literal);
}

// A function while it is lowered.
struct Active {
    Active(std::vector<const ast::Node*>& all, const ast::Node* function) : all(all) {
        all.push_back(function);
    }
    ~Active() { all.pop_back(); }
    std::vector<const ast::Node*>& all;
};

}  // namespace

// The call without what *args takes, which goes to `beyond`.
ast::NodeP Lowering::without_beyond(const Node& call, const Node& parameters,
                                    std::vector<const Node*>& beyond) {
    const std::size_t places = parameters.list("posonlyargs").size() + parameters.list("args").size();
    auto made = std::make_shared<Node>(call);
    for (ast::Field& field : made->fields) {
        if (field.name != "args" || field.nodes.size() <= places) continue;
        for (std::size_t i = places; i < field.nodes.size(); ++i) beyond.push_back(field.nodes[i].get());
        field.nodes.resize(places);
    }
    given_nodes.push_back(made);
    return made;
}

Value Lowering::invoke(const Meaning& meaning, const Node& call) {
    const Helper& helper = unit.names.helpers.at(meaning.helper);
    if (helper.foreign) return invoke_foreign(helper, call);
    if (!helper.function)
        throw refused(call.place, fmt::format("{}() can't be compiled: {}", helper.name, helper.error));
    const Node& args = helper.function->one("args");
    if (helper.function->kind != "FunctionDef" && helper.function->kind != "Lambda")
        refuse_node(*helper.function);
    if (args.maybe("kwarg"))
        throw refused(call.place, fmt::format("{}() takes **kwargs, which a helper can't", helper.name),
                      "give it named parameters");
    std::vector<const Node*> beyond;  // of *args
    const ast::NodeP shorter = args.maybe("vararg") ? without_beyond(call, args, beyond) : nullptr;
    const Node& node = shorter ? *shorter : call;
    std::vector<std::string> parameters;
    for (const char* list : {"posonlyargs", "args", "kwonlyargs"})
        for (const ast::NodeP& a : args.list(list)) parameters.push_back(a->text("arg"));
    check_kinds(args, node, helper.name);
    const std::vector<const ast::Node*> bound = bind(node, helper.name, parameters, 0);

    std::vector<const ast::Node*> given;
    for (const Node* n : bound)
        if (n) given.push_back(n);
    given.insert(given.end(), beyond.begin(), beyond.end());
    const std::vector<Value> operand = operands(given);
    std::vector<Value> values;
    std::size_t taken = 0;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        if (bound[i]) {
            values.push_back(materialised(operand[taken++], bound[i]->place));
        } else if (const auto d = helper.defaults.find(parameters[i]); d != helper.defaults.end()) {
            values.push_back(from_meaning(d->second, parameters[i], node.place));
        } else {
            throw refused(node.place,
                          fmt::format("{}() needs its argument '{}'", helper.name, parameters[i]));
        }
    }
    Value rest = tuple_value({});
    for (const Node* n : beyond) rest.items.push_back(materialised(operand[taken++], n->place));
    const Declared* declared = declared_for(helper.declared, values);
    for (std::size_t i = 0; declared && i < values.size(); ++i)
        if (Value& v = values[i]; declared->arguments[i] && v.kind == Value::Kind::scalar)
            v = scalar_value(
                python_cast(*declared->arguments[i], false, v.expr, bound[i] ? bound[i]->place : node.place));
    const auto converted = [&](Value result) {
        if (declared && declared->returns && result.kind == Value::Kind::scalar)
            result = scalar_value(python_cast(*declared->returns, false, result.expr, node.place));
        return result;
    };
    if (unit.names.tile_kernel)
        return converted(write_in(*helper.function, helper.name, &helper.names, std::move(values), node));
    const auto attempt = [&](bool keep_literals) {
        std::vector<std::pair<std::string, Argument>> typed;
        std::vector<ExprP> flat;
        literals_stay = keep_literals;
        for (std::size_t i = 0; i < parameters.size(); ++i)
            typed.emplace_back(parameters[i],
                               argument_from(values[i], flat, bound[i] ? bound[i]->place : node.place));
        if (const Node* star = args.maybe("vararg"))
            typed.emplace_back(star->text("arg"), argument_from(rest, flat, node.place));
        literals_stay = false;
        pass_captured(typed, flat, node.place);
        return invoke_function({helper.name, *helper.function, helper.names, helper.defaults, false},
                               std::move(typed), std::move(flat), node);
    };
    const auto with_literals = [&] {
        try {
            return attempt(false);
        } catch (const NeedsConstant&) {
            if (std::none_of(values.begin(), values.end(), holds_literal)) throw;
        }
        return attempt(true);
    };
    return converted(with_literals());
}

// Device arrays outside the kernel, which its helpers may name too.
void Lowering::pass_captured(std::vector<std::pair<std::string, Argument>>& typed, std::vector<ExprP>& flat,
                             const Place& place) {
    for (const auto& [name, v] : parameters)
        if (is_captured(name)) typed.emplace_back(name, argument_from(v, flat, place));
}

Value Lowering::invoke_function(const FunctionSource& source_of_it,
                                std::vector<std::pair<std::string, Argument>> typed, std::vector<ExprP> flat,
                                const Node& node) {
    for (const ExprP& e : flat)
        if (e->type.is_none()) return scalar_value(ir::make(Op::constant, ir::Type{}, {}, node.place));

    for (const ExprP& e : flat)
        if (e->op == Op::var && array_choices.count(ir::var_of(*e)))
            return invoke_by_choice(source_of_it, typed, flat, node, ir::var_of(*e));
    int id = -1;
    const Lowered* callee = specialise(source_of_it, std::move(typed), &id, node.place);
    const auto invocation = [&](const ir::Type& type, std::vector<ExprP> passed) {
        ir::Expr e = *ir::make(Op::invoke, type, std::move(passed), node.place);
        e.payload = ir::FunctionId{id};
        return std::make_shared<const ir::Expr>(std::move(e));
    };
    if (callee->written_in) written_in(node.place);
    const Slot& result = callee->result;
    if (result.kind == Slot::Kind::unknown) {
        emit(ir::evaluate(invocation(ir::Type{}, flat), node.place));
        return {};
    }
    if (result.kind == Slot::Kind::scalar) {
        const ir::VarId var = hidden(result.type, node.place);
        nonnegative_vars.resize(var + 1, false);
        nonnegative_vars[var] = result.nonnegative;
        emit(ir::assign(var, invocation(result.type, flat), node.place));
        return scalar_value(ir::var(var, result.type, node.place));
    }
    // Tuples, and the numbers of views, come back through local arrays of one element, which the C++ compiler keeps in
    // registers.
    std::vector<Value> items;
    std::vector<ExprP> arrays;
    const ir::Function& f = callee->function;
    const std::size_t given = f.params.size() - result.arity;
    for (std::size_t i = 0; i < result.arity; ++i) {
        const ir::Type type = f.vars[f.params[given + i]].type;
        const ir::VarId array = fn.add({"t", type, ir::Var::Role::local_array, node.place, false});
        arrays.push_back(ir::var(array, type, node.place));
    }
    std::vector<ExprP> passed = flat;
    passed.insert(passed.end(), arrays.begin(), arrays.end());
    emit(ir::evaluate(invocation(ir::Type{}, std::move(passed)), node.place));
    for (std::size_t i = 0; i < result.arity; ++i) {
        ir::Expr load = *ir::make(Op::load, ir::scalar(arrays[i]->type.dtype),
                                  {arrays[i], ir::int_constant(0, node.place)}, node.place);
        load.payload = ir::Access{};
        const ir::Type item = callee->item_types[i];
        const ExprP value = std::make_shared<const ir::Expr>(std::move(load));
        const ir::VarId var = hidden(item, node.place);
        emit(ir::assign(var, value, node.place));
        items.push_back(scalar_value(ir::var(var, item, node.place)));
    }
    if (result.kind == Slot::Kind::fixed) {
        Value v = result.fixed;
        for (Value* leaf : array_leaves(v)) {
            const auto param = std::find(f.params.begin(), f.params.end(), ir::var_of(*leaf->expr));
            leaf->expr = flat[static_cast<std::size_t>(param - f.params.begin())];
        }
        std::size_t i = 0;
        for (ExprP* part : view_parts(v)) *part = items[i++].expr;
        return v;
    }
    Value v = tuple_value(std::move(items));
    v.fields = result.fixed.fields;
    v.text = result.fixed.text;
    v.only_fields = result.fixed.only_fields;
    return v;
}

const Lowered* Lowering::specialise(const FunctionSource& callee,
                                    std::vector<std::pair<std::string, Argument>> typed, int* id,
                                    const Place& place) {
    std::string key = fmt::format("{}", static_cast<const void*>(&callee.function));
    for (const auto& [name, argument] : typed) key += "|" + argument.key();
    if (const auto known = unit.helper_ids.find(key); known != unit.helper_ids.end()) {
        *id = known->second;
        return unit.helpers[*id - 1].get();
    }
    if (std::find(unit.active.begin(), unit.active.end(), &callee.function) != unit.active.end())
        throw refused(place, fmt::format("{}() calls itself: recursion can't run in a kernel", callee.name),
                      "write it as a loop");
    Lowered lowered = [&] {
        const Active active(unit.active, &callee.function);
        return Lowering(unit, callee, std::move(typed)).run();
    }();
    unit.helpers.push_back(std::make_unique<Lowered>(std::move(lowered)));
    *id = static_cast<int>(unit.helpers.size());
    unit.helper_ids.emplace(key, *id);
    return unit.helpers.back().get();
}

}  // namespace xcuda::frontend
