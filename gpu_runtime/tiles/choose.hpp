// Which plan a tile kernel gets: from what it does, the device, and how large the problem is.
#pragma once

#include <cstdint>
#include <string>

#include "ir/module.hpp"
#include "tiles/plan.hpp"

namespace xcuda::tiles {

/// 0 to 3: by the elements of a call's largest array.
int size_class(std::int64_t elements);
/// Whether tiles of 128 x 128 of a result of so many elements are fewer than a large GPU runs at once.
bool is_few(std::int64_t elements);
/// What a plan goes by beside what the kernel does: size_class of the largest array, is_few of the result.
struct Size {
    int largest = 0;
    bool few = false;
};
/// `module` as the front end made it with the tile size that was written.
Plan choose(const ir::Module& module, const std::string& target, Size size, const Hints& hints = {});
/// From {"unit": [128, 128], "depth": 64, "threads": 256, "stages": 3, "products": "wgmma", "copies": "bulk", "tf32": true}, all of them
/// optional. Throws a ValueError for what no plan can have.
Hints hints_from(const std::string& json);
/// "64x64x64 tiles, 128 threads, mma.sync"
std::string words(const Plan& plan);

}  // namespace xcuda::tiles
