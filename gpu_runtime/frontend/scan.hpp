// What a syntax tree tells before it is lowered: which names it assigns, and which live in their loops only.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "frontend/ast.hpp"

namespace xcuda::frontend {

/// Every name that the function's body assigns.
std::set<std::string> assigned_names(const ast::Node& function);

/// Names that can't hold one number known while compiling: augmented, looped over, or assigned at several places that are
/// not of one literal.
std::set<std::string> changing_names(const ast::Node& function);

/// Names assigned by `for` alone and read in the bodies of such loops alone: each loop may have its own variable.
std::set<std::string> loop_only_names(const ast::Node& function);

/// Every name that a lambda's or an inner function's body mentions and does not bind itself, in order.
std::vector<std::string> free_names(const ast::Node& function);

/// True where the loop's own body breaks or continues it.
bool breaks_or_continues(const ast::Node& loop);

/// The statements of a function without its docstring.
std::vector<ast::NodeP> statements_of(const ast::Node& function);

}  // namespace xcuda::frontend
