#include "passes/cuda_polls.hpp"

#include <algorithm>

#include "passes/build.hpp"
#include "passes/cpu_region.hpp"

namespace xcuda::passes {

using namespace ir;

namespace {

constexpr std::int64_t stretch = 4096;     // iterations of a counted loop between two polls
constexpr std::int64_t turn_weight = 1;    // of a `while`'s turn
constexpr std::int64_t entry_weight = 16;  // of a stretch, or of a short loop entered

Stmt poll(std::int64_t weight) {
    Stmt s = simple(Stmt::Kind::poll);
    s.exprs = {int_constant(weight)};
    return s;
}

bool breaks(const Body& b) {  // out of this loop
    return std::any_of(b.begin(), b.end(), [](const Stmt& s) {
        const bool loop = s.kind == Stmt::Kind::loop_range || s.kind == Stmt::Kind::loop_while;
        return s.kind == Stmt::Kind::break_loop || (!loop && breaks(s.body)) || breaks(s.orelse);
    });
}

bool is_short(const Stmt& loop) {
    const auto from = integer_of(loop.exprs[0]), to = integer_of(loop.exprs[1]);
    return from && to && *to - *from <= stretch && *from - *to <= stretch;
}

void visit(Function& f, Body& body) {
    for (Stmt& s : body) {
        visit(f, s.body);
        visit(f, s.orelse);
        if (s.kind == Stmt::Kind::loop_while) s.body.insert(s.body.begin(), poll(turn_weight));
        if (s.kind != Stmt::Kind::loop_range || is_short(s)) continue;
        const auto step = integer_of(s.exprs[2]);
        if (!step || *step == 0 || !s.orelse.empty() || breaks(s.body)) {
            s.body.insert(s.body.begin(), poll(turn_weight));
            continue;
        }
        const VarId first = hidden(f, "stretch"), stop = hidden(f, "stop");
        const ExprP reach = add(read(f, first), int_constant(stretch * *step));
        Stmt outer = loop_range(first, s.exprs[0], read(f, stop), int_constant(stretch * *step), {}, s.place);
        Stmt bound = assign(stop, s.exprs[1], s.place);
        s.exprs[0] = read(f, first);
        s.exprs[1] = *step > 0 ? minimum(reach, read(f, stop)) : maximum(reach, read(f, stop));
        outer.body.push_back(poll(entry_weight));
        outer.body.push_back(std::move(s));
        Body both_of_them;  // the bound is read once, before the loop
        both_of_them.push_back(std::move(bound));
        both_of_them.push_back(std::move(outer));
        s = branch(constant(true, scalar(DType::b1)), std::move(both_of_them));
    }
}

}  // namespace

void add_cuda_polls(Function& function) { visit(function, function.body); }

}  // namespace xcuda::passes
