#include "profile/replays.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "launch/program.hpp"

namespace xcuda::profile {

using device::Activity;
using launch::Event;
using Launch = device::Device::Launch;

bool may_be(const Event& event, const Activity& seen) {
    if (!seen.kernel || !event.kernel) return false;
    const device::SeenKernel& kernel = *seen.kernel;
    return kernel.name == event.kernel->symbol && kernel.shape.grid == event.shape.grid &&
           kernel.shape.block == event.shape.block &&
           (event.device.empty() || event.device == "cuda:" + std::to_string(kernel.ordinal));
}

namespace {

bool alike(const Event& a, const Event& b) {
    return a.kernel == b.kernel && a.device == b.device && a.shape.grid == b.shape.grid &&
           a.shape.block == b.shape.block && a.shape.dynamic_shared_bytes == b.shape.dynamic_shared_bytes;
}

/// Launches and records that are left.
struct Left {
    std::vector<Event*> launches;
    std::vector<const Activity*> records;
};

/// Of each kernel and shape: as many records as launches, and no two kernels of one look, make pairs; both are then no
/// longer left.
template <class OfLaunch, class OfRecord>
void pair_by_looks(Left& left, OfLaunch of_launch, OfRecord of_record, std::vector<Pair>& out) {
    std::vector<Event*> wanted;
    for (Event* e : left.launches)
        if (of_launch(*e)) wanted.push_back(e);
    while (!wanted.empty()) {
        Event& first = *wanted.front();
        std::vector<Event*> same;
        std::vector<const Activity*> records;
        for (Event* e : wanted)
            if (alike(*e, first)) same.push_back(e);
        std::erase_if(wanted, [&](Event* e) { return alike(*e, first); });
        for (const Activity* a : left.records)
            if (of_record(*a) && may_be(first, *a)) records.push_back(a);
        // Two kernels of one look, or two sizes of dynamic shared memory: whose a record is, nobody can say.
        const bool only = std::none_of(left.launches.begin(), left.launches.end(), [&](const Event* e) {
            return of_launch(*e) && !alike(*e, first) && !records.empty() && may_be(*e, *records.front());
        });
        if (!only || same.size() != records.size()) continue;
        for (std::size_t i = 0; i < same.size(); ++i) out.push_back({same[i], records[i]});
        std::erase_if(left.launches, [&](Event* e) { return std::ranges::find(same, e) != same.end(); });
        std::erase_if(left.records,
                      [&](const Activity* a) { return std::ranges::find(records, a) != records.end(); });
    }
}

}  // namespace

std::vector<Pair> pair_replays(std::span<Event* const> launches, std::span<const Activity* const> records,
                               const device::Activities& all) {
    Left left{{launches.begin(), launches.end()}, {records.begin(), records.end()}};
    std::vector<Pair> out;
    const auto graph_of = [&](const Event& e) {
        const auto found = all.replays.find(e.timing->whole.get());
        return e.timing->whole && found != all.replays.end() ? found->second : 0u;
    };
    // By the graph's number, which each record of its nodes has.
    std::set<std::uint32_t> graphs;
    for (const Event* e : left.launches) graphs.insert(graph_of(*e));
    graphs.erase(0);
    for (const std::uint32_t graph : graphs)
        pair_by_looks(
            left, [&](const Event& e) { return graph_of(e) == graph; },
            [&](const Activity& a) { return a.graph == graph; }, out);
    // By the call that CUPTI names, replay by replay.
    std::set<const Launch*> replays;
    for (const Event* e : left.launches) replays.insert(e->timing->whole.get());
    replays.erase(nullptr);
    for (const Launch* replay : replays)
        pair_by_looks(
            left, [&](const Event& e) { return e.timing->whole.get() == replay; },
            [&](const Activity& a) { return a.launch == replay; }, out);
    // By looks alone.
    pair_by_looks(left, [](const Event&) { return true; }, [](const Activity&) { return true; }, out);
    return out;
}

}  // namespace xcuda::profile
