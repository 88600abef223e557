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

inline constexpr std::array<Measured, 1> measured_plans{{
    {"sm_90", DType::f16, 1, true, 64, 256, 64, 128, 5, Instructions::wgmma, true},
}};

}  // namespace xcuda::tiles
