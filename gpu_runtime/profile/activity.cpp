#include "profile/activity.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "launch/program.hpp"

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
    if (before) made->node = before->node, made->printed = before->printed;
    made->begin = begin;
    made->end = end;
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

bool may_be(const Event& event, const Activity& seen) {
    const device::SeenKernel& kernel = *seen.kernel;
    return kernel.shape.grid == event.shape.grid && kernel.shape.block == event.shape.block && event.kernel &&
           kernel.name.find(event.kernel->name) != std::string::npos;
}

/// The kernels of graphs that may be these replayed launches, one each, in the order in which they began; empty where one
/// has none. CUPTI 13.0 says of a graph's kernels in later sessions that another call asked for them.
std::vector<const Activity*> by_looks(const std::vector<Event*>& launches, const device::Activities& all) {
    std::vector<const Activity*> found;
    std::set<const Activity*> taken;
    for (const Event* e : launches) {
        const auto one = std::find_if(all.seen.begin(), all.seen.end(), [&](const Activity& a) {
            return a.of_graph && a.kernel && !taken.contains(&a) && may_be(*e, a);
        });
        if (one == all.seen.end()) return {};
        taken.insert(&*one);
        found.push_back(&*one);
    }
    return found;
}

/// A graph's launches have no events of their own on the GPU: its kernels, in the order of its replays, are theirs. Only
/// where the numbers agree, or the looks. Gives the activities that it took.
std::set<const Activity*> time_graphs(launch::Slice& slice, std::vector<const Activity*>& of_replays,
                                      const std::set<const Launch*>& matched, const device::Activities& all) {
    std::vector<Event*> untimed;
    for (Event& e : slice.events)
        if (e.kind == Event::Kind::launch && over_and_well(e) && !e.timing->timed &&
            !matched.contains(e.timing.get()))
            untimed.push_back(&e);
    if (untimed.size() == of_replays.size())
        std::stable_sort(of_replays.begin(), of_replays.end(),
                         [](const Activity* a, const Activity* b) { return a->call < b->call; });
    else
        of_replays = by_looks(untimed, all);
    if (untimed.size() != of_replays.size()) return {};
    for (std::size_t i = 0; i < untimed.size(); ++i)
        set_time(*untimed[i], of_replays[i]->begin, of_replays[i]->end);
    return {of_replays.begin(), of_replays.end()};
}

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
    std::map<const Launch*, Event*> launches;
    for (Event& e : slice.events)
        if (e.kind == Event::Kind::launch && e.timing) launches[e.timing.get()] = &e;

    Streams streams(seen);
    std::set<const Launch*> matched;
    std::vector<const Activity*> of_replays;
    for (const Activity& a : seen.seen) {
        if (!a.ours || a.kind != Activity::Kind::kernel || !a.launch) continue;
        const auto found = launches.find(a.launch);
        if (found == launches.end()) {
            of_replays.push_back(&a);
            continue;
        }
        matched.insert(a.launch);
        streams.learn(a, *found->second);
        if (over_and_well(*found->second)) set_time(*found->second, a.begin, a.end);
    }
    const auto of_ours = time_graphs(slice, of_replays, matched, seen);

    ForeignFacts facts;
    for (const Activity& a : seen.seen) {
        const bool whose = a.of_graph && a.kernel && !a.launch;  // not told by the call
        if (whose ? of_ours.contains(&a) : a.ours) continue;
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
            e.timing = timed(a.begin, a.end);
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
            auto untimed = std::make_shared<Launch>();
            untimed->done = true;
            untimed->timed = false;
            e.timing = std::move(untimed);
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
