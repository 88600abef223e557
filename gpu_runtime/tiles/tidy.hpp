// A tile program as the front end left it, without the variables that only pass a value on.
#pragma once

#include "ir/module.hpp"

namespace xcuda::tiles {

/// `t = e; x = t`, where nothing else reads t, becomes `x = e`; likewise for the results of tile statements.
void merge_copies(ir::Function& function);

}  // namespace xcuda::tiles
