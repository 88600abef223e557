#include "passes/cpu.hpp"

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
    bool barrier = false, shared = false, block_coords = false, callee_barrier = false;
};

Features features(const Module& module) {
    Features r;
    for (const Function& f : module.functions) {
        each_stmt(f.body, [&](const Stmt& s) {
            if (s.kind != Stmt::Kind::barrier) return;
            (f.is_kernel ? r.barrier : r.callee_barrier) = true;
        });
        each_expr(f.body, [&](const Expr& e) {
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
    return has.barrier || has.shared || has.callee_barrier;
}

Module for_cpu(Module module, const CpuOptions& options) {
    inline_calls(module);
    structure_returns(module.kernel().body);
    propagate(module.kernel());
    const Features has = features(module);
    Function& f = module.kernel();
    f.tail = f.add({"tail", scalar(DType::i64, true), Var::Role::hidden, {}});
    const bool whole_grid = !has.barrier && !has.shared && !has.block_coords && !has.callee_barrier;
    if (whole_grid)
        frame_boxes(module, options);
    else if (has.callee_barrier || !frame_blocks(module, options))
        frame_fibers(module, options);
    verify(module, Stage::cpu, "passes/cpu");
    return module;
}

}  // namespace xcuda::passes
