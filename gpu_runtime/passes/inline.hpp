// Device functions written into their callers, where their returns all stand in tail position: what the vector passes
// and the register allocators of both devices want. The others stay functions.
#pragma once

#include "ir/module.hpp"

namespace xcuda::passes {

/// Expects calls only as `var = call` or as a statement of their own; device functions that nobody calls any more go.
void inline_calls(ir::Module& module);

}  // namespace xcuda::passes
