#include "passes/cpu.hpp"

#include <algorithm>

#include "ir/verify.hpp"
#include "ir/walk.hpp"
#include "passes/cpu_blocks.hpp"
#include "passes/inline.hpp"
#include "passes/propagate.hpp"
#include "passes/structure.hpp"

namespace xcuda::passes {

using namespace ir;

namespace {

struct Features {
    bool barrier = false, shared = false, block_coords = false;
    bool fibers = false;           // threads meet in other ways than at barriers of the kernel itself
    Effect effect = Effect::none;  // the strongest
};

Features features(const Module& module) {
    Features r;
    for (const Function& f : module.functions) {
        const Effect effect = strongest_effect(f.body);
        r.effect = std::max(r.effect, effect);
        if (!f.is_kernel) r.fibers |= effect >= Effect::warp;
        each_stmt(f.body, [&](const Stmt& s) { r.barrier |= f.is_kernel && s.kind == Stmt::Kind::barrier; });
        each_expr(f.body, [&](const Expr& e) {
            r.fibers |= effect_of(e) >= Effect::warp;
            if (e.op != Op::coord) return;
            const Coord::Kind kind = coord_of(e).kind;
            r.block_coords |= kind == Coord::Kind::thread || kind == Coord::Kind::block;
        });
        for (const Var& v : f.vars) r.shared |= v.role == Var::Role::shared;
    }
    return r;
}

}  // namespace

bool wants_fixed_block(const Module& module) {
    const Features has = features(module);
    return has.barrier || has.shared || has.fibers;
}

Module for_cpu(Module module, const CpuOptions& options) {
    for (const Function& f : module.functions)
        if (f.foreign)
            throw Error(
                Fault::user, "RuntimeError",
                f.name + "() is CUDA C++ (cuda.declare_device): it runs on a GPU, and this is the CPU device",
                f.place, "launch it over arrays of a GPU, or write the function in Python");
    inline_calls(module);
    structure_returns(module.kernel().body);
    propagate(module.kernel());
    const Features has = features(module);
    Function& f = module.kernel();
    f.tail = f.add({"tail", scalar(DType::i64, true), Var::Role::hidden, {}});
    const bool whole_grid = !has.barrier && !has.shared && !has.block_coords && !has.fibers;
    if (whole_grid)
        frame_boxes(module, options);
    else if (has.fibers || !frame_blocks(module, options))
        frame_fibers(module, options, has.effect == Effect::grid);
    verify(module, Stage::cpu, "passes/cpu");
    return module;
}

}  // namespace xcuda::passes
