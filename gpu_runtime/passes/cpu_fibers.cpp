#include "ir/walk.hpp"
#include "passes/build.hpp"
#include "passes/cpu_blocks.hpp"

namespace xcuda::passes {

using namespace ir;

ExprP block_dim(const CpuOptions& options, int axis) {
    return options.block_fixed ? int_constant(options.block[axis]) : coord(Coord::Kind::block_dim, axis);
}

Body piece_loop(Function& kernel, VarId piece, Body body) {
    kernel.begin = hidden(kernel, "begin");
    kernel.end = hidden(kernel, "end");
    body.insert(body.begin(), simple(Stmt::Kind::poll));
    Body out;
    out.push_back(loop_range(piece, read(kernel, kernel.begin), read(kernel, kernel.end), int_constant(1),
                             std::move(body)));
    return out;
}

void add_polls(Body& body) {
    constexpr std::int64_t short_loop = 256;  // iterations that need no poll
    for (Stmt& s : body) {
        add_polls(s.body);
        add_polls(s.orelse);
        if (s.kind == Stmt::Kind::loop_range) {
            const auto from = integer_of(s.exprs[0]), to = integer_of(s.exprs[1]);
            if (from && to && *to - *from <= short_loop && *from - *to <= short_loop) continue;
        } else if (s.kind != Stmt::Kind::loop_while) {
            continue;
        }
        s.body.insert(s.body.begin(), simple(Stmt::Kind::poll));
    }
}

void frame_fibers(Module& module, const CpuOptions& options, bool whole_grid) {
    Function& f = module.kernel();
    Function fiber = f;
    fiber.name += "_thread";
    fiber.where.clear();
    for (const char* name : {"thread_x", "thread_y", "thread_z", "block_x", "block_y", "block_z"})
        fiber.where.push_back(read(fiber, hidden(fiber, name)));
    rewrite_exprs(fiber.body, [&](const ExprP& e) -> ExprP {
        if (e->op != Op::coord) return e;
        const Coord& c = coord_of(*e);
        switch (c.kind) {
            case Coord::Kind::thread: return fiber.where[c.axis];
            case Coord::Kind::block: return fiber.where[3 + c.axis];
            case Coord::Kind::global:
                return add(mul(fiber.where[3 + c.axis], block_dim(options, c.axis)), fiber.where[c.axis]);
            case Coord::Kind::block_dim: return block_dim(options, c.axis);
            default: return e;
        }
    });
    add_polls(fiber.body);

    const VarId index = hidden(f, "piece");
    Stmt run = simple(Stmt::Kind::run_fibers);
    run.exprs = {read(f, index)};
    Body body;
    body.push_back(std::move(run));
    f.body = piece_loop(f, index, std::move(body));
    module.fiber = std::move(fiber);
    module.whole_grid = whole_grid;
    module.how = whole_grid ? "fibers, the whole grid at once" : "fibers";
}

}  // namespace xcuda::passes
