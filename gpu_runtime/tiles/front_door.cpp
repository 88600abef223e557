#include "tiles/front_door.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ir/print.hpp"
#include "ir/tile.hpp"
#include "ir/walk.hpp"
#include "passes/inline.hpp"
#include "tiles/choose.hpp"
#include "tiles/lower.hpp"

namespace xcuda::tiles {
namespace {

std::int64_t shared_bytes(const ir::Function& f) {
    std::int64_t bytes = 0;
    for (const ir::Var& v : f.vars) {
        if (v.role != ir::Var::Role::shared) continue;
        bytes += (ir::elements(v.type.extents) * static_cast<std::int64_t>(info(v.type.dtype).size) + 63) /
                 64 * 64;
    }
    return bytes;
}

// The next plan that takes less shared memory; false where there is none.
bool smaller(Plan& plan, bool free_unit) {
    if (plan.stages > 1) return --plan.stages, true;
    if (!free_unit) return false;
    auto longest = std::max_element(plan.unit.extents.begin(), plan.unit.extents.end());
    if (*longest <= 16) return false;
    *longest /= 2;
    return true;
}

class Door final : public launch::FrontDoor {
public:
    explicit Door(std::string as_target) : as_target_(std::move(as_target)) {}

    launch::PlanKey key(const std::string& target,
                        std::span<const launch::Argument> arguments) const override {
        std::int64_t most = 0;
        for (const launch::Argument& a : arguments)
            if (a.is_array) most = std::max(most, a.elements());
        return {as_target_.empty() ? target : as_target_, size_class(arguments.empty() ? INT64_MAX : most)};
    }

    launch::Prepared prepare(const frontend::Source& source, const std::vector<ir::Type>& types, bool checked,
                             const launch::PlanKey& key) const override {
        ir::Module module = frontend::lower(source, types, checked);
        Plan plan = choose(module, key.target, key.size);
        const bool free = module.programs->free_unit && !plan.unit.extents.empty();
        const auto info = device::describe_target(key.target);
        for (;;) {
            if (free) module = frontend::lower(source, types, checked, plan.unit);
            passes::inline_calls(module);
            launch::Prepared out;
            out.text = ir::to_string(module);
            out.programs = module.programs->grid;
            out.module = lower(module, plan);
            out.module.programs.reset();
            const std::int64_t bytes = shared_bytes(out.module.kernel());
            if (!info || bytes <= info->limits.shared_bytes_per_block_optin) {
                out.block = {plan.threads, 1, 1};
                out.plan = words(plan);
                return out;
            }
            if (!smaller(plan, free))
                throw Error(
                    Fault::user, "ValueError",
                    fmt::format("{}: its tiles take {} bytes of shared memory; {} has {} for a block",
                                source.name, bytes, key.target, info->limits.shared_bytes_per_block_optin),
                    module.kernel().place,
                    fmt::format("halve a length of the tiles {} times",
                                std::bit_width(static_cast<std::uint64_t>(
                                    (bytes - 1) / info->limits.shared_bytes_per_block_optin))));
        }
    }

private:
    std::string as_target_;
};

}  // namespace

std::shared_ptr<const launch::FrontDoor> front_door(const std::string& as_target) {
    return std::make_shared<Door>(as_target);
}

}  // namespace xcuda::tiles
