#include <fmt/format.h>

#include <map>
#include <unordered_map>

#include "profile/analysis/finding.hpp"

namespace xcuda::profile::analysis {

void contended_atomics(const Subject& subject, std::vector<Finding>& found) {
    for (const auto& [site, blocks] : places(subject.seen, launch::TraceRecord::What::atomic)) {
        const ir::Var* array = array_of(subject, site);
        if (!array || array->type.space != ir::Space::global) continue;
        std::unordered_map<std::uint64_t, int> each;
        double depth = 0;  // lanes of a request that wait for one element
        int requests = 0, operations = 0;
        for (const auto& all : blocks)
            for (const Request& r : all) {
                std::map<std::uint64_t, int> here;
                for (const Lane& lane : r.lanes) {
                    ++here[lane.value];
                    ++each[lane.value];
                    ++operations;
                }
                int most = 0;
                for (const auto& [element, lanes] : here) most = std::max(most, lanes);
                depth += most;
                ++requests;
            }
        if (requests == 0 || depth < 4.0 * requests) continue;
        found.push_back(
            {{},
             subject.trace.module.sites[static_cast<std::size_t>(site)].place,
             fmt::format("{} atomic operations of {} block{} fall on {} element{} of {}; in a warp {} lanes "
                         "wait for the "
                         "same one",
                         operations, subject.seen.size(), subject.seen.size() == 1 ? "" : "s", each.size(),
                         each.size() == 1 ? "" : "s", array->name, short_number(depth / requests)),
             fmt::format("reduce inside the block first (cuda.shared.array and cuda.syncthreads(), or warp "
                         "shuffles), and "
                         "let one thread of the block add the result to {}",
                         array->name),
             depth / requests,
             array->name});
    }
}

}  // namespace xcuda::profile::analysis
