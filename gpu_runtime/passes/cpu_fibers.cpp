#include <algorithm>
#include <cstdlib>
#include <optional>

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

namespace {

// Turns of loops in one another that go by without a poll: some milliseconds.
constexpr std::int64_t unpolled = 1 << 20;

// The number that `e` is not above (`greatest`) or not below; of constants, and of the minima and maxima that build.hpp makes.
std::optional<std::int64_t> limit_of(const ExprP& e, bool greatest) {
    if (const auto n = integer_of(e)) return n;
    if (e->op != Op::select || e->args[0]->op != (greatest ? Op::lt : Op::gt)) return std::nullopt;
    const auto is_part = [&](std::size_t i) {
        return same(*e->args[0]->args[i], *e->args[i + 1]) ? limit_of(e->args[i + 1], greatest)
                                                           : std::nullopt;
    };
    const auto a = is_part(0), b = is_part(1);
    if (a && b) return greatest ? std::min(*a, *b) : std::max(*a, *b);
    return a ? a : b;
}

// Turns that a body takes for certain at most; absent where nothing tells, which is where polls are.
std::optional<std::int64_t> turns_of(Body& body) {
    std::int64_t most = 1;
    bool polled = false;
    for (Stmt& s : body) {
        const auto inner = turns_of(s.body), other = turns_of(s.orelse);
        polled |= !inner || !other;
        most += std::max(inner.value_or(0), other.value_or(0));
        if (s.kind == Stmt::Kind::loop_while) {
            s.body.insert(s.body.begin(), simple(Stmt::Kind::poll));
            polled = true;
        } else if (s.kind == Stmt::Kind::loop_range) {
            const auto step = integer_of(s.exprs[2]);
            const bool up = step && *step > 0;
            const auto from = limit_of(s.exprs[0], !up), to = limit_of(s.exprs[1], up);
            if (inner && from && to && step && *step != 0) {
                const std::int64_t length = std::abs(*to - *from) / std::abs(*step) + 1;
                if (length < unpolled && length * *inner < unpolled) {
                    most += length * *inner;
                    continue;
                }
            } else if (!inner && from && to && std::abs(*to - *from) < 256) {
                continue;  // polled within
            }
            s.body.insert(s.body.begin(), simple(Stmt::Kind::poll));
            polled = true;
        }
    }
    if (polled) return std::nullopt;
    return std::min(most, unpolled);
}

}  // namespace

void add_polls(Body& body) { turns_of(body); }

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
