#include "profile/analysis/requests.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace xcuda::profile::analysis {

using What = launch::TraceRecord::What;

Requests gather(const launch::BlockTrace& block) {
    struct Step {
        What what;
        std::int32_t where;
        std::uint32_t warp, visit, thread;
        std::uint64_t value;
        auto order() const { return std::tie(what, where, warp, visit, thread); }
        bool together(const Step& o) const {
            return std::tie(what, where, warp, visit) == std::tie(o.what, o.where, o.warp, o.visit);
        }
    };
    std::vector<Step> steps;
    steps.reserve(block.records.size());
    std::map<std::tuple<What, std::int32_t, std::uint32_t>, std::uint32_t> visits;
    for (const launch::TraceRecord& r : block.records)
        steps.push_back({r.what, r.where, r.thread / warp_lanes, visits[{r.what, r.where, r.thread}]++,
                         r.thread, r.value});
    std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.order() < b.order(); });

    Requests made;
    made.lanes.reserve(steps.size());
    for (const Step& s : steps) made.lanes.push_back({s.thread, s.value});
    for (std::size_t i = 0; i < steps.size();) {
        std::size_t end = i + 1;
        while (end < steps.size() && steps[end].together(steps[i])) ++end;
        made.all.push_back({steps[i].what, steps[i].where, steps[i].warp, steps[i].visit,
                            std::span(made.lanes).subspan(i, end - i)});
        i = end;
    }
    return made;
}

void Requests::by_place(What what,
                        const std::function<void(std::int32_t, std::span<const Request>)>& each) const {
    for (std::size_t i = 0; i < all.size();) {
        std::size_t end = i + 1;
        while (end < all.size() && all[end].what == all[i].what && all[end].where == all[i].where) ++end;
        if (all[i].what == what) each(all[i].where, std::span(all).subspan(i, end - i));
        i = end;
    }
}

PlacesOf places(const std::vector<Requests>& blocks, What what) {
    std::map<std::int32_t, std::vector<std::span<const Request>>> found;
    for (const Requests& block : blocks)
        block.by_place(what, [&](std::int32_t where, std::span<const Request> requests) {
            found[where].push_back(requests);
        });
    return {found.begin(), found.end()};
}

}  // namespace xcuda::profile::analysis
