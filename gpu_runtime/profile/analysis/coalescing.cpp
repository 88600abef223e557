// How many 32-byte sectors a warp's request touches, against the fewest that hold as many bytes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "profile/analysis/finding.hpp"

namespace xcuda::profile::analysis {
namespace {

constexpr std::uint64_t sector = 32;  // the unit of a transaction on every GPU since Maxwell

struct Pattern {
    double sectors = 0, least = 0;     // summed over the requests
    std::optional<std::int64_t> step;  // bytes from lane to lane, where it is always the same
    bool same_step = true;
    int requests = 0;
};

void add(Pattern& p, const Request& request, std::size_t size) {
    std::set<std::uint64_t> sectors, elements;
    for (const Lane& lane : request.lanes) {
        elements.insert(lane.value);
        for (std::uint64_t at = lane.value / sector; at <= (lane.value + size - 1) / sector; ++at)
            sectors.insert(at);
    }
    p.sectors += static_cast<double>(sectors.size());
    p.least += std::ceil(static_cast<double>(elements.size() * size) / sector);
    ++p.requests;
    for (std::size_t i = 1; i < request.lanes.size(); ++i) {
        if (request.lanes[i].thread != request.lanes[i - 1].thread + 1) continue;
        const auto step = static_cast<std::int64_t>(request.lanes[i].value - request.lanes[i - 1].value);
        if (!p.step) p.step = step;
        p.same_step &= step == *p.step;
    }
}

std::string told(const Pattern& p, std::size_t size) {
    const auto elements = p.step ? *p.step / static_cast<std::int64_t>(size) : 0;
    if (p.step && p.same_step)
        return fmt::format("neighbouring threads are {} elements apart", std::abs(elements));
    return "neighbouring threads touch elements that lie apart without a fixed step";
}

void look(const Subject& subject, launch::TraceRecord::What what, std::vector<Finding>& found) {
    for (const auto& [site, blocks] : places(subject.seen, what)) {
        const ir::Var* array = array_of(subject, site);
        if (!array || array->type.space != ir::Space::global) continue;
        const std::size_t size = element_size(subject, site);
        Pattern pattern;
        for (const auto& requests : blocks)
            for (const Request& r : requests)
                if (r.lanes.size() > warp_lanes / 4) add(pattern, r, size);
        if (pattern.requests == 0 || pattern.sectors < 2 * pattern.least) continue;
        const double waste = pattern.sectors / pattern.least;
        const bool fixed = pattern.step && pattern.same_step;
        std::string advice =
            !fixed ? fmt::format(
                         "bring the elements of {} that a warp needs together: sort the indices, or load a "
                         "contiguous piece into cuda.shared.array first and pick from there",
                         array->name)
            : array->type.ndim > 1
                ? fmt::format(
                      "let cuda.threadIdx.x (the first of cuda.grid) run along the last axis of {}, so that "
                      "neighbouring threads touch neighbours in memory",
                      array->name)
                : fmt::format(
                      "lay {} out so that neighbouring threads touch neighbouring elements (one array a "
                      "field, "
                      "or the index of the thread as it is)",
                      array->name);
        found.push_back(
            {{},
             subject.trace.module.sites[static_cast<std::size_t>(site)].place,
             fmt::format("{} of {}: {}; a warp's request takes {} transactions of 32 bytes where {} would "
                         "do",
                         what == launch::TraceRecord::What::read ? "reads" : "writes", array->name,
                         told(pattern, size), short_number(pattern.sectors / pattern.requests),
                         short_number(pattern.least / pattern.requests)),
             std::move(advice),
             waste});
    }
}

}  // namespace

void strided_accesses(const Subject& subject, std::vector<Finding>& found) {
    look(subject, launch::TraceRecord::What::read, found);
    look(subject, launch::TraceRecord::What::write, found);
}

}  // namespace xcuda::profile::analysis
