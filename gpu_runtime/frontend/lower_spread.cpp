// *items in a call or a tuple: the items in its place, once each of them was evaluated in Python's order.
#include "frontend/lowering.hpp"

namespace xcuda::frontend {

namespace {

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

Value Lowering::given_value(const Node& node) { return given_values.at(&node); }

}  // namespace xcuda::frontend
