// Barriers that not all threads of a block come to, or come to equally often.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "profile/analysis/finding.hpp"

namespace xcuda::profile::analysis {

using What = launch::TraceRecord::What;

namespace {

constexpr const char* advice =
    "let all threads of the block reach it: take cuda.syncthreads() out of the condition, and guard only the "
    "reads and writes before and after it";

// Threads by how often they pass, the most often first.
using Counts = std::map<int, int, std::greater<>>;

Counts passes(const launch::BlockTrace& block, std::int32_t site, int threads) {
    std::unordered_map<std::uint32_t, int> of;
    for (const launch::TraceRecord& r : block.records)
        if (r.what == What::barrier && r.where == site) ++of[r.thread];
    Counts counts;
    for (const auto& [thread, times] : of) ++counts[times];
    if (const int none = threads - static_cast<int>(of.size()); none > 0) counts[0] = none;
    return counts;
}

std::string times(int n) { return n == 1 ? "once" : n == 0 ? "never" : fmt::format("{} times", n); }

std::string told(const Counts& counts) {
    const auto& [most, many] = *counts.begin();
    const auto& [least, few] = *counts.rbegin();
    if (counts.size() == 2) return fmt::format("{} pass it {}, {} {}", many, times(most), few, times(least));
    return fmt::format("some pass it {}, some {}", times(most), times(least));
}

}  // namespace

void divergent_barriers(const Subject& subject, std::vector<Finding>& found) {
    const launch::Trace& trace = subject.trace;
    if (trace.fault) {
        if (trace.fault_kind == device::FaultKind::barrier && trace.fault->place)
            found.push_back({{}, *trace.fault->place, trace.fault->what(), advice, std::nullopt});
        return;  // cut short: counts would mean nothing
    }
    const int threads = static_cast<int>(trace.shape.block.count());
    std::map<std::int32_t, const launch::BlockTrace*> sites;
    for (const launch::BlockTrace& block : trace.blocks)
        for (const launch::TraceRecord& r : block.records)
            if (r.what == What::barrier && r.where >= 0 && !block.cut) sites.emplace(r.where, &block);
    for (const auto& [site, first] : sites) {
        for (const launch::BlockTrace& block : trace.blocks) {
            if (block.cut) continue;
            const Counts counts = passes(block, site, threads);
            if (counts.size() < 2) continue;
            found.push_back({{},
                             trace.module.sites[static_cast<std::size_t>(site)].place,
                             fmt::format("of the {} threads of block {} {}: a barrier is for all of them",
                                         threads, block.block, told(counts)),
                             advice,
                             std::nullopt});
            break;
        }
    }
}

}  // namespace xcuda::profile::analysis
