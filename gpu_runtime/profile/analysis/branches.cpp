#include "profile/analysis/branches.hpp"

#include <algorithm>

#include "launch/launch.hpp"
#include "launch/shape.hpp"
#include "profile/analysis/requests.hpp"

namespace xcuda::profile::analysis {
namespace {

constexpr std::int64_t most_blocks = 16;  // spread evenly over the grid

// A thread an element, axes in their order.
device::Shape shape_of(const launch::Lowered& lowered, std::span<const launch::Argument> arguments,
                       const std::string& kernel) {
    device::Info info;
    info.name = "the CPU device";
    return launch::automatic_shape(launch::domain_lengths(lowered, arguments, kernel), info, kernel,
                                   lowered.block);
}

}  // namespace

std::vector<BranchCount> count_branches(const launch::Program& program, const launch::Lowered& lowered,
                                        std::span<const launch::Argument> arguments,
                                        const std::optional<device::Shape>& shape,
                                        const std::string& kernel) {
    const device::Shape launched = shape ? *shape : shape_of(lowered, arguments, kernel);
    const std::int64_t blocks = launched.grid.count();
    launch::TraceOptions options;
    for (std::int64_t i = 0; i < std::min(blocks, most_blocks); ++i)
        options.blocks.push_back(i * blocks / std::min(blocks, most_blocks));
    if (options.blocks.empty()) return {};

    const launch::Trace trace = launch::trace(program, lowered, launched, arguments, options);
    std::vector<Requests> seen;
    for (const launch::BlockTrace& block : trace.blocks) seen.push_back(gather(block));
    std::vector<BranchCount> out;
    for (const auto& [point, of_blocks] : places(seen, launch::TraceRecord::What::branch)) {
        BranchCount count;
        count.place = trace.module.points[static_cast<std::size_t>(point)].place;
        for (const auto& requests : of_blocks)
            for (const Request& r : requests) {
                const auto lanes = static_cast<std::int64_t>(r.lanes.size());
                const auto taken =
                    std::count_if(r.lanes.begin(), r.lanes.end(), [](const Lane& l) { return l.value != 0; });
                count.threads += lanes;
                count.taken += taken;
                ++count.warps;
                count.divergent += taken != 0 && taken != lanes;
            }
        out.push_back(count);
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const BranchCount& a, const BranchCount& b) { return a.place.line < b.place.line; });
    return out;
}

}  // namespace xcuda::profile::analysis
