// Stores by which threads are not in each other's way.
#pragma once

#include <set>

#include "ir/module.hpp"

namespace xcuda::profile {

/// Sites whose every store is of a constant: all threads that store there write the same.
std::set<int> constant_stores(const ir::Module& module);

}  // namespace xcuda::profile
