// Early returns as branches: `if i >= n: return` before the rest becomes `if i < n:` around the rest.
#pragma once

#include "ir/module.hpp"

namespace xcuda::passes {

/// Rewrites returns in tail position of a kernel's body; those inside loops stay.
XCUDA_API void structure_returns(ir::Body& body);
/// True where a `leave` is still in the body.
XCUDA_API bool has_leave(const ir::Body& body);
/// True where a `break_loop` of the body leaves the loop that the body is of.
bool breaks(const ir::Body& body);
/// True where a `continue_loop` of the body goes on with the loop that the body is of.
bool continues(const ir::Body& body);

}  // namespace xcuda::passes
