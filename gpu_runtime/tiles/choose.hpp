// Which plan a tile kernel gets: from what it does, the device, and how large the problem is.
#pragma once

#include <cstdint>
#include <string>

#include "ir/module.hpp"
#include "tiles/plan.hpp"

namespace xcuda::tiles {

/// 0 to 3: by the elements of a call's largest array.
int size_class(std::int64_t elements);
/// `module` as the front end made it with the tile size that was written.
Plan choose(const ir::Module& module, const std::string& target, int size, const Hints& hints = {});
/// From {"unit": [128, 128], "depth": 64, "threads": 256, "stages": 3, "products": "wgmma", "copies": "bulk", "tf32": true}, all of them
/// optional. Throws a ValueError for what no plan can have.
Hints hints_from(const std::string& json);
/// "64x64x64 tiles, 128 threads, mma.sync"
std::string words(const Plan& plan);

}  // namespace xcuda::tiles
