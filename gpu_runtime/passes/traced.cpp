#include "passes/traced.hpp"

#include <optional>

#include "ir/verify.hpp"
#include "ir/walk.hpp"
#include "passes/cpu_blocks.hpp"
#include "passes/cuda_polls.hpp"
#include "passes/inline.hpp"
#include "passes/structure.hpp"

namespace xcuda::passes {

using namespace ir;

namespace {

std::optional<TracePoint::Kind> kind_of(const Stmt& s) {
    switch (s.kind) {
        case Stmt::Kind::branch: return TracePoint::Kind::branch;
        case Stmt::Kind::loop_range:
        case Stmt::Kind::loop_while: return TracePoint::Kind::loop;
        default: return std::nullopt;
    }
}

void number_points(Body& body, std::vector<TracePoint>& points) {
    for (Stmt& s : body) {
        if (const auto kind = kind_of(s)) {
            s.site = static_cast<int>(points.size());
            points.push_back({*kind, s.place});
        }
        number_points(s.body, points);
        number_points(s.orelse, points);
    }
}

void add_listener(Module& module) {
    Function& kernel = module.kernel();
    module.trace = kernel.add({"trace", scalar(DType::u64), Var::Role::parameter, {}});
    kernel.params.push_back(*module.trace);
}

}  // namespace

Module shadowed_for_cuda(Module module) {
    inline_calls(module);
    structure_returns(module.kernel().body);
    add_listener(module);
    for (Function& f : module.functions) add_cuda_polls(f, RangeOptions{});
    module.most_threads =
        1024;  // whatever registers that leaves: a launch must not fail for what looks at it
    module.whole_grid = strongest_effect(module.kernel().body) == Effect::grid;
    verify(module, Stage::cpu, "passes/traced");
    return module;
}

Module traced(Module module, const CpuOptions& options) {
    inline_calls(module);
    structure_returns(module.kernel().body);
    for (Function& f : module.functions) number_points(f.body, module.points);
    add_listener(module);
    Function& kernel = module.kernel();
    kernel.tail = kernel.add({"tail", scalar(DType::i64, true), Var::Role::hidden, {}});
    frame_fibers(module, options, strongest_effect(kernel.body) == Effect::grid);
    verify(module, Stage::cpu, "passes/traced");
    return module;
}

}  // namespace xcuda::passes
