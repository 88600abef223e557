// Rows of arrays that a block's threads read several times, or across their rows: fetched once, together, into shared memory.
#pragma once

#include <optional>
#include <vector>

#include "passes/linear.hpp"

namespace xcuda::passes {

/// How a block covers the axes of cuda.grid, and how much of a loop is staged at a time.
struct StagingFrame {
    std::array<std::int64_t, 3> block{1, 1, 1};     // threads along x, y, z
    std::array<std::int64_t, 3> elements{1, 1, 1};  // of a thread, along each axis of cuda.grid
    std::array<int, 3> order{0, 1, 2};              // which of x, y, z each axis of cuda.grid is
    int turns = 0;                                  // of a loop

    std::int64_t extent(int axis) const;  // elements of a block along an axis of cuda.grid
    std::int64_t threads() const { return block[0] * block[1] * block[2]; }
};

constexpr int first_marker = -2;  // a marked loop's Stmt::site: this, and one less for each loop more

/// A part of an array in shared memory: for the whole body, or for some turns of one loop at a time.
struct StagedTile {
    ir::ExprP array;  // the parameter
    ir::VarId shared = -1;
    std::vector<ir::ExprP> origin;      // of the part, along each of the array's axes
    std::vector<std::int64_t> lengths;  // the shared array's may be longer, for its banks' sake
    int loop = -1;                      // index into Staging::loops; -1: the whole body
    std::optional<std::int64_t>
        lead;  // the last axis begins so far from the block's first element along `along`
    int along = -1;
};

/// A kernel's body whose loads of tiles are loads of shared arrays that still have the parameters' own indices.
struct Staging {
    ir::Body body;
    std::vector<StagedTile> tiles;
    std::vector<ir::VarId> loops;  // by marker (see ir::Stmt::site in staged bodies): loops that tiles depend on
    std::vector<ir::VarId> starts;  // for each: where the staged turns begin, -1 where it is not cut
    std::array<ir::VarId, 3> first{-1, -1, -1};  // of the block's elements along each axis of cuda.grid
    ir::ExprP test;  // evaluated before: no tile reaches out of its array, nothing written is in one
};

/// None: nothing is read several times, or not so that it is known where; or threads meet, or arrays are written there.
/// `body` stands without its guard, `guard` holds the threads that pass it. Structured returns and propagated definitions.
std::optional<Staging> stage(ir::Function& function, const ir::Body& body, const StagingFrame& frame);

/// The body with its tiles fetched, its loops cut into stretches of the frame's turns and what is left, which loads as
/// before. All threads of a block run it. May be given the body as tile_body has made it anew, over `base`.
ir::Body staged_body(ir::Function& function, ir::Body body, const Staging& staging, const StagingFrame& frame,
                     const std::array<ir::VarId, 3>& base);

/// Names what the frame needs: each axis' first element of the block, and of the thread (into `base`).
ir::Body staged_places(ir::Function& function, const Staging& staging, const StagingFrame& frame,
                       const std::array<ir::VarId, 3>& base);

/// Every thread of the block passes the guard.
ir::ExprP block_inside(const ir::Function& function, const Staging& staging, const StagingFrame& frame,
                       const Box& guard);

/// Of a kernel whose threads take an element each: the staged version beside the one as it is, with the test that it needs.
/// False where there is nothing to stage.
bool stage_threads(ir::Function& function, const StagingFrame& frame);

}  // namespace xcuda::passes
