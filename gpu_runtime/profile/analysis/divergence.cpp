#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "ir/walk.hpp"
#include "profile/analysis/finding.hpp"

namespace xcuda::profile::analysis {

using What = launch::TraceRecord::What;

namespace {

/// Of a branch: whether it has an else, and whether what it holds is worth a word.
struct Branch {
    bool has_else = false;
    int accesses = 0;      // in its two sides
    bool is_long = false;  // a loop, a function, an atomic
};

void weigh(const ir::Body& body, Branch& b) {
    ir::each_stmt(body, [&](const ir::Stmt& s) {
        b.is_long |= s.kind == ir::Stmt::Kind::loop_range || s.kind == ir::Stmt::Kind::loop_while;
        b.accesses += s.kind == ir::Stmt::Kind::store;
        for (const ir::ExprP& e : s.exprs)
            ir::each_expr(e, [&](const ir::Expr& node) {
                b.accesses += node.op == ir::Op::load;
                b.is_long |= node.op == ir::Op::call || node.op == ir::Op::atomic;
            });
    });
}

/// By their number as points.
std::map<int, Branch> branches_of(const ir::Module& module) {
    std::map<int, Branch> found;
    const auto look = [&](const ir::Body& body) {
        ir::each_stmt(body, [&](const ir::Stmt& s) {
            if (s.kind != ir::Stmt::Kind::branch || s.site < 0) return;
            Branch b{!s.orelse.empty()};
            weigh(s.body, b);
            weigh(s.orelse, b);
            found[s.site] = b;
        });
    };
    for (const ir::Function& f : module.functions) look(f.body);
    if (module.fiber) look(module.fiber->body);
    return found;
}

/// How often warps run a side of a branch, and how often they would if threads that go one way lay side by side.
struct Sides {
    double run = 0, needed = 0;
    int requests = 0, parted = 0;
};

Sides sides_of(std::span<const Request> requests, bool has_else) {
    Sides made;
    std::map<std::uint32_t, std::pair<double, double>> visits;  // lanes that take it, and that don't
    for (const Request& r : requests) {
        const auto taken = static_cast<std::size_t>(
            std::count_if(r.lanes.begin(), r.lanes.end(), [](const Lane& l) { return l.value != 0; }));
        const std::size_t other = r.lanes.size() - taken;
        ++made.requests;
        made.parted += taken > 0 && other > 0;
        made.run += (taken > 0) + (has_else && other > 0);
        auto& [yes, no] = visits[r.visit];
        yes += static_cast<double>(taken);
        no += static_cast<double>(other);
    }
    for (const auto& [visit, lanes] : visits)
        made.needed +=
            std::ceil(lanes.first / warp_lanes) + (has_else ? std::ceil(lanes.second / warp_lanes) : 0);
    return made;
}

}  // namespace

void divergent_branches(const Subject& subject, std::vector<Finding>& found) {
    const std::map<int, Branch> branches = branches_of(subject.trace.module);
    for (const auto& [point, blocks] : places(subject.seen, What::branch)) {
        const auto known = branches.find(point);
        const Branch branch = known != branches.end() ? known->second : Branch{};
        const bool has_else = branch.has_else;
        // A few sums and assignments are done by all lanes, and kept by those that want them.
        if (!branch.is_long && branch.accesses < (has_else ? 2 : 3)) continue;
        Sides all;
        for (const auto& requests : blocks) {
            const Sides one = sides_of(requests, has_else);
            all.run += one.run, all.needed += one.needed;
            all.requests += one.requests, all.parted += one.parted;
        }
        if (all.parted * 4 < all.requests || all.run < (has_else ? 1.5 : 2) * all.needed) continue;
        found.push_back(
            {{},
             subject.trace.module.points[static_cast<std::size_t>(point)].place,
             fmt::format(
                 "in {:.0f} % of the warps that get here some threads take the branch and some don't: {}",
                 100.0 * all.parted / all.requests,
                 has_else ? "the warp then runs both sides"
                          : fmt::format("{}x the warps run it that its threads would fill",
                                        short_number(all.run / all.needed))),
             "let whole warps agree: make the condition depend on the block or on threadIdx.x // 32, sort "
             "the "
             "data by it, or compute both values and choose (a if c else b, where it is cheap)",
             all.run / all.needed});
    }
}

void uneven_loops(const Subject& subject, std::vector<Finding>& found) {
    for (const auto& [point, blocks] : places(subject.seen, What::turn)) {
        double turns = 0, waited = 0;
        for (const auto& all : blocks) {
            std::map<std::uint32_t, std::pair<double, double>> warps;  // warp -> its steps, its lanes' turns
            std::map<std::uint32_t, std::size_t> widest;
            for (const Request& r : all) {
                auto& [steps, lanes] = warps[r.warp];
                steps += 1;
                lanes += static_cast<double>(r.lanes.size());
                widest[r.warp] = std::max(widest[r.warp], r.lanes.size());
            }
            for (const auto& [warp, sum] : warps) {
                turns += sum.second;
                waited += sum.first * static_cast<double>(widest[warp]);
            }
        }
        if (turns == 0 || waited < 1.5 * turns) continue;
        found.push_back(
            {{},
             subject.trace.module.points[static_cast<std::size_t>(point)].place,
             fmt::format("the threads of a warp turn this loop for different times: a warp does {}x the "
                         "turns that its threads need",
                         short_number(waited / turns)),
             "give the threads of a warp work of equal length: sort or bucket it by length, or let a warp "
             "share one long piece (32 threads a row) instead of a thread a row",
             waited / turns});
    }
}

}  // namespace xcuda::profile::analysis
