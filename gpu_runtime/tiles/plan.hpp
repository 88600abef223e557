// What the compiler decides of a tile kernel for one device and one size of problem.
#pragma once

#include <string>

#include "frontend/lower.hpp"

namespace xcuda::tiles {

struct Plan {
    std::string target;       // "cpu", "sm_90"
    int threads = 1;          // of a program
    frontend::TileUnit unit;  // of the implicit level
    int stages = 1;           // copies of a loop's operands that are on their way or read
    bool matrix = false;      // products of 16-bit floats by matrix instructions
    bool operator==(const Plan&) const = default;
};

}  // namespace xcuda::tiles
