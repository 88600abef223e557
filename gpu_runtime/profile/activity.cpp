#include "profile/activity.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "launch/program.hpp"
#include "profile/replays.hpp"

namespace xcuda::profile {
namespace {

using device::Activity;
using launch::Event;
using Launch = device::Device::Launch;

std::string label_of(int ordinal) {
    for (const auto& device : device::devices())
        if (device->info().kind == "cuda" && device->info().ordinal == ordinal)
            return launch::device_label(device->info());
    return "cuda:" + std::to_string(ordinal);
}

Event::Kind kind_of(Activity::Kind kind) {
    switch (kind) {
        case Activity::Kind::copy_in: return Event::Kind::copy_in;
        case Activity::Kind::copy_out: return Event::Kind::copy_out;
        case Activity::Kind::copy_within: return Event::Kind::copy_within;
        case Activity::Kind::fill: return Event::Kind::fill;
        case Activity::Kind::kernel: break;
    }
    return Event::Kind::launch;
}

std::shared_ptr<const Launch> timed(double begin, double end, const Launch* before = nullptr) {
    auto made = std::make_shared<Launch>();
    if (before) made->node = before->node, made->printed = before->printed, made->whole = before->whole;
    made->begin = begin;
    made->end = end;
    made->done = true;
    return made;
}

std::shared_ptr<const Launch> untimed(std::shared_ptr<const Launch> whole = nullptr) {
    auto made = std::make_shared<Launch>();
    made->whole = std::move(whole);
    made->timed = false;
    made->done = true;
    return made;
}

void set_time(Event& event, double begin, double end) {
    event.timing = timed(begin, end, event.timing.get());
    event.begin = begin;
    event.end = end;
}

bool over_and_well(const Event& event) {
    return event.timing && event.timing->done.load(std::memory_order_acquire) &&
           event.timing->fault.kind == 0;
}

/// Our streams by their address, the profiling library's by number: one number for both, where a launch of ours shows
/// which is which.
class Streams {
public:
    explicit Streams(const device::Activities& seen) {
        for (const auto& [ordinal, stream] : seen.default_streams) known_[{ordinal, stream}] = 0;
    }
    void learn(const Activity& activity, const Event& event) {
        known_.emplace(std::pair{activity.ordinal, activity.stream}, event.stream);
    }
    std::uintptr_t of(const Activity& activity) const {
        const auto found = known_.find({activity.ordinal, activity.stream});
        // An odd number is no address.
        return found != known_.end() ? found->second : (std::uintptr_t{activity.stream} << 1) | 1;
    }

private:
    std::map<std::pair<int, std::uint32_t>, std::uintptr_t> known_;
};

/// Kernels of ours whose call CUPTI tells rightly; the others of ours, by graphs' replays or by their looks.
class Own {
public:
    explicit Own(launch::Slice& slice) : slice_(slice) {
        for (Event& e : slice.events)
            if (e.kind == Event::Kind::launch && e.timing) by_timing_[e.timing.get()] = &e;
    }

    /// Gives the launches the GPU's times, as far as it is sure whose they are.
    void time(const device::Activities& all, Streams& streams) {
        std::map<Event*, std::vector<const Activity*>> claims;
        for (const Activity& a : all.seen) {
            const auto found = a.kernel && a.node == 0 ? by_timing_.find(a.launch) : by_timing_.end();
            if (found != by_timing_.end() && may_be(*found->second, a)) claims[found->second].push_back(&a);
        }
        for (const auto& [event, records] : claims) {
            if (records.size() != 1) continue;
            taken_.insert(records.front());
            streams.learn(*records.front(), *event);
            if (over_and_well(*event)) set_time(*event, records.front()->begin, records.front()->end);
        }
        std::vector<Event*> open;
        for (Event& e : slice_.events) {
            if (e.kind != Event::Kind::launch || e.foreign || !e.kernel || !over_and_well(e)) continue;
            const auto claimed = claims.find(&e);
            if (claimed == claims.end() || claimed->second.size() != 1) open.push_back(&e);
        }
        std::vector<const Activity*> loose;
        for (const Activity& a : all.seen)
            if (a.kernel && !a.whole && !taken_.contains(&a)) loose.push_back(&a);
        for (const Pair& pair : pair_replays(open, loose, all)) {
            taken_.insert(pair.seen);
            set_time(*pair.event, pair.seen->begin, pair.seen->end);
        }
        for (const Event& e : slice_.events)
            if (e.kind == Event::Kind::launch && e.kernel && !e.foreign && !e.kernel->symbol.empty())
                symbols_.insert(e.kernel->symbol);
        for (const auto& [launch, graph] : all.replays)
            if (graph != 0) graphs_.insert(graph);
        numbered_ = std::ranges::any_of(all.seen, [&](const Activity& a) {
            return a.kernel && graphs_.contains(a.graph) && symbols_.contains(a.kernel->name);
        });
    }

