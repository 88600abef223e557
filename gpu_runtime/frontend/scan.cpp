#include "frontend/scan.hpp"

#include <algorithm>

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
