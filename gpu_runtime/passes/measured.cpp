#include "passes/measured.hpp"

#include <algorithm>

#include "ir/walk.hpp"

namespace xcuda::passes {

using namespace ir;

namespace {

bool is_loop(const Stmt& s) { return s.kind == Stmt::Kind::loop_range || s.kind == Stmt::Kind::loop_while; }

bool is_innermost(const Stmt& s) {
    if (s.kind != Stmt::Kind::loop_range || s.hint != Stmt::Hint::none) return false;
    bool alone = true;
    each_stmt(s.body, [&](const Stmt& inner) { alone &= !is_loop(inner); });
    return alone;
}

void mark(Body& body, const Place& kernel, std::span<const Likely> likely, int turns) {
    for (Stmt& s : body) {
        if (s.kind == Stmt::Kind::branch && s.place.file == kernel.file) {
            const auto found = std::ranges::find(likely, s.place.line - kernel.line, &Likely::line);
            if (found != likely.end()) s.likely = found->taken ? 1 : -1;
        }
        if (turns > 1 && is_innermost(s)) s.turns = turns;
        mark(s.body, kernel, likely, turns);
        mark(s.orelse, kernel, likely, turns);
    }
}

}  // namespace

void mark_measured(Module& module, std::span<const Likely> likely, int turns) {
    const Place kernel = module.kernel().place;
    mark(module.kernel().body, kernel, likely, turns);
}

int innermost_loops(const Module& module) {
    int count = 0;
    each_stmt(module.kernel().body, [&](const Stmt& s) { count += is_innermost(s); });
    return count;
}

}  // namespace xcuda::passes