    bool contains(const Activity& a) const {
        if (taken_.contains(&a) || (a.graph != 0 && graphs_.contains(a.graph))) return true;
        if (a.kernel && symbols_.contains(a.kernel->name)) return true;
        // A graph's node may be told to be of a call of ours though it is another library's.
        return a.ours && (a.node == 0 || !numbered_);
    }

private:
    launch::Slice& slice_;
    std::map<const Launch*, Event*> by_timing_;
    std::set<const Activity*> taken_;
    std::set<std::uint32_t> graphs_;  // numbers of ours
    bool numbered_ = false;           // records have them: one without is none of ours
    std::set<std::string> symbols_;
};

class ForeignFacts {
public:
    std::shared_ptr<const launch::KernelFacts> of(const device::SeenKernel& kernel) {
        auto& made = made_[&kernel];
        if (!made) {
            auto facts = std::make_shared<launch::KernelFacts>();
            std::tie(facts->name, facts->signature) = split_name(kernel.name);
            facts->device = label_of(kernel.ordinal);
            facts->attributes = kernel.attributes;
            made = std::move(facts);
        }
        return made;
    }

private:
    std::map<const device::SeenKernel*, std::shared_ptr<const launch::KernelFacts>> made_;
};

}  // namespace

void add_activities(launch::Slice& slice, const device::Activities& seen) {
    Streams streams(seen);
    Own own(slice);
    own.time(seen, streams);
    slice.watched = true;

    ForeignFacts facts;
    for (const Activity& a : seen.seen) {
        if (own.contains(a)) continue;
        Event e{};
        e.kind = kind_of(a.kind);
        e.foreign = true;
        e.begin = a.begin;
        e.end = a.end;
        e.bytes = a.bytes;
        e.stream = streams.of(a);
        e.device = label_of(a.ordinal);
        if (a.kernel) {
            e.kernel = facts.of(*a.kernel);
            e.shape = a.kernel->shape;
            e.replayed = a.whole != nullptr;
            e.timing = a.whole ? untimed(a.whole) : timed(a.begin, a.end);
            e.flops = e.bytes_read = e.bytes_written = -1;
        }
        slice.events.push_back(std::move(e));
    }
    slice.lost += seen.lost;
}

void add_counters(launch::Slice& slice, const device::Counting& counting) {
    const auto counted = counting.counted();
    for (Event& e : slice.events) {
        const auto found = e.timing ? counted.find(e.timing.get()) : counted.end();
        if (found == counted.end() || !over_and_well(e)) continue;
        e.counters = found->second;
        if (e.counters) {
            set_time(e, e.begin, e.begin + e.counters->seconds);
        } else {  // its events' time is that of the tries to count
            e.timing = untimed();
        }
    }
}

std::pair<std::string, std::string> split_name(const std::string& demangled) {
    constexpr std::string_view unnamed = "(anonymous namespace)";
    std::size_t begin = 0, rest = demangled.size();
    int depth = 0;
    for (std::size_t i = 0; i < demangled.size(); ++i) {
        const char c = demangled[i];
        if (demangled.compare(i, unnamed.size(), unnamed) == 0) {
            i += unnamed.size() - 1;
        } else if (c == '<' || c == '(') {
            if (depth++ == 0 && rest == demangled.size()) rest = i;
        } else if (c == '>' || c == ')') {
            --depth;
        } else if (depth == 0 && c == ' ' && demangled.compare(i, 6, " const") != 0) {
            begin = i + 1;  // what came was the return type
            rest = demangled.size();
        }
    }
    return {demangled.substr(begin, rest - begin), demangled.substr(rest)};
}

}  // namespace xcuda::profile
