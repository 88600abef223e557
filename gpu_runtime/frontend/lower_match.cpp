// match: a chain of tests, each with the names that its pattern binds. Patterns are values, None, tuples, names and `|`.
#include <fmt/format.h>

#include "frontend/lowering.hpp"

namespace xcuda::frontend {

using ir::ExprP;
using ir::Op;

namespace {

const ir::Type weak_bool = ir::scalar(DType::b1, true);

std::optional<bool> decided(const ExprP& test) {
    if (!is_constant(*test)) return std::nullopt;
    return truthy(ir::number_of(*test));
}

std::string bound_name(const ast::Node& pattern) {
    const ast::Field* name = pattern.find("name");
    return name ? name->text : std::string();
}

}  // namespace

void Lowering::match_statement(const Node& node) {
    match_cases(kept_still(value(node.one("subject"))), node.list("cases"), 0);
}

void Lowering::match_cases(const Value& subject, const std::vector<ast::NodeP>& cases, std::size_t first) {
    if (first == cases.size()) return;
    const Node& one = *cases[first];
    const Place& place = one.one("pattern").place;
    std::vector<Binding> bindings;
    ExprP test = pattern(subject, one.one("pattern"), bindings);
    if (test->type.is_none()) return;
    if (decided(test) == false) return match_cases(subject, cases, first + 1);
    const auto bind_all = [&] {
        for (const Binding& b : bindings) assign(b.name, b.value, b.place);
    };
    if (const Node* guard = one.maybe("guard")) {
        auto [held, body] = aside([&] {
            bind_all();
            return scalar_value(condition(*guard));
        });
        test = choose(test, std::move(held), std::move(body),
                      scalar_value(ir::constant(false, weak_bool, place)), {}, place)
                   .expr;
        if (test->type.is_none()) return;
        if (decided(test) == false) return match_cases(subject, cases, first + 1);
    }
    if (decided(test) == true) {
        bind_all();
        return statements(one.list("body"));
    }
    const Flow before = flow;
    ir::Body body, orelse, *outside = out;
    out = &body;
    bind_all();
    statements(one.list("body"));
    const Flow after = flow;
    flow = before;
    out = &orelse;
    match_cases(subject, cases, first + 1);
    out = outside;
    flow = meet(after, flow);
    emit(ir::branch(test, std::move(body), std::move(orelse), place));
}

// Whether the subject has the form of the pattern; what its names would be bound to goes into `bindings`.
ExprP Lowering::pattern(const Value& subject, const Node& node, std::vector<Binding>& bindings) {
    using Kind = Value::Kind;
    const auto constant = [&](bool holds) { return ir::constant(holds, weak_bool, node.place); };
    const auto join = [&](Op op, const ExprP& a, const ExprP& b) {
        if (a->type.is_none() || b->type.is_none()) return ir::make(Op::constant, ir::Type{}, {}, node.place);
        const bool absorbing = op == Op::logic_or;
        if (const auto known = decided(a)) return *known == absorbing ? a : b;
        if (const auto known = decided(b)) return *known == absorbing ? b : a;
        return ir::make(op, weak_bool, {a, b}, node.place);
    };
    if (node.kind == "MatchValue") {
        const Value v = value(node.one("value"));
        if (v.kind != subject.kind || v.kind == Kind::tuple || v.is_indexed()) return constant(false);
        return compare_pair("Eq", subject, v, node.place).expr;
    }
    if (node.kind == "MatchSingleton") {
        const ast::Field* word = node.find("value");
        if (!word) return constant(subject.kind == Kind::none);
        throw refused(node.place,
                      "True and False as patterns compare identities, which numbers in a kernel don't have",
                      "write case 1, or an if");
    }
    if (node.kind == "MatchAs") {
        const Node* inner = node.maybe("pattern");
        const ExprP test = inner ? pattern(subject, *inner, bindings) : constant(true);
        const std::string name = bound_name(node);
        if (!name.empty()) bindings.push_back({name, subject, node.place});
        return test;
    }
    if (node.kind == "MatchOr") {
        ExprP any = constant(false);
        const std::size_t before = bindings.size();
        for (const ast::NodeP& part : node.list("patterns"))
            any = join(Op::logic_or, any, pattern(subject, *part, bindings));
        if (bindings.size() != before)
            throw refused(node.place, "alternatives of a pattern can't bind names in a kernel",
                          "write a case for each");
        return any;
    }
    if (node.kind == "MatchSequence") {
        const std::vector<ast::NodeP>& parts = node.list("patterns");
        for (const ast::NodeP& part : parts)
            if (part->kind == "MatchStar") refuse_node(*part);
        if (subject.is_indexed())
            throw refused(node.place, "an array can't be matched as a sequence in a kernel",
                          "match on its elements");
        if (!subject.is_tuple() || subject.only_fields || subject.items.size() != parts.size())
            return constant(false);
        ExprP all = constant(true);
        for (std::size_t i = 0; i < parts.size(); ++i)
            all = join(Op::logic_and, all, pattern(subject.items[i], *parts[i], bindings));
        return all;
    }
    refuse_node(node);
}

}  // namespace xcuda::frontend
