// The guard around a kernel's body, solved for the box of threads that pass it.
#pragma once

#include "passes/linear.hpp"

namespace xcuda::passes {

/// All threads of the launch: no bound above, since no thread needs a test for being one of them.
Box whole_grid();

/// While the body is nothing but `if condition: ...`, takes each conjunct that bounds one axis out of the condition
/// and into the box, whose `high` may be null where nothing bounds an axis. What it cannot solve stays as a branch.
void strip_guard(const ir::Function& function, ir::Body& body, Box& box);

}  // namespace xcuda::passes
