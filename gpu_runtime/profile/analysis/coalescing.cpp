// How many 32-byte sectors a warp's request touches, against the fewest that hold an element a lane.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "profile/analysis/finding.hpp"

namespace xcuda::profile::analysis {
namespace {

constexpr std::uint64_t sector = 32;  // the unit of a transaction on every GPU since Maxwell

struct Pattern {
    double sectors = 0, least = 0;      // summed over the requests
    std::map<std::int64_t, int> steps;  // bytes from lane to lane, and how often
    int requests = 0;

    /// The step of most lanes, where most have the same: at the end of a block's row it is another.
    std::optional<std::int64_t> step() const {
        int all = 0;
        std::pair<std::int64_t, int> most{0, 0};
        for (const auto& one : steps) {
            all += one.second;
            if (one.second > most.second) most = one;
        }
        return all > 0 && most.second >= 0.8 * all ? std::optional(most.first) : std::nullopt;
    }
};

void add(Pattern& p, const Request& request, std::size_t size) {
    std::set<std::uint64_t> sectors;
    for (const Lane& lane : request.lanes) {
        for (std::uint64_t at = lane.value / sector; at <= (lane.value + size - 1) / sector; ++at)
            sectors.insert(at);
    }
    p.sectors += static_cast<double>(sectors.size());
    // Lanes that a branch left out have their elements in between: the other side of it asks for those.
    const std::size_t span = request.lanes.back().thread - request.lanes.front().thread + 1;
    p.least += std::ceil(static_cast<double>(span * size) / sector);
    ++p.requests;
    for (std::size_t i = 1; i < request.lanes.size(); ++i) {
        if (request.lanes[i].thread != request.lanes[i - 1].thread + 1) continue;
        ++p.steps[static_cast<std::int64_t>(request.lanes[i].value - request.lanes[i - 1].value)];
    }
}

std::string told(const Pattern& p, std::size_t size) {
    if (const auto step = p.step()) {
        const std::int64_t elements = std::abs(*step) / static_cast<std::int64_t>(size);
        return fmt::format("neighbouring threads are {} element{} apart", elements, elements == 1 ? "" : "s");
    }
    return "neighbouring threads touch elements that lie apart without a fixed step";
}

/// A site whose pattern is known.
struct Seen {
    launch::TraceRecord::What what;
    int site;
    const ir::Var* array;
    Pattern pattern;

    bool fixed() const { return pattern.step().has_value(); }
    bool many_axes() const { return array->type.ndim > 1; }
    // A row that begins in the midst of a sector takes one more, whoever reads it.
    bool wasteful() const {
        return pattern.sectors >= std::max(2 * pattern.least, pattern.least + 1.5 * pattern.requests);
    }
    bool along_rows() const {
        return fixed() && many_axes() &&
               std::abs(*pattern.step()) == static_cast<std::int64_t>(info(array->type.dtype).size);
    }
};

std::vector<Seen> patterns(const Subject& subject) {
    std::vector<Seen> all;
    for (const auto what : {launch::TraceRecord::What::read, launch::TraceRecord::What::write})
        for (const auto& [site, blocks] : places(subject.seen, what)) {
            const ir::Var* array = array_of(subject, site);
            if (!array || array->type.space != ir::Space::global) continue;
            Seen seen{what, site, array, {}};
            for (const auto& requests : blocks)
                for (const Request& r : requests)
                    if (r.lanes.size() > warp_lanes / 4) add(seen.pattern, r, element_size(subject, site));
            if (seen.pattern.requests > 0) all.push_back(seen);
        }
    return all;
}

std::string advice(const Seen& seen, bool others_lie_well) {
    const std::string& name = seen.array->name;
    if (!seen.fixed())
        return fmt::format(
            "bring the elements of {} that a warp needs together: sort the indices, or load a contiguous "
            "piece "
            "into cuda.shared.array first and pick from there",
            name);
    if (!seen.many_axes())
        return fmt::format(
            "lay {} out so that neighbouring threads touch neighbouring elements (one array a field, or the "
            "index "
            "of the thread as it is)",
            name);
    if (others_lie_well)  // turning the threads round would spoil those
        return fmt::format(
            "take {} through a tile in shared memory (cuda.shared.array((32, 33), ...)): fill the tile along "
            "the "
            "rows of one array, cuda.syncthreads(), and empty it along the rows of the other",
            name);
    return fmt::format(
        "let cuda.threadIdx.x (the first of cuda.grid) run along the last axis of {}, so that neighbouring "
        "threads "
        "touch neighbours in memory",
        name);
}

}  // namespace

void strided_accesses(const Subject& subject, std::vector<Finding>& found) {
    const std::vector<Seen> all = patterns(subject);
    const bool others_lie_well =
        std::any_of(all.begin(), all.end(), [](const Seen& s) { return s.along_rows(); });
    for (const Seen& seen : all) {
        if (!seen.wasteful()) continue;
        const Pattern& p = seen.pattern;
        found.push_back(
            {{},
             subject.trace.module.sites[static_cast<std::size_t>(seen.site)].place,
             fmt::format("{} of {}: {}; a warp's request takes {} transactions of 32 bytes where {} would do",
                         seen.what == launch::TraceRecord::What::read ? "reads" : "writes", seen.array->name,
                         told(p, element_size(subject, seen.site)), short_number(p.sectors / p.requests),
                         short_number(p.least / p.requests)),
             advice(seen, others_lie_well),
             p.sectors / p.least,
             seen.array->name});
    }
}

}  // namespace xcuda::profile::analysis
