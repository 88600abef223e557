// The plans of plain products that were fastest on a device, by type and size; what is not here is reasoned.
// Written by tests/gpu/tiles_plans.py --write on that device, and read when the user left the plan open.
#pragma once

#include <array>
#include <string_view>

#include "tiles/plan.hpp"

namespace xcuda::tiles {

struct Measured {
    std::string_view target;
    DType in;
    int size;  // size_class
    bool few;  // is_few
    std::int64_t rows, columns, depth;
    int threads, stages;
    Instructions products;
    bool bulk;
};

inline constexpr std::array<Measured, 0> measured_plans{{}};

}  // namespace xcuda::tiles
