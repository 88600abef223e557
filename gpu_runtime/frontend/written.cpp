#include "frontend/written.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "frontend/refusals.hpp"
#include "frontend/scan.hpp"

namespace xcuda::frontend {

using ast::Node;
using ast::NodeP;
using NameSet = std::set<std::string>;

namespace {

bool is_function(const Node& n) { return n.kind == "FunctionDef" || n.kind == "Lambda"; }

std::vector<std::string> parameters_of(const Node& function) {
    std::vector<std::string> names;
    for (const char* list : {"posonlyargs", "args", "kwonlyargs"})
        for (const NodeP& a : function.one("args").list(list)) names.push_back(a->text("arg"));
    return names;
}

struct Marker {
    std::string mark;
    NameSet own;  // what gets the mark; where `all`: what does not
    bool all;

    std::string name(const std::string& n) const {
        return (own.count(n) > 0) != all ? unmarked(n) + "#" + mark : n;
    }

    Marker within(const Node& function) const {  // what an inner function binds is its own
        Marker inner = *this;
        NameSet bound = assigned_names(function);
        for (const std::string& p : parameters_of(function)) bound.insert(p);
        for (const std::string& b : bound) all ? (void)inner.own.insert(b) : (void)inner.own.erase(b);
        return inner;
    }

    NodeP copy(const NodeP& node) const {
        if (!node) return node;
        auto made = std::make_shared<Node>(*node);
        const bool named = made->kind == "Name" || made->kind == "FunctionDef" || made->kind == "MatchAs" ||
                           made->kind == "MatchStar";
        const Marker inside = is_function(*node) ? within(*node) : *this;
        for (ast::Field& f : made->fields) {
            if (f.is_text && named && (f.name == "id" || f.name == "name") && !f.text.empty())
                f.text = name(f.text);
            for (NodeP& child : f.nodes) child = inside.copy(child);
        }
        return made;
    }
};

ast::Field field(std::string name, std::vector<NodeP> nodes, bool is_list) {
    ast::Field f;
    f.name = std::move(name);
    f.nodes = std::move(nodes);
    f.is_list = is_list;
    return f;
}

NodeP named(const std::string& name, const Place& place) {
    auto node = std::make_shared<Node>();
    node->kind = "Name";
    node->place = place;
    ast::Field id;
    id.name = "id";
    id.text = name;
    id.is_text = true;
    node->fields.push_back(std::move(id));
    return node;
}

const Node* first_return(const Node& n) {
    if (n.kind == "Return") return &n;
    if (is_function(n)) return nullptr;
    for (const ast::Field& f : n.fields)
        for (const NodeP& child : f.nodes)
            if (const Node* found = child ? first_return(*child) : nullptr) return found;
    return nullptr;
}

// A body whose returns assign a variable: what follows an `if` that returns goes to the branches that don't.
struct Returns {
    const std::string& function;
    const std::string& result;
    const Node* value = nullptr;  // a return of something
    bool falls_off = false;       // some path ends without one

    std::vector<NodeP> of(const std::vector<NodeP>& body, std::size_t first = 0) {
        std::vector<NodeP> out;
        for (std::size_t i = first; i < body.size(); ++i) {
            const NodeP& s = body[i];
            const Node* found = first_return(*s);
            if (!found) {
                out.push_back(s);
                continue;
            }
            if (s->kind == "Return") {
                const Node* given = s->maybe("value");
                if (!given) {
                    falls_off = true;
                    return out;
                }
                value = s.get();
                auto set = std::make_shared<Node>();
                set->kind = "Assign";
                set->place = s->place;
                set->fields.push_back(field("targets", {named(result, s->place)}, true));
                set->fields.push_back(field("value", s->find("value")->nodes, false));
                out.push_back(std::move(set));
                return out;
            }
            if (s->kind != "If")
                throw refused(found->place, function + "() returns from within a loop",
                              "set a variable there, break, and return it in the last line");
            auto branch = std::make_shared<Node>(*s);
            for (ast::Field& f : branch->fields) {
                if (f.name != "body" && f.name != "orelse") continue;
                std::vector<NodeP> whole = f.nodes;
                whole.insert(whole.end(), body.begin() + static_cast<std::ptrdiff_t>(i) + 1, body.end());
                f.nodes = of(whole);
            }
            out.push_back(std::move(branch));
            return out;
        }
        falls_off = true;
        return out;
    }
};

}  // namespace

Written written(const Node& function, const std::string& name, const std::string& mark, bool all) {
    Marker marker{mark, {}, all};
    const std::vector<std::string> parameters = parameters_of(function);
    if (!all) {
        marker.own = assigned_names(function);
        marker.own.insert(parameters.begin(), parameters.end());
    }
    Written w;
    for (const std::string& p : parameters) w.parameters.push_back(marker.name(p));
    const auto marked = [&](const NameSet& from) {
        NameSet to;
        for (const std::string& n : from) to.insert(marker.name(n));
        return to;
    };
    w.assigned = marked(assigned_names(function));
    w.loop_only = marked(loop_only_names(function));
    w.changing = marked(changing_names(function));
    if (function.kind == "Lambda") {
        w.value = marker.copy(function.find("body")->nodes[0]);
        return w;
    }
    std::vector<NodeP> body;
    for (const NodeP& s : statements_of(function)) body.push_back(marker.copy(s));
    if (body.size() == 1 && body[0]->kind == "Return" && body[0]->maybe("value")) {
        w.value = body[0]->find("value")->nodes[0];
        return w;
    }
    const std::string result = "result#" + mark;
    Returns returns{name, result};
    w.body = returns.of(body);
    if (!returns.value) return w;
    if (returns.falls_off)
        throw refused(returns.value->place, name + "() returns a value on some paths only",
                      "end it with a return");
    w.result = result;
    w.assigned.insert(result);
    return w;
}

}  // namespace xcuda::frontend
