#include "passes/build.hpp"
#include "passes/cpu_blocks.hpp"
#include "passes/cpu_strides.hpp"
#include "passes/cpu_tile_plan.hpp"
#include "passes/guard.hpp"

namespace xcuda::passes {

using namespace ir;

void frame_boxes(Module& module, const CpuOptions& options) {
    Function& f = module.kernel();
    BoxWork work;
    Box domain;
    for (int axis = 0; axis < 3; ++axis) {
        domain.low[axis] = int_constant(0);
        domain.high[axis] = coord(Coord::Kind::grid_size, axis);
    }
    Body body = std::move(f.body);
    const unsigned strides = take_strides(f, body, domain);
    strip_guard(f, body, domain);
    add_polls(body);
    work.low = domain.low;
    work.high = domain.high;

    const Lanes lanes{
        {hidden(f, "x"), hidden(f, "y"), hidden(f, "z")}, best_vector_axis(f, body), options.vector_bytes};
    static constexpr const char* low_names[] = {"low_x", "low_y", "low_z"};
    static constexpr const char* high_names[] = {"high_x", "high_y", "high_z"};
    Box box;
    f.where.clear();
    for (int axis = 0; axis < 3; ++axis) {
        box.low[axis] = read(f, f.low[axis] = hidden(f, low_names[axis]));
        box.high[axis] = read(f, f.high[axis] = hidden(f, high_names[axis]));
        const ExprP at = read(f, lanes.coordinate[axis]);
        f.where.push_back(strides >> axis & 1 ? mod_floor(at, coord(Coord::Kind::grid_size, axis)) : at);
    }
    for (int axis = 0; axis < 3; ++axis)
        f.where.push_back(int_constant(-1));  // the device tells the block from the index

    Function tiles = f;
    LoweredRegion region = tiles_of_region(tiles, body, box, lanes);
    tiles.result = scalar(DType::b1);
    f.body = threads_of_region(body, box, lanes);
    work.vector_axis = lanes.vector_axis;
    work.width = region.width;
    work.rows = region.rows;
    work.weight = region.loops   ? BoxWork::Weight::loops
                  : region.calls ? BoxWork::Weight::calls
                                 : BoxWork::Weight::light;
    module.how = region.how;
    module.boxes = work;
    if (!region.body.empty()) {
        tiles.body = std::move(region.body);
        module.tiles = std::move(tiles);
    }
}

}  // namespace xcuda::passes
