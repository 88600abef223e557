// A barrier-free body over a box of threads, as loops: tiles of vectors where that can be, else thread by thread.
#pragma once

#include <string>

#include "passes/cpu.hpp"
#include "passes/linear.hpp"

namespace xcuda::passes {

struct Lanes {
    std::array<ir::VarId, 3> coordinate;  // of the running lane, or of a tile's first
    int vector_axis = 0;
    int vector_bytes = 32;
};

struct LoweredRegion {
    ir::Body body;
    std::string how;          // "tiles 8x2x16", "threads"
    int rows = 1, width = 1;  // of a tile
    bool loops = false, calls = false;
};

/// `box` bounds the threads; its guard has been stripped. Where the test of the box fails, it goes thread by thread.
LoweredRegion lower_region(ir::Function& function, const ir::Body& body, const Box& box, const Lanes& lanes);

/// Only the tiles, ended by `return true`, or `return false` before anything is done; empty where the body has none.
LoweredRegion tiles_of_region(ir::Function& function, const ir::Body& body, const Box& box,
                              const Lanes& lanes);
/// Only the loops over threads; none along an axis without bounds (null), whose coordinate is set already.
ir::Body threads_of_region(const ir::Body& body, const Box& box, const Lanes& lanes);

/// The axes from the outermost loop to the innermost, the vector axis: its neighbours are contiguous.
std::array<int, 3> loop_order(int vector_axis);

/// Hidden int64 variable.
ir::VarId hidden(ir::Function& function, const char* name);
ir::ExprP read(const ir::Function& function, ir::VarId id);

}  // namespace xcuda::passes
