#include "tiles/front_door.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ir/print.hpp"
#include "ir/walk.hpp"
#include "passes/inline.hpp"
#include "tiles/choose.hpp"
#include "tiles/lower.hpp"

namespace xcuda::tiles {
namespace {

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
        if (module.programs->free_unit && !plan.unit.extents.empty())
            module = frontend::lower(source, types, checked, plan.unit);
        passes::inline_calls(module);
        launch::Prepared out;
        out.text = ir::to_string(module);
        out.block = {plan.threads, 1, 1};
        out.programs = module.programs->grid;
        out.plan = words(plan);
        out.module = lower(std::move(module), plan);
        out.module.programs.reset();
        return out;
    }

private:
    std::string as_target_;
};

}  // namespace

std::shared_ptr<const launch::FrontDoor> front_door(const std::string& as_target) {
    return std::make_shared<Door>(as_target);
}

}  // namespace xcuda::tiles
