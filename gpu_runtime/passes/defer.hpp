// Checks of indices that come from memory, in loops that only compute: noted in the loop, told after it.
#pragma once

#include "ir/module.hpp"

namespace xcuda::passes {

/// Of a counted loop that does nothing but assign numbers: its checked loads give 0 where they are out of range, and a flag
/// remembers that one was; the loop has no way out but its end, so that it is unrolled and its loads go out together. After
/// it, where the flag is up, the numbers are put back and `careful`, the loop as it was, finds the fault and tells it.
/// Gives what stands for the loop; empty where the loop is not of this kind or has no such checks.
ir::Body deferred_checks(ir::Function& function, const ir::Stmt& loop, const ir::Stmt& careful);

}  // namespace xcuda::passes
