// A Python syntax tree as data: CPython's ast, carried over as JSON by the binding, with places in the user's source.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "ir/expr.hpp"

namespace xcuda::frontend::ast {

/// One node. Fields keep ast's names: node["body"] is a list, node["target"] one node, text("id") a string.
struct Node;
using NodeP = std::shared_ptr<const Node>;

struct Field {
    std::string name;
    std::vector<NodeP> nodes;  // a list field, or one node
    bool is_list = false;
    std::string text;  // identifiers and operators' names
    bool is_text = false;
};

struct Node {
    std::string kind;  // ast's class: "BinOp", "Name", ...
    Place place;
    std::vector<Field> fields;
    // Constant: its value; strings and None are told by constant_kind.
    enum class Constant { none, boolean, integer, big_integer, real, imaginary, string, ellipsis, other };
    Constant constant_kind = Constant::none;
    ir::Number number{};
    std::string string;

    const Field* find(std::string_view field) const;
    const Node& one(std::string_view field) const;    // must be there
    const Node* maybe(std::string_view field) const;  // null where absent
    const std::vector<NodeP>& list(std::string_view field) const;
    const std::string& text(std::string_view field) const;
};

/// `a.b.c` as it is written; "" where it is no name.
std::string dotted(const Node& node);

/// From the JSON of python/xcuda/core/source.py: [kind, [line, col, end_line, end_col], {field: ...}].
XCUDA_API NodeP from_json(std::string_view json, const std::string& file, int first_line);

}  // namespace xcuda::frontend::ast
