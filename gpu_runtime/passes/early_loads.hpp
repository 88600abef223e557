// Loads before what is computed from them: a branch in a function (sin's of large arguments) would else keep each load
// behind the results of the one before it, and few bytes of a thread on their way.
#pragma once

#include "ir/module.hpp"

namespace xcuda::passes {

/// Of straight-line code with calls in it: what it loads before its first store, at its beginning.
void load_early(ir::Function& function, ir::Body& body);

}  // namespace xcuda::passes
