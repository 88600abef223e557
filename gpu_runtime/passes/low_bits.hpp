// Which 64-bit variables are only ever asked for their lowest 32 bits.
#pragma once

#include <vector>

#include "ir/module.hpp"

namespace xcuda::passes {

/// `low` names variables that may be so, by VarId; leaves those that are. narrow_arrays: an index that is neither tested
/// nor wrapped is used in 32 bits.
void keep_low_only(const ir::Function& function, bool narrow_arrays, std::vector<bool>& low);

}  // namespace xcuda::passes
