// Statements: assignments, branches, returns, and the faults that assert and raise make.
#include <fmt/format.h>
#include <algorithm>
#include <array>

#include "frontend/lowering.hpp"

namespace xcuda::frontend {

using ir::ExprP;
using ir::Op;
using ir::Stmt;

void Lowering::statements(const std::vector<ast::NodeP>& nodes) {
    for (const ast::NodeP& n : nodes) {
        if (!flow.live) return;  // Python never gets there
        statement(*n);
    }
}

ir::Body Lowering::block(const std::vector<ast::NodeP>& nodes) {
    ir::Body body, *outside = out;
    out = &body;
    statements(nodes);
    out = outside;
    return body;
}

void Lowering::statement(const Node& node) {
    using Method = void (Lowering::*)(const Node&);
    struct Row {
        const char* kind;
        Method method;
    };
    static constexpr std::array rows{
        Row{"Assign", &Lowering::assign_statement},    Row{"AugAssign", &Lowering::augmented},
        Row{"AnnAssign", &Lowering::annotated},        Row{"If", &Lowering::if_statement},
        Row{"For", &Lowering::for_statement},          Row{"While", &Lowering::while_statement},
        Row{"Expr", &Lowering::expression_statement},  Row{"Return", &Lowering::return_statement},
        Row{"Break", &Lowering::leave_loop},           Row{"Continue", &Lowering::leave_loop},
        Row{"Assert", &Lowering::assert_statement},    Row{"Raise", &Lowering::raise_statement},
        Row{"FunctionDef", &Lowering::inner_function}, Row{"Match", &Lowering::match_statement},
    };
    if (node.kind == "Pass") return;
    for (const Row& r : rows)
        if (node.kind == r.kind) return (this->*r.method)(node);
    refuse_node(node);
}

void Lowering::annotated(const Node& node) {
    if (const Node* v = node.maybe("value")) assign_target(node.one("target"), value(*v));
}

namespace {

bool reads(const ir::Expr& e, const std::set<ir::VarId>& vars, bool memory) {
    if (e.op == Op::var && vars.count(ir::var_of(e))) return true;
    if (e.op == Op::load && memory) return true;
    return std::any_of(e.args.begin(), e.args.end(), [&](const ExprP& a) { return reads(*a, vars, memory); });
}

void collect_targets(const ast::Node& target, std::set<std::string>& names, bool& memory) {
    if (target.kind == "Name") names.insert(target.text("id"));
    if (target.kind == "Subscript") memory = true;
    if (target.kind == "Starred") collect_targets(target.one("value"), names, memory);
    if (target.kind == "Tuple" || target.kind == "List")
        for (const ast::NodeP& e : target.list("elts")) collect_targets(*e, names, memory);
}

}  // namespace

void Lowering::assign_statement(const Node& node) {
    Value kept = value(node.one("value"));
    const auto& targets = node.list("targets");
    if (targets.size() > 1) {  // x = y = x + 1: evaluated once, before the first is assigned
        if (kept.is_scalar() && !repeatable(*kept.expr)) kept.expr = spill(kept.expr);
        std::vector<const Node*> all;
        for (const ast::NodeP& target : targets) all.push_back(target.get());
        kept = read_before(std::move(kept), all);
    }
    for (const ast::NodeP& target : targets) assign_target(*target, kept);
}

// The value with every number in it read now, where assigning the targets would change it.
Value Lowering::read_before(Value v, const std::vector<const Node*>& targets) {
    std::set<std::string> names;
    bool memory = false;
    for (const Node* target : targets) collect_targets(*target, names, memory);
    std::set<ir::VarId> vars;
    for (const auto& [path, id] : ids)
        if (names.count(path.substr(0, path.find_first_of(".@")))) vars.insert(id);
    std::set<ir::VarId> chosen;
    for (const auto& [path, id] : choice_ids)
        if (names.count(path.substr(0, path.find_first_of(".@|")))) chosen.insert(array_choices.at(id).which);
    const std::function<void(Value&)> keep = [&](Value& item) {
        for (Value& inner : item.items) keep(inner);
        if (const Choice* choice = choice_of(item); choice && chosen.count(choice->which))
            item = chosen_now(std::move(item));
        for (ExprP* part : view_parts(item))
            if (!(*part)->type.is_none() && reads(**part, vars, memory)) *part = spill(*part);
        if (item.is_scalar() && !item.expr->type.is_none() && reads(*item.expr, vars, memory))
            item.expr = spill(item.expr);
    };
    keep(v);
    return v;
}

void Lowering::assign_target(const Node& target, const Value& given) {
    const bool several = target.kind == "Tuple" || target.kind == "List";
    const Value v = several ? taken_apart(given, target) : given;
    if (v.is_tuple()) {  // `a, b = b, a` swaps
        const Value kept = read_before(v, {&target});
        if (several) return unpack(target, kept);
        if (target.kind == "Name") return assign(target.text("id"), kept, target.place);
    }
    if (several) return unpack(target, v);
    if (target.kind == "Name") {
        Value named = materialised(v, target.place);
        name_arrays(named, target.text("id"));
        return assign(target.text("id"), named, target.place);
    }
    if (target.kind == "Subscript") return store_subscript(target, v);
    if (target.kind == "Attribute") {
        Value kept = v;
        const std::size_t mark = out->size();
        const Value field = place_of(value(target.one("value")), target);
        settle({&kept}, mark);
        return assign_place(field, kept, target.place);
    }
    refuse_node(target);
}

// A local or shared array is called by the first name that it gets.
void Lowering::name_arrays(Value& v, const std::string& name) {
    if (v.is_indexed()) {
        std::string& made = fn.vars[ir::var_of(*v.expr)].name;
        if (made.empty()) made = name;
    }
    if (v.kind != Value::Kind::records) return;
    if (v.text.empty() || v.text[0] == '.') v.text = name;
    for (std::size_t i = 0; i < v.items.size(); ++i) name_arrays(v.items[i], name + "." + v.fields[i]);
}

void Lowering::unpack(const Node& target, const Value& v) {
    const auto& elts = target.list("elts");
    if (v.only_fields)
        throw refused(target.place, v.text + " is no sequence: it has fields", "write its field's name");
    const auto star =
        std::find_if(elts.begin(), elts.end(), [](const ast::NodeP& e) { return e->kind == "Starred"; });
    if (star != elts.end() && v.is_tuple()) {  // a, *rest = t: the rest is a tuple
        const std::size_t before = static_cast<std::size_t>(star - elts.begin()),
                          after = elts.size() - before - 1;
        if (v.items.size() < before + after)
            throw refused(target.place,
                          fmt::format("{} names and more for a tuple of {}", before + after, v.items.size()));
        const auto first = v.items.begin() + static_cast<std::ptrdiff_t>(before),
                   last = v.items.end() - static_cast<std::ptrdiff_t>(after);
        for (std::size_t i = 0; i < before; ++i) assign_target(*elts[i], v.items[i]);
        assign_target((*star)->one("value"), tuple_value({first, last}));
        for (std::size_t i = 0; i < after; ++i)
            assign_target(*elts[before + 1 + i], *(last + static_cast<std::ptrdiff_t>(i)));
        return;
    }
    if (!v.is_tuple()) {
        const bool grid1 = v.is_scalar() && v.expr->op == Op::coord;
        throw refused(target.place, fmt::format("{} names for {}", elts.size(), spoken(v)),
                      grid1 ? fmt::format("write cuda.grid({})", elts.size())
                      : star != elts.end() && (v.is_indexed() || v.kind == Value::Kind::records)
                          ? "* needs a length known when the kernel is compiled: index the array, or slice it"
                          : "only a tuple or an array can be unpacked");
    }
    if (elts.size() != v.items.size())
        throw refused(target.place, fmt::format("{} names for a tuple of {}", elts.size(), v.items.size()));
    for (std::size_t i = 0; i < elts.size(); ++i) {
        Value item = v.items[i];
        if (!item.place.known()) item.place = v.place;
        assign_target(*elts[i], item);
    }
}

void Lowering::augmented(const Node& node) {
    const auto op = operator_named(node.text("op"));
    if (!op) throw refused(node.place, "the operator @= is not part of the kernel language");
    const Node& target = node.one("target");
    if (target.kind == "Subscript") return augment_subscript(target, *op, node.one("value"), node.place);
    if (target.kind == "Attribute")
        return augment_place(place_of(value(target.one("value")), target), *op, node.one("value"),
                             node.place);
    if (target.kind != "Name") return assign_target(target, {});
    const std::vector<Value> sides = operands({&target, &node.one("value")});
    if (sides[0].is_indexed()) return fill(sides[0], sides[1], node.place, op);  // row += x
    if (sides[0].is_tuple() || sides[1].is_tuple())
        return assign_target(target, tuple_arithmetic(*op, sides[0], sides[1], node.place));
    const ExprP result = arithmetic(*op, number(sides[0], target.place),
                                    number(sides[1], node.one("value").place), node.place);
    // NumPy's scalars do the same, but say so at run time.
    const ir::Type& type = result->type;
    const bool sums = *op == Op::add || *op == Op::sub || *op == Op::mul;
    if (sums && !loops.empty() && type.is_scalar() && is_integer(type.dtype) && info(type.dtype).size <= 2)
        warn(node.place,
             fmt::format("'{0}' is {1} and wraps around at {2} bits, as NumPy's {1} does; start it as "
                         "np.int64(0) to sum more",
                         target.text("id"), info(type.dtype).name, info(type.dtype).size * 8));
    assign(target.text("id"), scalar_value(result), node.place);
}

void Lowering::if_statement(const Node& node) {
    const ExprP test = condition(node.one("test"));
    if (is_constant(*test)) {  // only what can run is compiled
        statements(truthy(ir::number_of(*test)) ? node.list("body") : node.list("orelse"));
        return;
    }
    const Flow before = flow;
    ir::Body body = block(node.list("body"));
    const Flow after = flow;
    flow = before;
    ir::Body orelse = block(node.list("orelse"));
    flow = meet(after, flow);
    emit(ir::branch(test, std::move(body), std::move(orelse), node.place));
}

void Lowering::expression_statement(const Node& node) {
    const Node& inner = node.one("value");
    if (inner.kind == "Constant") return;  // a string as a comment, `...`
    const std::size_t mark = out->size();
    const Value v = value(inner);
    // An effect has become a statement of its own; a value nobody takes needs none, but its checks stay.
    if (v.is_scalar() && ir::may_fault(*v.expr) && out->size() == mark) spill(v.expr);
    if (v.is_scalar() && v.expr->op == Op::var && out->size() > mark) {
        Stmt& last = out->back();
        const bool unused = last.kind == Stmt::Kind::assign && last.var == ir::var_of(*v.expr) &&
                            fn.vars[last.var].role == ir::Var::Role::hidden && ir::has_effect(*last.exprs[0]);
        if (unused) {
            last = ir::evaluate(last.exprs[0], last.place);
            if (ir::var_of(*v.expr) == static_cast<ir::VarId>(fn.vars.size()) - 1) fn.vars.pop_back();
        }
    }
    if (v.kind == Value::Kind::meaning && inner.kind != "Call")
        refuse_meaning(*v.meaning, v.text, inner.place);
}

void Lowering::return_statement(const Node& node) {
    const Node* given = node.maybe("value");
    Value v;
    if (given) v = value(*given);
    give_back(v, node.place, given ? given->place : node.place);
}

void Lowering::give_back(const Value& v, const Place& place, const Place& value_place) {
    if (source.is_kernel) {
        if (v.kind != Value::Kind::none)
            throw refused(place, "a kernel returns nothing", "write into an array argument");
    } else if (v.kind == Value::Kind::none) {
        if (value_return)
            throw refused(place, fmt::format("{}() returns a value in line {} and none here", source.name,
                                             value_return->line));
    } else {
        const bool arrays = v.is_indexed() || v.kind == Value::Kind::records;
        if (!v.is_scalar() && !v.is_tuple() && !arrays) {
            throw refused(value_place, fmt::format("{}() returns {}", source.name, spoken(v)),
                          "a helper returns a number, a tuple of numbers or a part of an array it was given");
        }
        if (!value_return) value_return = place;
        const Flow before = flow;
        ir::Body ignored, *outside = out;
        out = &ignored;  // the result's type is found as a variable's is
        assign("return", v, place);
        out = outside;
        flow = before;
        const Slot* slot = slot_of("return");
        std::vector<ExprP> numbers;
        if (arrays) {
            Value parts = v;
            for (ExprP* part : view_parts(parts)) numbers.push_back(*part);
        } else if (v.is_tuple()) {
            for (const Value& item : v.items) numbers.push_back(number(item, place));
        }
        if (arrays || v.is_tuple()) {
            for (std::size_t i = 0; i < numbers.size() && i < result_arrays.size(); ++i) {
                const ir::Var& var = fn.vars[result_arrays[i]];
                const ExprP item = convert(numbers[i], ir::scalar(var.type.dtype));
                emit(ir::store(ir::var(result_arrays[i], var.type, place), {ir::int_constant(0, place)}, item,
                               {}, place));
            }
        } else {
            Stmt s = ir::simple(Stmt::Kind::leave, place);
            s.exprs = {convert(v.expr, slot->type)};
            emit(std::move(s));
            flow.live = false;
            return;
        }
    }
    emit(ir::simple(Stmt::Kind::leave, place));
    flow.live = false;
}

void Lowering::fault(ir::Site site) {
    Stmt s = ir::simple(Stmt::Kind::fault, site.place);
    s.site = unit.site(std::move(site));
    emit(std::move(s));
}

namespace {

std::string message_of(const ast::Node* node) {
    if (!node) return {};
    if (node->kind != "Constant" || node->constant_kind != ast::Node::Constant::string)
        throw refused(node->place, "the message in a kernel must be a plain string", "write \"...\"");
    return node->string;
}

}  // namespace

void Lowering::assert_statement(const Node& node) {
    const std::string message = message_of(node.maybe("msg"));
    if (!unit.checked) return;  // as python -O
    const ExprP test = condition(node.one("test"));
    if (is_constant(*test) && truthy(ir::number_of(*test))) return;
    ir::Body body, *outside = out;
    out = &body;
    fault({ir::Site::Kind::assertion, node.place, "AssertionError", message, 0, -1, {}});
    out = outside;
    emit(ir::branch(negate(Op::logic_not, test, node.place), std::move(body), {}, node.place));
}

void Lowering::raise_statement(const Node& node) {
    const Node* exception = node.maybe("exc");
    if (!exception)
        throw refused(node.place, "a bare raise has nothing to raise in a kernel",
                      "write raise ValueError(\"...\")");
    std::string message;
    const Node* type = exception;
    if (exception->kind == "Call") {
        type = &exception->one("func");
        const auto& args = exception->list("args");
        if (args.size() > 1 || !exception->list("keywords").empty())
            throw refused(exception->place, "an exception in a kernel takes one message",
                          "write raise ValueError(\"...\")");
        if (!args.empty()) message = message_of(args[0].get());
    }
    const Value v = value(*type);
    if (v.kind != Value::Kind::meaning || v.meaning->kind != Meaning::Kind::exception)
        throw refused(type->place, spoken(v) + " can't be raised in a kernel",
                      "raise one of Python's own exceptions, as ValueError(\"...\")");
    fault({ir::Site::Kind::raised, node.place, v.meaning->text, message, 0, -1, {}});
    flow.live = false;
}

}  // namespace xcuda::frontend
