#include "tiles/lower.hpp"

#include "tiles/forward.hpp"
#include "tiles/tidy.hpp"

namespace xcuda::tiles {

ir::Module lower(ir::Module module, const Plan& plan) {
    if (plan.threads > 1) see_through(module.kernel());
    merge_copies(module.kernel());
    return plan.threads == 1 ? lower_to_loops(std::move(module)) : lower_to_threads(std::move(module), plan);
}

}  // namespace xcuda::tiles
