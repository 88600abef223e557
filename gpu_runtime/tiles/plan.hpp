// What the compiler decides of a tile kernel for one device and one size of problem.
#pragma once

#include <optional>
#include <string>

#include "frontend/lower.hpp"
#include "ir/tile.hpp"

namespace xcuda::tiles {

/// What products are made of: each thread its own multiplications and additions; a warp's matrix instructions; those of
/// four warps, which read shared memory themselves (sm_90 alone); those that one thread asks for, whose sums lie in tensor
/// memory (sm_100 alone).
enum class Instructions : std::uint8_t { fma, mma, wgmma, tcgen05 };

struct Plan {
    std::string target;       // "cpu", "sm_90"
    int threads = 1;          // of a program
    frontend::TileUnit unit;  // of the implicit level
    int stages = 1;           // copies of a loop's operands that are on their way or read
    Instructions products = Instructions::fma;
    bool bulk = false;  // operands by bulk tensor copies, which a warp of its own asks for (sm_90 and sm_100)
    bool acted = false;  // run by the CPU device
    std::int64_t tall =
        0;              // rows of each product where these are chained: a warp has sixteen, all their columns
    bool tf32 = false;  // products of float32 may round their factors to TF32
    bool late = false;  // of chained products: what is between hides the second
    bool lines = false;  // sums of 16-bit numbers are stored sixteen bytes a lane
    int split = 1;       // blocks of a cluster that share a product's inner dimension
    // That a multiprocessor is to have at once: what bounds a thread's registers; 0: the compiler's.
    int blocks = 0;
    bool blas = false;      // the CPU device's: a plain product as a whole by the BLAS that is there
    bool unrolled = false;  // a thread's products of one step stand one after the other, without a loop
    bool operator==(const Plan&) const = default;
};

/// What is asked of the plan; 0, empty and absent: the compiler's choice.
struct Hints {
    ir::Extents unit;
    std::int64_t depth = 0;
    int threads = 0, stages = 0, blocks = 0, split = 0;
    std::optional<Instructions> products;
    std::optional<bool> bulk;
    bool tf32 = false;
    std::optional<bool> late, lines, unrolled;
    bool blas = true;      // a plan may have one
    bool measured = true;  // of what is left open, what tiles/measured.hpp has
};

}  // namespace xcuda::tiles
