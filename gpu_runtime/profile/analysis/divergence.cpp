#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "profile/analysis/finding.hpp"

namespace xcuda::profile::analysis {

using What = launch::TraceRecord::What;

void divergent_branches(const Subject& subject, std::vector<Finding>& found) {
    for (const auto& [point, blocks] : places(subject.seen, What::branch)) {
        int requests = 0, parted = 0;
        for (const auto& all : blocks)
            for (const Request& r : all) {
                if (r.lanes.size() < 2) continue;
                const auto taken =
                    std::count_if(r.lanes.begin(), r.lanes.end(), [](const Lane& l) { return l.value != 0; });
                ++requests;
                parted += taken != 0 && taken != static_cast<std::ptrdiff_t>(r.lanes.size());
            }
        // A guard parts one warp of a row; that costs nothing worth a word.
        if (requests == 0 || parted * 4 < requests) continue;
        found.push_back({{},
                         subject.trace.module.points[static_cast<std::size_t>(point)].place,
                         fmt::format("in {:.0f} % of the warps that get here some threads take the branch "
                                     "and some don't: the warp "
                                     "then runs both sides",
                                     100.0 * parted / requests),
                         "let whole warps agree: make the condition depend on the block or on threadIdx.x // "
                         "32, sort the data by "
                         "it, or compute both values and choose (a if c else b, where it is cheap)",
                         std::nullopt});
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
