// *items in a call or a tuple: the items in its place, once each of them was evaluated in Python's order; and what several
// names take of an array.
#include <fmt/format.h>
#include <algorithm>

#include "frontend/lowering.hpp"

namespace xcuda::frontend {

using ir::ExprP;
using Kind = Value::Kind;

namespace {

constexpr std::int64_t most_taken = 64;  // items of an array that names take

bool starred(const ast::NodeP& n) { return n->kind == "Starred"; }

}  // namespace

// The values of `elements` with those of each *items among them; `places` has a node for each.
std::vector<Value> Lowering::spread_items(const std::vector<ast::NodeP>& elements,
                                          std::vector<ast::NodeP>& places) {
    std::vector<const Node*> nodes;
    for (const ast::NodeP& e : elements) nodes.push_back(starred(e) ? &e->one("value") : e.get());
    const std::vector<Value> values = operands(nodes);
    std::vector<Value> items;
    for (std::size_t i = 0; i < elements.size(); ++i) {
        if (!starred(elements[i])) {
            items.push_back(values[i]);
            places.push_back(elements[i]);
            continue;
        }
        const Value& v = values[i];
        std::optional<std::vector<Value>> inner = known_items(v);
        if (!inner) inner = known_range(v);
        if (!inner && v.is_scalar() && v.expr->type.is_none()) inner.emplace();  // of no type yet
        if (!inner || v.only_fields)
            throw refused(elements[i]->place, "* takes a tuple, found " + spoken(v), "write the items out");
        for (Value& item : *inner) {
            items.push_back(std::move(item));
            places.push_back(elements[i]);
        }
    }
    return items;
}

// f(x, *items) as a call whose arguments are values already; null where no argument is starred.
ast::NodeP Lowering::spread_call(const Node& call) {
    const std::vector<ast::NodeP>& args = call.list("args");
    if (std::none_of(args.begin(), args.end(), starred)) return nullptr;
    std::vector<ast::NodeP> places;
    std::vector<Value> items = spread_items(args, places);
    auto made = std::make_shared<Node>(call);
    for (ast::Field& field : made->fields) {
        if (field.name != "args") continue;
        field.nodes.clear();
        for (std::size_t i = 0; i < items.size(); ++i) {
            auto node = std::make_shared<Node>();
            node->kind = "Given";
            node->place = places[i]->place;
            given_values[node.get()] = kept_still(std::move(items[i]));
            given_nodes.push_back(node);
            field.nodes.push_back(std::move(node));
        }
    }
    given_nodes.push_back(made);
    return made;
}

// [f(x) for x in (1, 2)], or the generator of tuple(f(x) for x in range(4)): a tuple; nothing where only the run tells what
// is iterated over.
std::optional<Value> Lowering::comprehended(const Node& node) {
    std::vector<Value> made;
    const auto& generators = node.list("generators");
    const std::function<bool(std::size_t)> level = [&](std::size_t g) {
        if (g == generators.size()) {
            made.push_back(kept_still(value(node.one("elt"))));
            return true;
        }
        const Value over = kept_still(value(generators[g]->one("iter")));
        std::optional<std::vector<Value>> items = known_items(over);
        if (!items) items = known_range(over);
        if (!items) return false;
        bool known = true;
        for (const Value& item : *items)
            bind_item(generators[g]->one("target"), item, [&] {
                for (const ast::NodeP& test : generators[g]->list("ifs")) {
                    const ExprP holds = condition(*test);
                    if (!is_constant(*holds))
                        throw refused(test->place,
                                      "what a comprehension takes must be known when the kernel is compiled",
                                      "write a for loop over cuda.local.array(n, dtype)");
                    if (!truthy(ir::number_of(*holds))) return;
                }
                known = known && level(g + 1);
            });
        return known;
    };
    if (!level(0)) return std::nullopt;
    return tuple_value(std::move(made));
}

Value Lowering::list_comprehension(const Node& node) {
    if (auto made = comprehended(node)) return *made;
    refuse_node(node);
}

// What `a, b = v` unpacks, as a tuple: an array's first axis, a record's fields, a short range, a generator. A length that
// only the run tells is tested. Else v as it is.
Value Lowering::taken_apart(const Value& v, const Node& target) {
    const Place& place = target.place;
    const std::vector<ast::NodeP>& names = target.list("elts");
    if (v.is_tuple()) return v;
    if (v.kind == Kind::records && v.ndim == 0) {
        std::vector<Value> items;
        for (const std::string& name : v.fields) items.push_back(read_value(field(v, name, place), place));
        return tuple_value(std::move(items));
    }
    if (v.kind == Kind::lazy && v.text == "generator") {
        const std::optional<Value> made = comprehended(*v.node);
        return made ? *made : v;
    }
    std::optional<std::vector<Value>> known = known_items(v);
    if (!known) known = known_range(v);
    if (known) return tuple_value(std::move(*known));
    const bool viewed = v.kind == Kind::expression && v.expression->alias;
    if (!v.is_indexed() && v.kind != Kind::records && !viewed) return v;
    if (rank(v) == 0 || (viewed && rank(v) > 1)) return v;
    const Sequence all = sequence(v, place);
    std::optional<std::int64_t> length;
    if (v.is_array() && !v.expr->type.extents.empty())
        length = v.expr->type.extents[0];
    else if (is_constant(*all.count))
        length = std::get<std::int64_t>(ir::number_of(*all.count));
    if (std::any_of(names.begin(), names.end(), starred) && !length) return v;
    const auto count = length ? *length : static_cast<std::int64_t>(names.size());
    if (count > most_taken) return v;
    if (!length) {
        const ExprP wanted = ir::int_constant(count, place);
        stop_unless(comparison(Op::ge, all.count, wanted, place), "ValueError",
                    fmt::format("not enough values to unpack (expected {})", count), place);
        stop_unless(comparison(Op::le, all.count, wanted, place), "ValueError",
                    fmt::format("too many values to unpack (expected {})", count), place);
    }
    std::vector<Value> items;
    for (std::int64_t i = 0; i < count; ++i) items.push_back(all.at(ir::int_constant(i, place)));
    return tuple_value(std::move(items));
}

Value Lowering::given_value(const Node& node) { return given_values.at(&node); }

}  // namespace xcuda::frontend
