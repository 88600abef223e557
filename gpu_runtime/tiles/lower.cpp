#include "tiles/lower.hpp"

#include "ir/walk.hpp"
#include "tiles/order.hpp"
#include "tiles/tidy.hpp"

namespace xcuda::tiles {

namespace {

bool has_product(const ir::Function& f) {
    bool found = false;
    ir::each_stmt(f.body, [&](const ir::Stmt& s) {
        found |= s.kind == ir::Stmt::Kind::tile && s.tile.kind == ir::TileOp::Kind::mma;
    });
    return found;
}

}  // namespace

ir::Module lower(ir::Module module, const Plan& plan) {
    merge_copies(module.kernel());
    if (plan.threads == 1) return lower_to_loops(std::move(module));
    // Of the explicit level the programmer says which program has which tile.
    if (module.programs && module.programs->free_unit && has_product(module.kernel()))
        group_programs(module.kernel());
    return lower_to_threads(std::move(module), plan);
}

}  // namespace xcuda::tiles
