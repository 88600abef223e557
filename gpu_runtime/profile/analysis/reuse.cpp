// Elements that come from global memory more often than they need to.
#include <fmt/format.h>

#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "profile/analysis/finding.hpp"

namespace xcuda::profile::analysis {

using What = launch::TraceRecord::What;

namespace {

bool is_global(const Subject& subject, int site) {
    const ir::Var* array = array_of(subject, site);
    return array && array->type.space == ir::Space::global;
}

const Place& place_of(const Subject& subject, int site) {
    return subject.trace.module.sites[static_cast<std::size_t>(site)].place;
}

/// For each thread that comes to a site: how often, and whether always to one element.
struct Visits {
    std::uint64_t address = 0;
    int times = 0;
    bool one_element = true;
};

using OfThreads = std::unordered_map<std::uint32_t, Visits>;

OfThreads visits_of(std::span<const Request> requests) {
    OfThreads threads;
    for (const Request& r : requests)
        for (const Lane& lane : r.lanes) {
            Visits& v = threads[lane.thread];
            v.one_element &= v.times == 0 || v.address == lane.value;
            v.address = lane.value;
            ++v.times;
        }
    return threads;
}

/// Times a thread comes back to its one element, where all threads do so at least thrice; else nothing.
std::optional<double> repeats(const std::vector<OfThreads>& blocks) {
    double times = 0;
    std::size_t threads = 0;
    for (const OfThreads& all : blocks)
        for (const auto& [thread, v] : all) {
            if (!v.one_element || v.times < 3) return std::nullopt;
            times += v.times;
            ++threads;
        }
    if (threads == 0) return std::nullopt;
    return times / static_cast<double>(threads);
}

std::vector<OfThreads> by_block(const std::vector<std::span<const Request>>& blocks) {
    std::vector<OfThreads> all;
    for (const auto& requests : blocks) all.push_back(visits_of(requests));
    return all;
}

/// Elements that some thread of the traced blocks writes.
std::unordered_set<std::uint64_t> written(const Subject& subject) {
    std::unordered_set<std::uint64_t> all;
    for (const Requests& block : subject.seen)
        for (const Request& r : block.all)
            if (r.what == What::write || r.what == What::atomic)
                for (const Lane& lane : r.lanes) all.insert(lane.value);
    return all;
}

bool touches(const std::vector<OfThreads>& blocks, const std::unordered_set<std::uint64_t>& elements) {
    for (const OfThreads& all : blocks)
        for (const auto& [thread, v] : all)
            if (elements.contains(v.address)) return true;
    return false;
}

}  // namespace

void repeated_reads(const Subject& subject, std::vector<Finding>& found) {
    constexpr std::uint64_t sector = 32;
    for (const auto& [site, blocks] : places(subject.seen, What::read)) {
        if (!is_global(subject, site)) continue;
        double asked = 0, distinct = 0;
        for (const auto& requests : blocks) {
            std::unordered_set<std::uint64_t> block_sectors;
            for (const Request& r : requests) {
                std::set<std::uint64_t> sectors;
                for (const Lane& lane : r.lanes) sectors.insert(lane.value / sector);
                asked += static_cast<double>(sectors.size());
                block_sectors.insert(sectors.begin(), sectors.end());
            }
            distinct += static_cast<double>(block_sectors.size());
        }
        // A thread that comes back to its own element has a rule of its own.
        if (distinct == 0 || asked < 4 * distinct || repeats(by_block(blocks))) continue;
        const std::string& name = array_of(subject, site)->name;
        found.push_back(
            {{},
             place_of(subject, site),
             fmt::format("a block reads each piece of {} {} times from global memory", name,
                         short_number(asked / distinct)),
             fmt::format("load a tile of {0} into cuda.shared.array once, cuda.syncthreads(), and read it "
                         "from there",
                         name),
             asked / distinct});
    }
}

void accumulation_in_memory(const Subject& subject, std::vector<Finding>& found) {
    const PlacesOf reads = places(subject.seen, What::read);
    for (const auto& [site, blocks] : places(subject.seen, What::write)) {
        if (!is_global(subject, site)) continue;
        const auto times = repeats(by_block(blocks));
        if (!times) continue;
        const std::string& name = array_of(subject, site)->name;
        found.push_back(
            {{},
             place_of(subject, site),
             fmt::format("each thread writes one element of {} {} times", name, short_number(*times)),
             fmt::format("keep the value in a variable while the loop runs, and store it to {} once, after "
                         "the loop",
                         name),
             *times});
    }
}

void loop_invariant_loads(const Subject& subject, std::vector<Finding>& found) {
    const auto changing = written(subject);
    for (const auto& [site, blocks] : places(subject.seen, What::read)) {
        if (!is_global(subject, site)) continue;
        const auto threads = by_block(blocks);
        const auto times = repeats(threads);
        if (!times || touches(threads, changing)) continue;
        const std::string& name = array_of(subject, site)->name;
        found.push_back(
            {{},
             place_of(subject, site),
             fmt::format("each thread reads the same element of {} {} times", name, short_number(*times)),
             "read it into a variable before the loop",
             *times});
    }
}

}  // namespace xcuda::profile::analysis
