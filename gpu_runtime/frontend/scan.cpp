#include "frontend/scan.hpp"

#include <algorithm>
#include <map>

namespace xcuda::frontend {
namespace {

using ast::Node;
using ast::NodeP;

bool is_function(const Node& n) {
    return n.kind == "FunctionDef" || n.kind == "Lambda" || n.kind == "ClassDef";
}

void add_targets(const Node& target, std::set<std::string>& names) {
    if (target.kind == "Name") names.insert(target.text("id"));
    if (target.kind == "Tuple" || target.kind == "List")
        for (const NodeP& e : target.list("elts")) add_targets(*e, names);
    if (target.kind == "Starred") add_targets(target.one("value"), names);
}

template <class Visit>
void each_child(const Node& n, Visit visit) {
    for (const ast::Field& f : n.fields)
        for (const NodeP& child : f.nodes)
            if (child) visit(*child, f.name);
}

void collect_assigned(const Node& n, std::set<std::string>& names) {
    if (n.kind == "Assign")
        for (const NodeP& t : n.list("targets")) add_targets(*t, names);
    if (n.kind == "AugAssign" || n.kind == "AnnAssign" || n.kind == "For" || n.kind == "NamedExpr")
        add_targets(n.one("target"), names);
    if (n.kind == "MatchAs" || n.kind == "MatchStar")
        if (const ast::Field* name = n.find("name"); name && !name->text.empty()) names.insert(name->text);
    each_child(n, [&](const Node& child, const std::string&) {
        if (child.kind == "FunctionDef") names.insert(child.text("name"));
        if (!is_function(child)) collect_assigned(child, names);
    });
}

bool same_literal(const Node& a, const Node& b) {
    if (a.kind != b.kind) return false;
    if (a.kind == "UnaryOp")
        return a.text("op") == b.text("op") && same_literal(a.one("operand"), b.one("operand"));
    return a.kind == "Constant" && a.constant_kind == b.constant_kind && ir::same_number(a.number, b.number);
}

// What each name is assigned: null where that is no whole expression, as in `a, b = t`.
struct Assignments {
    std::map<std::string, std::vector<const Node*>> values;
    std::set<std::string> changing;

    void add(const Node& target, const Node* value) {
        if (target.kind == "Name") return values[target.text("id")].push_back(value);
        std::set<std::string> names;
        add_targets(target, names);
        for (const std::string& name : names) values[name].push_back(nullptr);
    }

    void visit(const Node& n) {
        if (n.kind == "Assign")
            for (const NodeP& t : n.list("targets")) add(*t, &n.one("value"));
        if (n.kind == "NamedExpr") add(n.one("target"), &n.one("value"));
        if (n.kind == "AnnAssign" && n.maybe("value")) add(n.one("target"), &n.one("value"));
        if (n.kind == "AugAssign" || n.kind == "For") add_targets(n.one("target"), changing);
        if (n.kind == "MatchAs" || n.kind == "MatchStar")
            if (const ast::Field* name = n.find("name"); name && !name->text.empty())
                values[name->text].push_back(nullptr);
        each_child(n, [&](const Node& child, const std::string&) {
            if (!is_function(child)) visit(child);
        });
    }

    bool one_literal(const std::vector<const Node*>& all) const {
        return std::all_of(all.begin(), all.end(),
                           [&](const Node* n) { return n && all[0] && same_literal(*n, *all[0]); });
    }
};

// Walks with the names of the loops around; a name that is met elsewhere has escaped.
struct LoopNames {
    std::set<std::string> loops, escaped;
    std::vector<std::string> around;

    bool bound(const std::string& name) const {
        return std::find(around.begin(), around.end(), name) != around.end();
    }

    void target(const Node& t) {
        std::set<std::string> names;
        add_targets(t, names);
        escaped.insert(names.begin(), names.end());
        if (t.kind == "Subscript" || t.kind == "Attribute") visit(t);
    }

