#include "passes/cuda.hpp"

#include <algorithm>

#include "ir/verify.hpp"
#include "ir/walk.hpp"
#include "passes/build.hpp"
#include "passes/call_ranges.hpp"
#include "passes/cpu_tile_plan.hpp"
#include "passes/cuda_moves.hpp"
#include "passes/cuda_polls.hpp"
#include "passes/cuda_staging.hpp"
#include "passes/cuda_vectors.hpp"
#include "passes/hoist.hpp"
#include "passes/inline.hpp"
#include "passes/narrow.hpp"
#include "passes/propagate.hpp"
#include "passes/prove.hpp"
#include "passes/prove_ranges.hpp"
#include "passes/ranges.hpp"
#include "passes/structure.hpp"

namespace xcuda::passes {

using namespace ir;

namespace {

bool narrow(const Function& f) {
    return std::none_of(f.params.begin(), f.params.end(), [&](VarId p) { return f.vars[p].type.wide; });
}

// The kernel names blocks and threads itself: their axes are the user's.
bool names_threads(const Module& module) {
    bool found = false;
    for (const Function& f : module.functions) {
        each_expr(f.body, [&](const Expr& e) {
            found |= e.op == Op::coord && coord_of(e).kind != Coord::Kind::global &&
                     coord_of(e).kind != Coord::Kind::grid_size;
        });
        for (const Var& v : f.vars) found |= v.role == Var::Role::shared;
    }
    return found;
}

std::array<int, 3> order_of(const Module& module) {
    if (names_threads(module)) return {0, 1, 2};
    const int contiguous = best_vector_axis(module.kernel(), module.kernel().body);
    std::array<int, 3> order{0, 1, 2};
    std::swap(order[0], order[static_cast<std::size_t>(contiguous)]);
    return order;
}

int axis_along_x(const std::array<int, 3>& order) {
    return static_cast<int>(std::find(order.begin(), order.end(), 0) - order.begin());
}

int elements_of(const Module& module, const std::array<int, 3>& order, int wanted) {
    if (names_threads(module) || module.functions.size() > 1) return 1;
    return vector_elements(module.kernel(), axis_along_x(order), wanted);
}

void fix_block(Module& module, const std::array<std::int64_t, 3>& block) {
    for (Function& f : module.functions)
        rewrite_exprs(f.body, [&](const ExprP& e) {
            const bool size = e->op == Op::coord && coord_of(*e).kind == Coord::Kind::block_dim;
            return size ? int_constant(block[static_cast<std::size_t>(coord_of(*e).axis)], e->place) : e;
        });
}

Module prepared(Module module) {
    inline_calls(module);
    structure_returns(module.kernel().body);
    propagate(module.kernel());
    return module;
}

}  // namespace

namespace {

AutomaticLaunch layout(const Module& ready, const std::optional<std::array<int, 3>>& order,
                       const std::optional<int>& elements, const std::optional<int>& rows) {
    AutomaticLaunch out;
    out.free = !names_threads(ready);
    out.order = order && out.free ? *order : order_of(ready);
    out.elements = elements == 1 ? 1 : elements_of(ready, out.order, elements.value_or(0));
    if (!out.free || ready.functions.size() > 1 || out.elements > 1) return out;
    const RegisterTile tile = register_tile(ready.kernel(), axis_along_x(out.order), elements.value_or(0));
    out.most_rows = tile.rows;
    if (tile.rows < 2 || rows.value_or(1) < 2) return out;
    out.elements = tile.elements;
    out.rows = std::min(*rows, tile.rows);
    out.row_axis = out.order[static_cast<std::size_t>(tile.row_axis)];
    return out;
}

}  // namespace

AutomaticLaunch automatic_launch(const Module& module, const std::optional<std::array<int, 3>>& order,
                                 const std::optional<int>& elements, const std::optional<int>& rows) {
    return layout(prepared(module), order, elements, rows);
}

bool wants_known_block(const Module& module) {
    bool shared = false, threads = false;
    for (const Function& f : module.functions) {
        for (const Var& v : f.vars) shared |= v.role == Var::Role::shared && !v.type.extents.empty();
        each_expr(f.body, [&](const Expr& e) {
            threads |= e.op == Op::coord && (coord_of(e).kind == Coord::Kind::thread ||
                                             coord_of(e).kind == Coord::Kind::block_dim);
        });
    }
    return shared && threads;
}

namespace {

std::optional<StagingFrame> staging_frame(const CudaOptions& options, const AutomaticLaunch& chosen) {
    if (options.staged == 0 || !options.block || !chosen.free) return std::nullopt;
    StagingFrame frame;
    frame.block = *options.block;
    frame.order = chosen.order;
    frame.turns = options.staged;
    for (std::size_t a = 0; a < 3; ++a) {
        if (chosen.order[a] == 0)
            frame.elements[a] = chosen.elements;
        else if (chosen.order[a] == chosen.row_axis)
            frame.elements[a] = chosen.rows;
    }
    return frame;
}

}  // namespace

bool has_staging(const Module& module) {
    Module ready = prepared(module);
    CudaOptions options;
    int axes = 1;
    each_expr(ready.kernel().body, [&](const Expr& e) {
        if (e.op == Op::coord) axes = std::max(axes, coord_of(e).axis + 1);
    });
    using Block = std::array<std::int64_t, 3>;
    options.block = axes == 1 ? Block{256, 1, 1} : axes == 2 ? Block{32, 8, 1} : Block{32, 4, 2};
    options.staged = 16;
    const auto frame = staging_frame(options, layout(ready, {}, {}, {}));
    return ready.functions.size() == 1 && frame && stage_threads(ready.kernel(), *frame);
}

Module for_cuda(Module module, const CudaOptions& options) {
    module = prepared(std::move(module));
    if (options.block) fix_block(module, *options.block);
    Function& f = module.kernel();
    move_neighbours(f.body);
    module.narrow_index = narrow(f);
    if (options.automatic) {
        const AutomaticLaunch chosen = layout(module, options.order, options.elements, options.rows);
        module.hardware_axis = chosen.order;
        const auto staged = module.functions.size() == 1 ? staging_frame(options, chosen) : std::nullopt;
        if (chosen.elements == 1 && staged) stage_threads(f, *staged);
        if (chosen.elements > 1) {
            vectorise(f, axis_along_x(chosen.order), chosen.elements, chosen.rows,
                      staged ? &*staged : nullptr);
            const RangeOptions ranges{module.narrow_index, options.narrow_grid};
            if (chosen.rows > 1) {
                add_cuda_polls(f, ranges);
                narrow_loops(f, ranges);
            }
            verify(module, Stage::cpu, "passes/cuda");
            return module;
        }
    }
    RangeOptions ranges{module.narrow_index, options.narrow_grid};
    if (options.block) ranges.most_threads = *options.block;
    spread_ranges(module, ranges);
    prove_bounds(f);
    for (Function& each : module.functions) prove_ranges(each, ranges);
    hoist_checks(f);
    for (Function& each : module.functions) {
        const std::vector<Interval> known = variable_ranges(each, ranges);
        add_cuda_polls(each, ranges);
        narrow_integers(each, ranges, known);
    }
    verify(module, Stage::cpu, "passes/cuda");
    return module;
}

}  // namespace xcuda::passes
