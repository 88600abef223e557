// What is only looked at another way is not copied: reshaped loads, positions under names, stores of a reshaped tile.
#pragma once

#include "ir/module.hpp"

namespace xcuda::tiles {

/// Puts definitions into their uses: positions wherever they are read, a load into the view that alone reads it; drops
/// leading lengths of 1 of a store whose tile has none.
void see_through(ir::Function& function);

}  // namespace xcuda::tiles