    void visit(const Node& n) {
        if (n.kind == "Name") {
            if (!bound(n.text("id"))) escaped.insert(n.text("id"));
            return;
        }
        if (n.kind == "For" && n.one("target").kind == "Name") {
            const std::string& name = n.one("target").text("id");
            loops.insert(name);
            if (bound(name)) escaped.insert(name);
            visit(n.one("iter"));
            around.push_back(name);
            for (const NodeP& s : n.list("body")) visit(*s);
            around.pop_back();
            for (const NodeP& s : n.list("orelse")) visit(*s);
            return;
        }
        each_child(n, [&](const Node& child, const std::string& field) {
            if (field == "target" || field == "targets")
                target(child);
            else
                visit(child);
        });
    }
};

bool leaves_loop(const Node& n) {
    if (n.kind == "Break" || n.kind == "Continue") return true;
    bool found = false;
    each_child(n, [&](const Node& child, const std::string& field) {
        const bool inner_loop = n.kind == "For" || n.kind == "While";
        if (!(inner_loop && field == "body")) found = found || leaves_loop(child);
    });
    return found;
}

}  // namespace

std::set<std::string> assigned_names(const Node& function) {
    std::set<std::string> names;
    if (function.kind == "Lambda") {
        collect_assigned(function.one("body"), names);
        return names;
    }
    for (const NodeP& s : function.list("body")) {
        if (s->kind == "FunctionDef") names.insert(s->text("name"));
        if (!is_function(*s)) collect_assigned(*s, names);
    }
    return names;
}

std::set<std::string> changing_names(const Node& function) {
    Assignments all;
    if (function.kind == "Lambda") {
        all.visit(function.one("body"));
    } else {
        for (const NodeP& s : function.list("body"))
            if (!is_function(*s)) all.visit(*s);
    }
    const Node& args = function.one("args");
    for (const char* list : {"posonlyargs", "args", "kwonlyargs"})
        for (const NodeP& a : args.list(list))
            if (const auto found = all.values.find(a->text("arg")); found != all.values.end())
                found->second.push_back(nullptr);
    for (const auto& [name, values] : all.values)
        if (values.size() > 1 && !all.one_literal(values)) all.changing.insert(name);
    return all.changing;
}

std::set<std::string> loop_only_names(const Node& function) {
    LoopNames walk;
    if (function.kind == "Lambda") return {};
    for (const NodeP& s : function.list("body")) walk.visit(*s);
    for (const NodeP& a : function.one("args").list("args")) walk.escaped.insert(a->text("arg"));
    for (const std::string& name : walk.escaped) walk.loops.erase(name);
    return walk.loops;
}

namespace {

void add_parameters(const Node& function, std::set<std::string>& names) {
    const Node& args = function.one("args");
    for (const char* list : {"posonlyargs", "args", "kwonlyargs"})
        for (const NodeP& a : args.list(list)) names.insert(a->text("arg"));
}

void collect_free(const Node& n, std::set<std::string> bound, std::vector<std::string>& found) {
    if (n.kind == "Name") {
        const std::string& id = n.text("id");
        if (!bound.count(id) && std::find(found.begin(), found.end(), id) == found.end()) found.push_back(id);
        return;
    }
    if (n.kind == "FunctionDef" || n.kind == "Lambda") {  // its defaults belong to the function around
        collect_free(n.one("args"), bound, found);
        add_parameters(n, bound);
        for (const std::string& name : assigned_names(n)) bound.insert(name);
        if (n.kind == "Lambda") return collect_free(n.one("body"), bound, found);
        for (const NodeP& s : n.list("body")) collect_free(*s, bound, found);
        return;
    }
    if (n.kind == "GeneratorExp")
        for (const NodeP& g : n.list("generators")) add_targets(g->one("target"), bound);
    each_child(n, [&](const Node& child, const std::string&) { collect_free(child, bound, found); });
}

}  // namespace

std::vector<std::string> free_names(const Node& function) {
    std::set<std::string> bound;
    std::vector<std::string> found;
    add_parameters(function, bound);
    for (const std::string& name : assigned_names(function)) bound.insert(name);
    if (function.kind == "Lambda")
        collect_free(function.one("body"), bound, found);
    else
        for (const NodeP& s : function.list("body")) collect_free(*s, bound, found);
    return found;
}

bool breaks_or_continues(const Node& loop) {
    const auto& body = loop.list("body");
    return std::any_of(body.begin(), body.end(), [](const NodeP& s) { return leaves_loop(*s); });
}

std::vector<NodeP> statements_of(const Node& function) {
    std::vector<NodeP> body = function.list("body");
    const bool docstring = !body.empty() && body.front()->kind == "Expr" &&
                           body.front()->one("value").kind == "Constant" &&
                           body.front()->one("value").constant_kind == Node::Constant::string;
    if (docstring) body.erase(body.begin());
    return body;
}

}  // namespace xcuda::frontend
