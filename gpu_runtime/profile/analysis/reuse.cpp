// Elements that come from global memory more often than they need to.
#include <fmt/format.h>

#include <algorithm>
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

namespace {

constexpr std::uint64_t sector = 32;
constexpr std::size_t a_few = 1024;  // bytes that no cache loses: weights, a table of constants

/// What a block asks of one access: pieces of 32 bytes in all, different ones, and how many others lie between two
/// reads of one piece; and how many threads' reads fall on how many elements.
struct Reuse {
    double asked = 0, distinct = 0, between = 0, again = 0;
    double reads = 0, elements = 0;
    double owners = 0;  // pairs of a thread and an element that it reads
};

// Warps go on side by side: the n-th visit of one comes with the n-th of the others.
Reuse reuse_of(std::span<const Request> requests) {
    std::vector<const Request*> order;
    for (const Request& r : requests) order.push_back(&r);
    std::stable_sort(order.begin(), order.end(),
                     [](const Request* a, const Request* b) { return a->visit < b->visit; });
    Reuse made;
    std::unordered_set<std::uint64_t> elements;
    std::set<std::pair<std::uint32_t, std::uint64_t>> owners;
    std::unordered_map<std::uint64_t, double> last;  // by sector: how many came before it was asked for
    for (const Request* r : order) {
        std::set<std::uint64_t> sectors;
        for (const Lane& lane : r->lanes) {
            sectors.insert(lane.value / sector);
            elements.insert(lane.value);
            owners.emplace(lane.thread, lane.value);
        }
        made.reads += static_cast<double>(r->lanes.size());
        for (const std::uint64_t s : sectors) {
            const auto [at, first] = last.try_emplace(s, made.asked);
            if (!first) {
                made.between += made.asked - at->second - 1;
                ++made.again;
                at->second = made.asked;
            }
            ++made.asked;
        }
    }
    made.distinct = static_cast<double>(last.size());
    made.elements = static_cast<double>(elements.size());
    made.owners = static_cast<double>(owners.size());
    return made;
}

std::string in_bytes(double bytes) {
    return bytes < 1024 ? fmt::format("{:.0f} bytes", bytes)
                        : fmt::format("{} KiB", short_number(bytes / 1024));
}

}  // namespace

void repeated_reads(const Subject& subject, std::vector<Finding>& found) {
    for (const auto& [site, blocks] : places(subject.seen, What::read)) {
        if (!is_global(subject, site)) continue;
        Reuse all;
        for (const auto& requests : blocks) {
            const Reuse one = reuse_of(requests);
            all.asked += one.asked, all.distinct += one.distinct;
            all.between += one.between, all.again += one.again;
            all.reads += one.reads, all.elements += one.elements, all.owners += one.owners;
        }
        // A thread that comes back to its own element has a rule of its own.
        if (all.distinct == 0 || all.asked < 4 * all.distinct || repeats(by_block(blocks))) continue;
        // Elements that no two threads share: their pieces come again because the threads stride over them.
        if (all.reads < 4 * all.elements) continue;
        const double bytes = all.distinct * sector / static_cast<double>(blocks.size());
        if (bytes <= a_few) continue;
        const double times = all.asked / all.distinct;
        const std::string& name = array_of(subject, site)->name;
        if (all.owners < 2 * all.elements) {  // nobody else's
            found.push_back(
                {{},
                 place_of(subject, site),
                 fmt::format("each thread reads its own elements of {} {} times from global memory", name,
                             short_number(all.reads / all.owners)),
                 "read them once, into variables or a cuda.local.array: no other thread needs them",
                 all.reads / all.owners,
                 name});
            continue;
        }
        found.push_back(
            {{},
             place_of(subject, site),
             fmt::format(
                 "a block reads each piece of {} {} times from global memory, {} in all, with some {} of "
                 "it between two reads of a piece",
                 name, short_number(times), in_bytes(bytes), in_bytes(all.between / all.again * sector)),
             fmt::format("{} into cuda.shared.array once, cuda.syncthreads(), and read it from there",
                         bytes <= 32 * 1024 ? fmt::format("load these {} of {}", in_bytes(bytes), name)
                                            : fmt::format("load {} tile by tile", name)),
             times,
             name});
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
             *times,
             name});
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
             *times,
             name});
    }
}

}  // namespace xcuda::profile::analysis
