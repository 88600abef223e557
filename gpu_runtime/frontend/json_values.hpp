// Literals and trees out of parsed JSON: shared by the syntax tree's reader and the captured names' reader.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "frontend/ast.hpp"

namespace xcuda::frontend {

struct Literal {
    ast::Node::Constant kind = ast::Node::Constant::other;
    ir::Number number{};
    std::string text;  // a string's value, an integer's digits, or the type's name
};

/// {"type": "int", "value": "3"} and the like, as source.py's _constant writes them.
Literal literal_from_json(const nlohmann::json& value);

namespace ast {
NodeP node_from_json(const nlohmann::json& tree, const std::string& file, int first_line);
}

}  // namespace xcuda::frontend
