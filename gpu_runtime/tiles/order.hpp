// The order in which the programs of a product run.
#pragma once

#include "ir/module.hpp"

namespace xcuda::tiles {

/// Programs that run at once take a block of the result as high as wide, not its rows from end to end: they share what
/// they read while it is in the cache. Changes which tile a program has, nothing else.
void group_programs(ir::Function& kernel);

}  // namespace xcuda::tiles
