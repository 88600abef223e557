// What can be refused of a kernel before its arguments' types are known: as soon as it is decorated.
#pragma once

#include "frontend/ast.hpp"

namespace xcuda::frontend {

/// Throws refused() at the first node that no kernel can have, whatever its arguments are. What stands under an `if`
/// is left to lower(), which drops branches that can't be taken.
XCUDA_API void check(const ast::Node& function);

}  // namespace xcuda::frontend
