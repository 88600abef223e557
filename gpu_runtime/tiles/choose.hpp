// Which plan a tile kernel gets: from what it does, the device, and how large the problem is.
#pragma once

#include <cstdint>
#include <string>

#include "ir/module.hpp"
#include "tiles/plan.hpp"

namespace xcuda::tiles {

/// 0, 1, 2: by the elements of a call's largest array.
int size_class(std::int64_t elements);
/// `module` as the front end made it with the tile size that was written.
Plan choose(const ir::Module& module, const std::string& target, int size);
/// "64x64x64 tiles, 128 threads, mma.sync"
std::string words(const Plan& plan);

}  // namespace xcuda::tiles
