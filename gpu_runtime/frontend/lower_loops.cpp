// Loops: for over range, arrays, enumerate and tuples, while, their else clauses, break and continue.
#include "frontend/lowering.hpp"
#include "frontend/scan.hpp"

namespace xcuda::frontend {

using ir::ExprP;
using ir::Stmt;

namespace {

const ir::Type loop_type = ir::scalar(DType::i64, true);
constexpr std::size_t unrolled_items = 64;

}  // namespace

void Lowering::for_statement(const Node& node) {
    const Value items = value(node.one("iter"));
    if (items.kind == Value::Kind::range) {
        std::vector<ExprP> bounds;
        for (const Value& v : items.items) bounds.push_back(v.expr);
        return counted(node, std::move(bounds), nullptr);
    }
    if (const auto known = known_items(items)) return for_tuple(node, *known);
    const Place& place = node.one("iter").place;
    const Sequence all = sequence(kept_still(items), place);
    if (all.count->type.is_none()) return;
    counted(node, {ir::int_constant(0, place), all.count, ir::int_constant(1, place)}, all.at);
}

// range(...)'s three numbers; a step of 0 is refused, or a fault where it is only known at run time.
Value Lowering::call_range(const Node& call) {
    const std::vector<const Node*> nodes = bind(call, "range", {"start", "stop", "step"}, 1);
    std::vector<const Node*> given;
    for (const Node* n : nodes)
        if (n) given.push_back(n);
    std::vector<Value> values = operands(given);
    std::vector<ExprP> bounds;
    for (std::size_t i = 0; i < values.size(); ++i) {
        ExprP e = number(values[i], given[i]->place);
        if (!e->type.is_none() && !is_integer(e->type.dtype) && e->type.dtype != DType::b1)
            throw refused(given[i]->place, "range needs integers, found " + spoken(e->type), whole_number);
        bounds.push_back(convert(std::move(e), loop_type));
    }
    if (bounds.size() == 1) bounds.insert(bounds.begin(), ir::int_constant(0, call.place));
    if (bounds.size() == 2) bounds.push_back(ir::int_constant(1, call.place));
    const std::string zero_step = "range() arg 3 must not be zero";
    if (is_constant(*bounds[2])) {
        if (!truthy(ir::number_of(*bounds[2]))) throw refused(given[2]->place, zero_step);
    } else if (!bounds[2]->type.is_none()) {
        if (bounds[2]->op != Op::var) bounds[2] = spill(bounds[2]);
        ir::Body body, *outside = out;
        out = &body;
        fault({ir::Site::Kind::raised, given[2]->place, "ValueError", zero_step, 0, -1, {}});
        out = outside;
        emit(ir::branch(ir::make(Op::eq, ir::scalar(DType::b1, true),
                                 {bounds[2], ir::int_constant(0, call.place)}, call.place),
                        std::move(body), {}, call.place));
    }
    Value v;
    v.kind = Value::Kind::range;
    for (ExprP& e : bounds) v.items.push_back(scalar_value(std::move(e)));
    return v;
}

// A loop that counts; `item` makes of the counter what the user's target takes (null: the counter itself).
void Lowering::counted(const Node& node, std::vector<ExprP> bounds, const std::function<Value(ExprP)>& item) {
    const auto number_at = [&](std::size_t i) {
        return static_cast<std::int64_t>(as_double(ir::number_of(*bounds[i])));
    };
    const bool all_constant = is_constant(*bounds[0]) && is_constant(*bounds[1]) && is_constant(*bounds[2]);
    const bool runs =
        all_constant && (number_at(2) > 0 ? number_at(0) < number_at(1) : number_at(0) > number_at(1));
    const bool rising = is_constant(*bounds[2]) && number_at(2) > 0;
    const bool falling = is_constant(*bounds[2]) && number_at(2) < 0;
    const bool stop_low = nonnegative(*bounds[1]) || (is_constant(*bounds[1]) && number_at(1) == -1);

    const Node& target = node.one("target");
    const bool own = target.kind == "Name" && loop_only.count(target.text("id"));
    const ir::VarId var =
        own && !item ? fn.add({target.text("id"), loop_type, ir::Var::Role::local, target.place, false})
                     : hidden(loop_type, target.place);
    nonnegative_vars.resize(var + 1, false);
    nonnegative_vars[var] = (falling || nonnegative(*bounds[0])) && (rising || stop_low);
    const ExprP variable = ir::var(var, loop_type, target.place);

    const Flow before = flow;
    loops.push_back({{false, {}}, {false, {}}, -1, fn.vars.size()});
    ir::Body body, *outside = out;
    out = &body;
    Value taken = item ? item(variable) : scalar_value(variable);
    if (own) {
        if (item && taken.is_scalar()) taken.expr = spill(taken.expr);
        with_loop_variable(target.text("id"), taken, [&] { statements(node.list("body")); });
    } else {
        assign_target(target, taken);
        statements(node.list("body"));
    }
    out = outside;
    const Loop loop = loops.back();
    loops.pop_back();
    const Flow end = meet(flow, loop.continues);
    expect_same_rounds(before, end);
    flow = runs ? end : before;
    ir::Body orelse = flow.live ? block(node.list("orelse")) : ir::Body{};
    flow = meet(flow, loop.breaks);

    Stmt s = ir::loop_range(var, bounds[0], bounds[1], bounds[2], std::move(body), node.place);
    s.orelse = std::move(orelse);
    emit(std::move(s));
}

void Lowering::with_loop_variable(const std::string& name, Value v, const std::function<void()>& body) {
    const auto around = loop_variables.find(name);
    std::optional<Value> hidden_one;
    if (around != loop_variables.end()) hidden_one = around->second;
    loop_variables[name] = std::move(v);
    body();
    loop_variables.erase(name);
    if (hidden_one) loop_variables[name] = *hidden_one;
}

// Written out item by item. Where the body breaks or continues, each item is a loop of one round: continue leaves it,
// break leaves it with a flag set that the items after it ask for.
void Lowering::for_tuple(const Node& node, const std::vector<Value>& items) {
    if (items.size() > unrolled_items)
        throw refused(node.one("iter").place, "a loop over so long a tuple would be written out item by item",
                      "pass the values as an array");
    std::vector<Value> kept = items;
    for (Value& item : kept)
        item = kept_still(item);  // read before the body can change what they are made of
    const Node& target = node.one("target");
    const bool own = target.kind == "Name" && loop_only.count(target.text("id"));
    const auto round = [&](Value item) {
        item.place = node.one("iter").place;
        if (own) return with_loop_variable(target.text("id"), item, [&] { statements(node.list("body")); });
        assign_target(target, item);
        statements(node.list("body"));
    };
    if (!breaks_or_continues(node)) {
        for (const Value& item : kept) {
            if (!flow.live) return;
            round(item);
        }
        if (flow.live) statements(node.list("orelse"));
        return;
    }
    const ir::Type boolean = ir::scalar(DType::b1, true);
    const ir::VarId left = hidden(boolean, node.place);
    emit(ir::assign(left, ir::constant(false, boolean, node.place), node.place));
    std::vector<ir::Body> bodies;  // what runs where no item before has broken the loop
    Flow broken{false, {}};
    ir::Body* const outside = out;
    for (const Value& item : kept) {
        if (!flow.live) break;
        ir::Body body;
        out = &body;
        loops.push_back({{false, {}}, {false, {}}, left, fn.vars.size()});
        round(item);
        const Loop loop = loops.back();
        loops.pop_back();
        flow = meet(flow, loop.continues);
        broken = meet(broken, loop.breaks);
        ir::Body once;
        once.push_back(ir::loop_range(hidden(loop_type, node.place), ir::int_constant(0, node.place),
                                      ir::int_constant(1, node.place), ir::int_constant(1, node.place),
                                      std::move(body), node.place));
        bodies.push_back(std::move(once));
    }
    if (flow.live) {
        bodies.emplace_back();
        out = &bodies.back();
        statements(node.list("orelse"));
    }
    out = outside;
    flow = meet(flow, broken);
    ir::Body all;
    for (std::size_t i = bodies.size(); i-- > 0;) {
        if (all.empty()) {
            all = std::move(bodies[i]);
            continue;
        }
        ir::Body now = std::move(bodies[i]);
        const ExprP going =
            ir::make(Op::logic_not, boolean, {ir::var(left, boolean, node.place)}, node.place);
        now.push_back(ir::branch(going, std::move(all), {}, node.place));
        all = std::move(now);
    }
    for (Stmt& s : all) emit(std::move(s));
}

void Lowering::while_statement(const Node& node) {
    const Flow before = flow;
    ir::Body head, *outside = out;
    out = &head;
    ExprP test = condition(node.one("test"));
    out = outside;
    const bool always = is_constant(*test) && truthy(ir::number_of(*test));
    if (is_constant(*test) && !always) {
        for (Stmt& s : head) emit(std::move(s));
        return statements(node.list("orelse"));
    }
    const Flow tested = flow;
    loops.push_back({{false, {}}, {false, {}}, -1, fn.vars.size()});
    ir::Body body = block(node.list("body"));
    const Loop loop = loops.back();
    loops.pop_back();
    expect_same_rounds(before, meet(flow, loop.continues));
    flow = always ? Flow{false, {}} : tested;
    ir::Body orelse = flow.live ? block(node.list("orelse")) : ir::Body{};
    flow = meet(flow, loop.breaks);

    Stmt s = ir::simple(Stmt::Kind::loop_while, node.place);
    if (head.empty()) {
        s.exprs = {test};
        s.body = std::move(body);
        s.orelse = std::move(orelse);
        return emit(std::move(s));
    }
    // The test has statements of its own: they run at the head of every round of an endless loop.
    const ir::Type boolean = ir::scalar(DType::b1, true);
    ir::Body stop;
    ir::VarId ended = -1;
    if (!orelse.empty()) {
        ended = hidden(boolean, node.place);
        emit(ir::assign(ended, ir::constant(false, boolean, node.place), node.place));
        stop.push_back(ir::assign(ended, ir::constant(true, boolean, node.place), node.place));
    }
    stop.push_back(ir::simple(Stmt::Kind::break_loop, node.place));
    head.push_back(ir::branch(negate(Op::logic_not, test, node.place), std::move(stop), {}, node.place));
    for (Stmt& inner : body) head.push_back(std::move(inner));
    s.exprs = {ir::constant(true, boolean, node.place)};
    s.body = std::move(head);
    emit(std::move(s));
    if (!orelse.empty())
        emit(ir::branch(ir::var(ended, boolean, node.place), std::move(orelse), {}, node.place));
}

void Lowering::leave_loop(const Node& node) {
    if (loops.empty()) throw refused(node.place, "outside a loop");  // CPython refuses it before
    const bool breaks = node.kind == "Break";
    Flow& seen = breaks ? loops.back().breaks : loops.back().continues;
    seen = meet(seen, flow);
    if (breaks && loops.back().left >= 0) {
        const ir::Type boolean = ir::scalar(DType::b1, true);
        emit(ir::assign(loops.back().left, ir::constant(true, boolean, node.place), node.place));
    }
    emit(ir::simple(breaks ? Stmt::Kind::break_loop : Stmt::Kind::continue_loop, node.place));
    flow.live = false;
}

}  // namespace xcuda::frontend
