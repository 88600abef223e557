#include "passes/cuda.hpp"

#include <algorithm>

#include "ir/verify.hpp"
#include "ir/walk.hpp"
#include "passes/cpu_tile_plan.hpp"
#include "passes/hoist.hpp"
#include "passes/inline.hpp"
#include "passes/propagate.hpp"
#include "passes/prove.hpp"
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
            found |= e.op == Op::coord && coord_of(e).kind != Coord::Kind::global && coord_of(e).kind != Coord::Kind::grid_size;
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

}  // namespace

std::array<int, 3> coalescing_order(const Module& module) {
    Module copy = module;
    inline_calls(copy);
    structure_returns(copy.kernel().body);
    propagate(copy.kernel());
    return order_of(copy);
}

Module for_cuda(Module module, const CudaOptions& options) {
    inline_calls(module);
    Function& f = module.kernel();
    structure_returns(f.body);
    propagate(f);
    if (options.automatic) module.hardware_axis = order_of(module);
    prove_bounds(f);
    hoist_checks(f);
    module.narrow_index = narrow(f);
    verify(module, Stage::typed, "passes/cuda");
    return module;
}

}  // namespace xcuda::passes
