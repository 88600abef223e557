#include "tiles/front_door.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ir/print.hpp"
#include "ir/tile.hpp"
#include "ir/walk.hpp"
#include "passes/inline.hpp"
#include "tiles/choose.hpp"
#include "tiles/instructions.hpp"
#include "tiles/layout.hpp"
#include "tiles/lower.hpp"

namespace xcuda::tiles {
namespace {

std::int64_t shared_bytes(const ir::Function& f) {
    std::int64_t bytes = 0;
    for (const ir::Var& v : f.vars) {
        if (v.role != ir::Var::Role::shared) continue;
        if (v.alignment > 64) bytes += v.alignment;  // to move to a multiple of it
        bytes += (ir::elements(v.type.extents) * static_cast<std::int64_t>(info(v.type.dtype).size) + 63) /
                 64 * 64;
    }
    return bytes;
}

// The name that the source's first `store(name, ...)` stores into.
std::string stored_name(const frontend::ast::Node& node) {
    if (node.kind == "Call" && !node.list("args").empty()) {
        const frontend::ast::Node& callee = node.one("func");
        const bool plain = callee.kind == "Name" && callee.text("id") == "store",
                   dotted = callee.kind == "Attribute" && callee.text("attr") == "store";
        const frontend::ast::Node& array = *node.list("args")[0];
        if ((plain || dotted) && array.kind == "Name") return array.text("id");
    }
    for (const frontend::ast::Field& field : node.fields)
        for (const frontend::ast::NodeP& inner : field.nodes)
            if (inner)
                if (std::string name = stored_name(*inner); !name.empty()) return name;
    return {};
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

// The largest tile, its longer lengths halved until all would take what there is.
std::string what_would_fit(const ir::Function& f, std::int64_t bytes, std::int64_t room) {
    ir::Extents largest;
    for (const ir::Var& v : f.vars)
        if (v.type.is_tile() && ir::elements(v.type.extents) > ir::elements(largest))
            largest = v.type.extents;
    ir::Extents fits = largest;
    for (; bytes > room && !fits.empty(); bytes /= 2) *std::max_element(fits.begin(), fits.end()) /= 2;
    return fmt::format("take tiles of {} where there are {}", ir::to_string(fits), ir::to_string(largest));
}

class Door final : public launch::FrontDoor {
public:
    Door(std::string as_target, const std::string& hints)
        : as_target_(std::move(as_target)),
          hints_(hints_from(hints)) {}

    std::optional<std::size_t> result(const frontend::Source& source) const override {
        const std::string name = stored_name(*source.function);
        const auto& parameters = source.function->one("args").list("args");
        for (std::size_t i = 0; i < parameters.size(); ++i)
            if (parameters[i]->text("arg") == name) return i;
        return std::nullopt;
    }

    launch::PlanKey key(const std::string& target, std::span<const launch::Argument> arguments,
                        std::optional<std::size_t> result) const override {
        std::int64_t most = 0;
        for (const launch::Argument& a : arguments)
            if (a.is_array) most = std::max(most, a.elements());
        launch::PlanKey key{as_target_.empty() ? target : as_target_};
        key.size = size_class(arguments.empty() ? INT64_MAX : most);
        key.few = result && *result < arguments.size() && arguments[*result].is_array &&
                  is_few(arguments[*result].elements());
        key.acted = !as_target_.empty() && target == "cpu" && as_target_ != "cpu";
        return key;
    }

    launch::Prepared prepare(const frontend::Source& source, const std::vector<ir::Type>& types, bool checked,
                             const launch::PlanKey& key) const override {
        return made(source, types, checked, key).prepared;
    }

    struct Made {
        launch::Prepared prepared;
        ir::Module programs;  // before the lowering
        Plan plan;
        std::int64_t shared_bytes = 0;
    };

    Made made(const frontend::Source& source, const std::vector<ir::Type>& types, bool checked,
              const launch::PlanKey& key) const {
        ir::Module module = frontend::lower(source, types, checked);
        Hints hints = hints_;
        hints.blas = as_target_.empty();
        Plan plan = choose(module, key.target, {key.size, key.few}, hints);
        const bool free = module.programs->free_unit && !plan.unit.extents.empty();
        const auto info = device::describe_target(key.target);
        for (;;) {
            plan.acted = key.acted;
            if (free) module = frontend::lower(source, types, checked, plan.unit);
            passes::inline_calls(module);
            launch::Prepared out;
            out.text = ir::to_string(module);
            out.programs = module.programs->grid;
            auto whole = plan.blas ? lower_to_blas(module) : std::nullopt;
            if (plan.blas && !whole) {
                hints.blas = false;
                plan = choose(module, key.target, {key.size, key.few}, hints);
                continue;
            }
            out.module = whole ? std::move(*whole) : lower(module, plan);
            if (plan.blas) out.programs = {ir::int_constant(1)};
            const bool flows = !out.module.maps.empty();
            if (plan.bulk && !flows) {  // no product that the copy engine can feed: the plan without it
                hints.bulk = hints.measured = false;
                if (plan.products == Instructions::tcgen05) hints.products = Instructions::mma;
                plan = choose(module, key.target, {key.size, key.few}, hints);
                continue;
            }
            // None that four warps' instructions can do: a plan for a warp's.
            if (plan.products == Instructions::wgmma && !hints_.products && !flows &&
                !by_four_warps(out.module.kernel())) {
                hints.products = Instructions::mma;
                plan = choose(module, key.target, {key.size, key.few}, hints);
                continue;
            }
            if (out.module.together > 1) {
                out.programs.resize(2, ir::int_constant(1));
                out.programs.push_back(ir::int_constant(out.module.together));
            }
            out.module.programs.reset();
            const std::int64_t bytes = shared_bytes(out.module.kernel());
            if (!info || bytes <= info->limits.shared_bytes_per_block_optin) {
                const int beside = plan.tall || plan.products == Instructions::tcgen05 ? 128 : 32;
                out.block = {plan.threads + (!flows || plan.acted ? 0 : beside), 1, 1};
                out.persistent = flows && !plan.acted && !plan.tall && out.module.together == 1;
                // Of 512 threads and more, each has fewer registers than a compiler takes that is not told.
                if (flows || ((out.block.x > 256 || plan.blocks > 0) && !plan.acted)) {
                    out.module.most_threads = static_cast<int>(out.block.x);
                    out.module.least_blocks = flows || !plan.blocks ? 1 : plan.blocks;
                }
                out.plan = words(plan);
                const std::string instructions = instructions_of(module.kernel(), out.module.kernel(), plan);
                if (!instructions.empty()) out.plan += ", " + instructions;
                if (bytes > 0) out.plan += fmt::format(", {} bytes of shared memory", bytes);
                return {std::move(out), std::move(module), plan, bytes};
            }
            if (!smaller(plan, free))
                throw Error(
                    Fault::user, "ValueError",
                    fmt::format("{}: its tiles take {} bytes of shared memory; {} has {} for a block",
                                source.name, bytes, key.target, info->limits.shared_bytes_per_block_optin),
                    module.kernel().place,
                    what_would_fit(module.kernel(), bytes, info->limits.shared_bytes_per_block_optin));
        }
    }

private:
    std::string as_target_;
    Hints hints_;
};

// How a product's tile, or the largest, lies over the threads.
nlohmann::json laid_out(const ir::Function& f, const Plan& plan) {
    nlohmann::json out = nlohmann::json::array();
    std::vector<ir::Extents> seen;
    const auto add = [&](const ir::Extents& extents, bool product, bool matrix) {
        if (std::find(seen.begin(), seen.end(), extents) != seen.end()) return;
        seen.push_back(extents);
        static constexpr const char* kinds[] = {"whole", "spread", "blocks", "matrix", "rows"};
        const auto chained = chained_layout(extents, plan);
        const Layout l = chained ? *chained : layout_of(extents, plan, product, matrix);
        out.push_back({{"shape", extents},
                       {"kind", plan.threads == 1 ? "one thread" : kinds[static_cast<int>(l.kind)]},
                       {"down", l.down},
                       {"across", l.across},
                       {"rows", l.rows},
                       {"columns", l.columns},
                       {"registers", l.slots}});
    };
    ir::each_stmt(f.body, [&](const ir::Stmt& s) {
        if (ir::is_product(s))
            add(f.vars[static_cast<std::size_t>(s.var)].type.extents, true,
                matrix_kind(f, s, plan).has_value());
    });
    const ir::Var* largest = nullptr;
    for (const ir::Var& v : f.vars)
        if (v.type.is_tile() &&
            (!largest || ir::elements(v.type.extents) > ir::elements(largest->type.extents)))
            largest = &v;
    if (out.empty() && largest) add(largest->type.extents, false, false);
    return out;
}

}  // namespace

std::shared_ptr<const launch::FrontDoor> front_door(const std::string& as_target, const std::string& hints) {
    return std::make_shared<Door>(as_target, hints);
}

std::string described(const launch::FrontDoor& door, const frontend::Source& source,
                      const std::vector<ir::Type>& types, const launch::PlanKey& key) {
    const auto& own = dynamic_cast<const Door&>(door);
    const auto [prepared, programs, plan, bytes] = own.made(source, types, true, key);
    const ir::Function& f = programs.kernel();
    nlohmann::json grid = nlohmann::json::array();
    for (const ir::ExprP& n : prepared.programs) grid.push_back(ir::to_string(f, *n));
    return nlohmann::json{
        {"target", plan.target},
        {"words", prepared.plan},
        {"unit", programs.programs->free_unit && !plan.blas ? plan.unit.extents : ir::Extents{}},
        {"depth", programs.programs->free_unit && !plan.blas ? plan.unit.depth : 0},
        {"threads", plan.threads},
        {"stages", plan.stages},
        {"shared_bytes", bytes},
        {"instructions", instructions_of(f, prepared.module.kernel(), plan)},
        {"copies", plan.bulk ? "bulk" : "threads"},
        {"grid", std::move(grid)},
        {"tiles", plan.blas ? nlohmann::json::array() : laid_out(f, plan)}}
        .dump();
}

}  // namespace xcuda::tiles
