// What is known of a kernel's integers, told to the functions it calls.
#pragma once

#include "passes/knowledge.hpp"

namespace xcuda::passes {

/// Marks the integer parameters of the module's functions that fit 32 bits at every call (Var::small).
XCUDA_API void spread_ranges(ir::Module& module, const RangeOptions& options);

}  // namespace xcuda::passes
