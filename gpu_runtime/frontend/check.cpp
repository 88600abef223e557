#include "frontend/check.hpp"

#include "frontend/refusals.hpp"

namespace xcuda::frontend {
namespace {

void walk(const ast::Node& node) {
    if (refused_everywhere(node.kind)) refuse_node(node);
    if (node.kind == "If" || node.kind == "IfExp") return walk(node.one("test"));
    for (const ast::Field& field : node.fields)
        for (const ast::NodeP& child : field.nodes)
            if (child) walk(*child);
}

}  // namespace

void check(const ast::Node& function) {
    if (function.kind != "FunctionDef") refuse_node(function);
    for (const ast::NodeP& statement : function.list("body")) walk(*statement);
}

}  // namespace xcuda::frontend
