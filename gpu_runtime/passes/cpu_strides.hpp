// Grid-stride loops of kernels that know only global indices: each turn of the loop as a thread of its own.
#pragma once

#include "passes/linear.hpp"

namespace xcuda::passes {

/// While the body is nothing but `for i in range(grid(axis), stop, gridsize(axis)): ...` and no turn depends on one
/// before it, takes the loop away: the body with i = grid(axis), over the threads [0, stop) of that axis. Gives the
/// axes of the loops taken, as bits: there a coordinate counts elements, not threads.
unsigned take_strides(ir::Function& function, ir::Body& body, Box& domain);

}  // namespace xcuda::passes
