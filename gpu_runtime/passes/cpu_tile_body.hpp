// One tile of threads as straight vector code: rows x columns registers of `lanes` threads each.
#pragma once

#include "passes/cpu_tile_plan.hpp"

namespace xcuda::passes {

struct TileShape {
    int rows = 1, columns = 1;
    bool masked = false;  // only the first `function.tail` lanes are there (then rows = columns = 1)
};

/// `base` holds the variable of each axis' coordinate of the tile's first thread. `box` is what box_test was asked for.
ir::Body tile_body(ir::Function& function, const ir::Body& body, const TilePlan& plan, TileShape shape,
                   const std::array<ir::VarId, 3>& base, const Box& box);

}  // namespace xcuda::passes
