// Truth: conditions, and/or, chains of comparisons, x if c else y. Only what Python would evaluate is.
#include <fmt/format.h>

#include "frontend/lowering.hpp"

namespace xcuda::frontend {

using ir::ExprP;

ExprP Lowering::condition(const Node& node) {
    if (node.kind == "BoolOp") return number(boolean(node, true), node.place);
    if (node.kind == "UnaryOp" && node.text("op") == "Not")
        return negate(Op::logic_not, condition(node.one("operand")), node.place);
    const Value v = value(node);
    if (v.kind == Value::Kind::none || v.kind == Value::Kind::string)
        return ir::constant(!v.text.empty(), ir::scalar(DType::b1, true), node.place);
    if (v.has_elements())
        throw refused(node.place, "the truth of an array is not defined",
                      v.is_indexed() ? "test one element: A[i]" : "write np.any(...) or np.all(...)");
    return truth(one_number(v, node.place));
}

// `a and b` is b where a is true and a elsewhere; b is touched only then.
Value Lowering::boolean(const Node& node, bool truth_only) {
    const bool is_and = node.text("op") == "And";
    const ir::Type weak_bool = ir::scalar(DType::b1, true);
    const auto part = [&](const Node& n) {
        if (truth_only) return scalar_value(condition(n));
        const Value v = value(n);
        return v.is_scalar() || v.kind == Value::Kind::seen ? scalar_value(one_number(v, n.place)) : v;
    };
    const std::vector<ast::NodeP>& nodes = node.list("values");
    Value left = part(*nodes[0]);
    for (std::size_t i = 1; i < nodes.size(); ++i) {
        ExprP a = left.kind == Value::Kind::none ? ir::constant(false, weak_bool, node.place)
                                                 : number(left, nodes[i - 1]->place);
        if (is_constant(*a)) {
            if (truthy(ir::number_of(*a)) != is_and) return left;
            left = part(*nodes[i]);
            continue;
        }
        auto [right, body] = aside([&] { return part(*nodes[i]); });
        ExprP b = number(right, nodes[i]->place);
        if (a->type.is_none() || b->type.is_none()) {
            left = scalar_value(ir::make(Op::constant, ir::Type{}, {}, node.place));
            continue;
        }
        const ir::Type type = ir::join(a->type, b->type);
        if (type.dtype == DType::b1 && body.empty()) {
            left = scalar_value(ir::make(is_and ? Op::logic_and : Op::logic_or, type, {a, b}, node.place));
            continue;
        }
        if (!repeatable(*a) || a->op != Op::var) a = spill(a);
        ExprP test = truth(a);
        if (!is_and) test = negate(Op::logic_not, test, node.place);
        left = choose(test, scalar_value(b), std::move(body), scalar_value(a), {}, node.place);
    }
    return left;
}

Value Lowering::compare(const Node& node) {
    const std::vector<ast::NodeP>& ops = node.list("ops");
    const std::vector<ast::NodeP>& rights = node.list("comparators");
    std::vector<Value> first = operands({&node.one("left"), rights[0].get()});
    Value left = std::move(first[0]), right = std::move(first[1]);
    const auto keep = [&](Value& v) {  // the middle of a chain is evaluated once
        if (v.is_scalar() && !repeatable(*v.expr)) v.expr = spill(v.expr);
    };
    if (ops.size() > 1) keep(right);
    Value result = compare_pair(ops[0]->string, left, right, node.place);
    if (ops.size() > 1 && result.kind == Value::Kind::expression)
        throw refused(node.place, "a chain of comparisons asks for the truth of a whole array",
                      "write (a < b) & (b < c)");
    for (std::size_t i = 1; i < ops.size(); ++i) {
        one_number(result, node.place);  // Python asks for the truth of each pair
        if (is_constant(*result.expr) && !truthy(ir::number_of(*result.expr))) return result;
        left = right;
        Value next_right;
        auto [pair, body] = aside([&] {
            next_right = value(*rights[i]);
            if (i + 1 < ops.size()) keep(next_right);
            return compare_pair(ops[i]->string, left, next_right, node.place);
        });
        right = next_right;
        if (pair.kind == Value::Kind::expression)
            throw refused(node.place, "a chain of comparisons asks for the truth of a whole array",
                          "write (a < b) & (b < c)");
        if (result.expr->type.is_none() || pair.expr->type.is_none()) {
            result = scalar_value(ir::make(Op::constant, ir::Type{}, {}, node.place));
        } else if (is_constant(*result.expr)) {
            for (ir::Stmt& s : body) emit(std::move(s));
            result = pair;
        } else if (body.empty()) {
            result = scalar_value(ir::make(Op::logic_and, ir::join(result.expr->type, pair.expr->type),
                                           {result.expr, pair.expr}, node.place));
        } else {
            const ExprP test = spill(result.expr);
            result = choose(test, pair, std::move(body), scalar_value(test), {}, node.place);
        }
    }
    return result;
}

Value Lowering::compare_pair(const std::string& op, const Value& a, const Value& b, const Place& place) {
    const auto constant = [&](bool value) {
        return scalar_value(ir::constant(value, ir::scalar(DType::b1, true), place));
    };
    if (op == "Is" || op == "IsNot") {
        evaluated(a), evaluated(b);
        const bool none_a = a.kind == Value::Kind::none, none_b = b.kind == Value::Kind::none;
        using Kind = Value::Kind;
        const auto named = [](Kind k) {
            return k == Kind::string || k == Kind::dtype || k == Kind::meaning || k == Kind::closure;
        };
        if (!none_a && !none_b && named(a.kind) && named(b.kind))
            return constant(same_fixed(a, b) == (op == "Is"));
        if (const auto same = same_member(a, b, place))
            return op == "Is" ? *same : scalar_value(negate(Op::logic_not, same->expr, place));
        const auto is_bool = [](const Value& v) {
            return v.is_scalar() && v.expr->type.is_scalar() && v.expr->type.dtype == DType::b1;
        };
        if (is_bool(a) || is_bool(b)) {  // there are two of them; no number is one
            if (!is_bool(a) || !is_bool(b)) return constant(op == "IsNot");
            return scalar_value(comparison(op == "Is" ? Op::eq : Op::ne, a.expr, b.expr, place));
        }
        if (!none_a && !none_b)
            throw refused(place, "'is' compares identities, which numbers in a kernel don't have",
                          "write == or !=");
        return constant((none_a == none_b) == (op == "Is"));
    }
    if (op == "In" || op == "NotIn") {
        if (b.kind == Value::Kind::range) {
            const ExprP inside = in_range(number(a, place), b, place);
            return scalar_value(op == "In" || inside->type.is_none() ? inside
                                                                     : negate(Op::logic_not, inside, place));
        }
        if (b.has_elements() && (a.is_scalar() || a.kind == Value::Kind::view)) {
            const ExprP inside = contained(a, b, place);
            return scalar_value(op == "In" || inside->type.is_none() ? inside
                                                                     : negate(Op::logic_not, inside, place));
        }
        if (a.kind == Value::Kind::string && b.kind == Value::Kind::string)
            return constant((b.text.find(a.text) != std::string::npos) == (op == "In"));
        if (!b.is_tuple())
            throw refused(place, "'in' needs a tuple, a range or an array on its right, found " + spoken(b),
                          "write x in (a, b)");
        if (a.kind == Value::Kind::string || a.kind == Value::Kind::dtype)  // known while compiling
            return constant(std::any_of(b.items.begin(), b.items.end(), [&](const Value& item) {
                                return same_fixed(a, item);
                            }) == (op == "In"));
        const ExprP given = number(evaluated(a), place);
        const ExprP x = given->type.is_none() || repeatable(*given) ? given : spill(given);
        ExprP found = ir::constant(false, ir::scalar(DType::b1, true), place);
        for (const Value& item : b.items) {
            const ExprP equal = comparison(Op::eq, x, number(item, place), place);
            if (equal->type.is_none()) return scalar_value(equal);
            const bool first = is_constant(*found) && !truthy(ir::number_of(*found));
            found = first ? equal
                          : ir::make(Op::logic_or, ir::join(found->type, equal->type), {found, equal}, place);
        }
        return scalar_value(op == "In" ? found : negate(Op::logic_not, found, place));
    }
    const auto order = operator_named(op);
    if (!order) throw bug("a comparison " + op);
    const bool equality = *order == Op::eq || *order == Op::ne;
    if (equality && (a.kind == Value::Kind::none || b.kind == Value::Kind::none)) {
        evaluated(a), evaluated(b);
        return constant((a.kind == b.kind) == (*order == Op::eq));
    }
    if (equality && a.kind == Value::Kind::dtype && b.kind == Value::Kind::dtype)
        return constant(same_fixed(a, b) == (*order == Op::eq));
    if (const auto made = string_operation(*order, a, b, place)) return *made;
    return array_comparison(*order, a, b, place);
}

Value Lowering::conditional(const Node& node) {
    const ExprP test = condition(node.one("test"));
    if (is_constant(*test)) return value(node.one(truthy(ir::number_of(*test)) ? "body" : "orelse"));
    auto [yes, yes_body] = aside([&] { return value(node.one("body")); });
    auto [no, no_body] = aside([&] { return value(node.one("orelse")); });
    return choose(test, std::move(yes), std::move(yes_body), std::move(no), std::move(no_body), node.place);
}

Value Lowering::choose(ExprP test, Value yes, ir::Body yes_body, Value no, ir::Body no_body,
                       const Place& place) {
    if (yes.is_tuple() && no.is_tuple() && yes.items.size() == no.items.size())
        return choose_items(std::move(test), yes, std::move(yes_body), no, std::move(no_body), place);
    const bool arrays = alike(yes, no) && rank(yes) > 0;
    const bool records = yes.kind == Value::Kind::records && same_fixed(yes, no);
    if (arrays || records) {
        const Value either = either_array(yes, yes_body, no, no_body, place);
        if (!yes_body.empty() || !no_body.empty())
            emit(ir::branch(std::move(test), std::move(yes_body), std::move(no_body), place));
        return either;
    }
    if (!yes.is_scalar() && !yes.is_indexed() && yes.kind != Value::Kind::seen && same_fixed(yes, no))
        return yes;
    const auto number_like = [](const Value& v) {
        return v.is_scalar() || v.kind == Value::Kind::seen ||
               (v.kind == Value::Kind::view && v.axes.empty());
    };
    if (!number_like(yes) || !number_like(no))
        throw refused(place,
                      "the choice is " + spoken(yes) + " or " + spoken(no) + ", by what only the run tells",
                      yes.is_indexed() && no.is_indexed()
                          ? "choose between arrays of one dtype and rank, or parts of such arrays taken alike"
                          : "choose between numbers, or write if and else");
    const ExprP a = number(yes, yes.place.known() ? yes.place : place);
    const ExprP b = number(no, no.place.known() ? no.place : place);
    const ir::Type type = ir::join(a->type, b->type);
    if (type.is_none() || test->type.is_none())
        return scalar_value(ir::make(Op::constant, ir::Type{}, {}, place));
    if (yes_body.empty() && no_body.empty())
        return scalar_value(ir::make(Op::select, type, {test, convert(a, type), convert(b, type)}, place));
    expect_broadcast({a, b}, place);
    const ExprP both = ir::make(Op::select, type, {test, a, b}, place);
    const ir::Type stored = stored_type(*both);
    const ir::VarId id = hidden(stored, place);
    yes_body.push_back(ir::assign(id, convert(a, type), place));
    no_body.push_back(ir::assign(id, convert(b, type), place));
    emit(ir::branch(std::move(test), std::move(yes_body), std::move(no_body), place));
    return scalar_value(stored.is_tile() ? ir::element(id, stored, place) : ir::var(id, stored, place));
}

// Of two tuples of one length: item by item, after the statements that the taken one needs.
Value Lowering::choose_items(ExprP test, const Value& yes, ir::Body yes_body, const Value& no,
                             ir::Body no_body, const Place& place) {
    if (!repeatable(*test)) test = spill(test);
    const bool statements = !yes_body.empty() || !no_body.empty();
    const std::function<Value(const Value&, const Value&)> item = [&](const Value& a, const Value& b) {
        const bool records = a.kind == Value::Kind::records && same_fixed(a, b);
        if (records || (alike(a, b) && rank(a) > 0)) return either_array(a, yes_body, b, no_body, place);
        if (!statements || !a.is_scalar() || !b.is_scalar()) {
            if (!a.is_tuple() || !b.is_tuple() || a.items.size() != b.items.size())
                return choose(test, a, {}, b, {}, place);
            std::vector<Value> items;
            for (std::size_t i = 0; i < a.items.size(); ++i) items.push_back(item(a.items[i], b.items[i]));
            Value v = tuple_value(std::move(items));
            if (a.fields == b.fields && a.text == b.text) {
                v.fields = a.fields;
                v.text = a.text;
                v.only_fields = a.only_fields;
            }
            return v;
        }
        const ir::Type type = ir::join(a.expr->type, b.expr->type);
        if (a.expr->type.is_none() || b.expr->type.is_none() || test->type.is_none())
            return scalar_value(ir::make(Op::constant, ir::Type{}, {}, place));
        const ir::VarId id = hidden(type, place);
        yes_body.push_back(ir::assign(id, convert(a.expr, type), place));
        no_body.push_back(ir::assign(id, convert(b.expr, type), place));
        return scalar_value(ir::var(id, type, place));
    };
    const Value chosen = item(yes, no);
    if (!yes_body.empty() || !no_body.empty())
        emit(ir::branch(test, std::move(yes_body), std::move(no_body), place));
    return chosen;
}

}  // namespace xcuda::frontend
