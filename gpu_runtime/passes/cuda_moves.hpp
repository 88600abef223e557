// Loops that copy neighbours between registers and memory, as loads and stores of up to 16 bytes.
#pragma once

#include "ir/module.hpp"

namespace xcuda::passes {

/// Of the loops with Hint::neighbours; where one is more than a copy it stays a loop.
void move_neighbours(ir::Body& body);

}  // namespace xcuda::passes
