#include "tiles/choose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "ir/tile.hpp"
#include "ir/walk.hpp"

namespace xcuda::tiles {

using namespace ir;

namespace {

struct Facts {
    bool products = false, half = false, wide = false;  // wide: products of float64
    std::size_t axes = 0;                               // of the largest tile
    std::int64_t elements = 1;                          // of it
};

Facts facts_of(const Module& module) {
    Facts facts;
    for (const Var& v : module.kernel().vars)
        if (v.type.is_tile()) {
            facts.axes = std::max(facts.axes, v.type.extents.size());
            facts.elements = std::max(facts.elements, elements(v.type.extents));
        }
    each_stmt(module.kernel().body, [&](const Stmt& s) {
        if (s.kind != Stmt::Kind::tile || s.tile.kind != TileOp::Kind::mma) return;
        facts.products = true;
        facts.half |= is_half(s.exprs[0]->type.dtype);
        facts.wide |= info(s.exprs[0]->type.dtype).size == 8;
    });
    return facts;
}

// mma.sync with ldmatrix, and bfloat16: from sm_80 on.
bool matrix_instructions(const std::string& target) {
    return target.starts_with("sm_") && std::atoi(target.c_str() + 3) >= 80;
}

}  // namespace

int size_class(std::int64_t elements) { return elements < 128 * 128 ? 0 : elements < 1024 * 1024 ? 1 : 2; }

Plan choose(const Module& module, const std::string& target, int size) {
    const Facts facts = facts_of(module);
    Plan plan;
    plan.target = target;
    if (target == "cpu") {
        if (facts.products) {
            const std::int64_t n = size == 0 ? 32 : size == 1 ? 64 : 128;
            plan.unit = {{n, n}, facts.wide ? 64 : 128};
        } else {
            plan.unit = {{8, 1024}, 0};
        }
        return plan;
    }
    plan.matrix = facts.half && matrix_instructions(target);
    plan.stages = facts.products && matrix_instructions(target) ? 3 : 1;
    if (facts.products) {
        const std::int64_t n = size == 0 ? 32 : size == 1 ? 64 : facts.wide ? 64 : 128;
        plan.unit = {{n, n}, facts.wide ? 16 : 32};
        plan.threads = size == 0 ? 64 : size == 1 || plan.matrix ? 128 : 256;
        if (plan.matrix && size == 2) plan.stages = 4;
    } else {
        plan.unit = {{4, 1024}, 0};
        plan.threads = 256;
    }
    if (!module.programs || !module.programs->free_unit)
        plan.threads = static_cast<int>(std::clamp<std::int64_t>(facts.elements / 8, 32, 256));
    return plan;
}

std::string words(const Plan& plan) {
    std::string text;
    for (const std::int64_t n : plan.unit.extents) text += (text.empty() ? "" : "x") + std::to_string(n);
    if (plan.unit.depth) text += fmt::format("x{}", plan.unit.depth);
    if (!text.empty()) text += " tiles, ";
    text += plan.threads == 1 ? "a thread a program" : fmt::format("{} threads a program", plan.threads);
    if (plan.stages > 1) text += fmt::format(", {} stages", plan.stages);
    if (plan.matrix) text += ", mma.sync";
    return text;
}

}  // namespace xcuda::tiles
