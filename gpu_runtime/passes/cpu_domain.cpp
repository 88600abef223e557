#include "passes/build.hpp"
#include "passes/cpu_blocks.hpp"
#include "passes/guard.hpp"
#include "passes/cpu_tile_plan.hpp"

namespace xcuda::passes {

using namespace ir;

namespace {

constexpr std::int64_t light_piece = 32768;  // threads; saxpy runs through them in about 5 us
constexpr std::int64_t call_piece = 8192;    // with a few vector math calls each
constexpr std::int64_t heavy_piece = 512;    // with loops inside, not tiled
constexpr std::int64_t tile_rows = 32, tile_vectors = 4;  // of a tiled piece: rows, and tiles side by side

struct Geometry {
    Body setup;
    VarId pieces_v, pieces_r, pieces_z, chunk_v, chunk_r;
    Box box;
};

// How the guarded grid is cut. `v` is the vector axis, `r` the row axis, `z` the third, one thread thick.
Geometry cut(Function& f, const Box& domain, const Lanes& lanes, const LoweredRegion& region) {
    Geometry g{};
    const int v = lanes.vector_axis, r = v == 0 ? 1 : 0, z = 3 - v - r;
    const auto keep = [&](const char* name, ExprP e) {
        const VarId id = hidden(f, name);
        g.setup.push_back(assign(id, std::move(e)));
        return id;
    };
    std::array<ExprP, 3> length;
    for (int axis = 0; axis < 3; ++axis) {
        g.box.low[axis] = read(f, keep("domain_low", domain.low[axis]));
        g.box.high[axis] = read(f, keep("domain_high", domain.high[axis]));
        length[axis] = read(f, keep("length", maximum(sub(g.box.high[axis], g.box.low[axis]), int_constant(0))));
    }
    const auto at_least_one = [](ExprP e) { return maximum(std::move(e), int_constant(1)); };
    if (region.rows > 1) {
        g.chunk_v = keep("chunk_v", int_constant(tile_vectors * region.width));
        g.chunk_r = keep("chunk_r", int_constant(tile_rows));
    } else {
        const std::int64_t threads = region.loops ? heavy_piece : region.calls ? call_piece : light_piece;
        ExprP across = int_constant(threads);
        if (region.loops) {  // at least 64 pieces, whole vectors
            const ExprP part = mul(ceil_div(ceil_div(length[v], int_constant(64)), int_constant(region.width)),
                                   int_constant(region.width));
            across = minimum(across, at_least_one(part));
        }
        g.chunk_v = keep("chunk_v", at_least_one(minimum(length[v], across)));
        g.chunk_r = keep("chunk_r", at_least_one(div_floor(int_constant(threads), read(f, g.chunk_v))));
    }
    g.pieces_v = keep("pieces_v", ceil_div(length[v], read(f, g.chunk_v)));
    g.pieces_r = keep("pieces_r", ceil_div(length[r], read(f, g.chunk_r)));
    g.pieces_z = keep("pieces_z", length[z]);
    return g;
}

}  // namespace

void frame_domain(Module& module, const CpuOptions& options) {
    Function& f = module.kernel();
    Box domain;
    for (int axis = 0; axis < 3; ++axis) {
        domain.low[axis] = int_constant(0);
        domain.high[axis] = coord(Coord::Kind::grid_size, axis);
    }
    Body body = std::move(f.body);
    strip_guard(f, body, domain);
    add_polls(body);

    Function units = f;
    Lanes lanes{{hidden(f, "x"), hidden(f, "y"), hidden(f, "z")}, best_vector_axis(f, body), options.vector_bytes};
    const int v = lanes.vector_axis, r = v == 0 ? 1 : 0, z = 3 - v - r;
    f.where.resize(6);
    for (int axis = 0; axis < 3; ++axis) {
        const ExprP c = read(f, lanes.coordinate[axis]), width = coord(Coord::Kind::block_dim, axis);
        f.where[axis] = mod_floor(c, width);
        f.where[3 + axis] = div_floor(c, width);
    }
    Box piece;
    std::array<VarId, 3> low{}, high{};
    for (int axis = 0; axis < 3; ++axis) {
        low[axis] = hidden(f, "low");
        high[axis] = hidden(f, "high");
        piece.low[axis] = read(f, low[axis]);
        piece.high[axis] = read(f, high[axis]);
    }
    LoweredRegion region = lower_region(f, body, piece, lanes, true);
    module.how = region.how;

    Geometry g = cut(f, domain, lanes, region);
    const VarId index = hidden(f, "piece"), rest = hidden(f, "rest");
    Body run;
    const auto place = [&](int axis, const ExprP& number, const ExprP& chunk) {
        run.push_back(assign(low[axis], add(g.box.low[axis], mul(number, chunk))));
        run.push_back(assign(high[axis], minimum(g.box.high[axis], add(read(f, low[axis]), chunk))));
    };
    run.push_back(assign(rest, div_floor(read(f, index), read(f, g.pieces_r))));
    place(r, mod_floor(read(f, index), read(f, g.pieces_r)), read(f, g.chunk_r));
    place(v, mod_floor(read(f, rest), read(f, g.pieces_v)), read(f, g.chunk_v));
    place(z, div_floor(read(f, rest), read(f, g.pieces_v)), int_constant(1));
    for (Stmt& s : region.body) run.push_back(std::move(s));
    f.body = std::move(g.setup);
    for (Stmt& s : piece_loop(f, index, std::move(run))) f.body.push_back(std::move(s));

    Geometry count = cut(units, domain, lanes, region);
    const ExprP total = mul(mul(read(units, count.pieces_v), read(units, count.pieces_r)), read(units, count.pieces_z));
    Stmt give = simple(Stmt::Kind::leave);
    give.exprs = {total};
    count.setup.push_back(std::move(give));
    module.units = units_function(units, std::move(count.setup));
}

}  // namespace xcuda::passes
