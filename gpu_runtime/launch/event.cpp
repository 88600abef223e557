#include "launch/event.hpp"

#include <algorithm>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include "launch/running.hpp"

namespace xcuda::launch {
namespace {

constexpr std::size_t kept = 65536;

// One event: it shares what it has in common with others, so that a log of many is small and stays in the processor's
// caches.
struct Entry {
    std::shared_ptr<const Event> what;
    std::shared_ptr<const device::Device::Launch> timing;
    double begin;
    std::uintptr_t stream;
    // Of a launch that was over, and well, when it was recorded: its time is all that is kept, so that thousands of
    // them leave the processor's caches to others. Negative: `timing` tells.
    double seconds = -1;
    int calls = 1;  // of a launch: of so many the sum is in `seconds`, and of these
    float shortest = 0, longest = 0;
    double end = 0;  // this and what follows: of all but launches
    std::int64_t bytes = 0;
    double before = 0;
};

struct Log {
    std::mutex mutex;
    std::vector<Entry> events;                        // a ring once it is full: event n is at n % kept
    std::uint64_t next = 0;                           // number of the next event
    std::vector<std::shared_ptr<const Event>> plain;  // what copies, fills, allocations and releases share
    std::uint64_t summed_from = none;                 // launches from this number on are summed

    static constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

    Log() { events.reserve(kept); }  // pages that no event has come to yet are not the process' yet
    std::uint64_t first() const { return next - events.size(); }  // number of the oldest event kept
};

// Never destroyed: worker threads may still record while the process exits.
Log& log() {
    static Log& the_log = *new Log;
    return the_log;
}

}  // namespace

namespace {

bool ended_well(const device::Device::Launch* launch) {
    return launch && launch->done.load(std::memory_order_acquire) && launch->fault.kind == 0;
}

std::shared_ptr<const device::Device::Launch> over(const Entry& entry) {
    auto launch = std::make_shared<device::Device::Launch>();
    launch->begin = entry.begin;
    launch->end = entry.begin + entry.seconds;
    launch->done = true;
    return launch;
}

/// Adds a launch that is over to the last entry, where that is of the same ones.
bool add_to_last(const std::shared_ptr<const Event>& like, std::uintptr_t stream, double seconds) {
    Log& l = log();
    std::lock_guard lock(l.mutex);
    if (l.next <= l.summed_from) return false;
    Entry& last = l.events[(l.next - 1) % kept];
    if (last.what != like || last.stream != stream || last.seconds < 0) return false;
    if (last.calls == 1) last.shortest = last.longest = static_cast<float>(last.seconds);
    ++last.calls;
    last.seconds += seconds;
    last.shortest = std::min(last.shortest, static_cast<float>(seconds));
    last.longest = std::max(last.longest, static_cast<float>(seconds));
    return true;
}

void append(Entry entry) {
    Log& l = log();
    std::lock_guard lock(l.mutex);
    if (l.events.size() < kept)
        l.events.push_back(std::move(entry));
    else
        std::swap(l.events[l.next % kept], entry);  // the oldest is destroyed outside the lock
    ++l.next;
}

bool is_plain(const Event& event) {
    return event.kind != Event::Kind::launch && event.kind != Event::Kind::compile && !event.foreign;
}

/// The one that all plain events of a kind and device share. There are a few for each device.
std::shared_ptr<const Event> shared_plain(const Event& event) {
    Log& l = log();
    std::lock_guard lock(l.mutex);
    for (const auto& known : l.plain)
        if (known->kind == event.kind && known->device == event.device) return known;
    auto made = std::make_shared<Event>();
    made->kind = event.kind;
    made->device = event.device;
    return l.plain.emplace_back(std::move(made));
}

}  // namespace

void record(Event event) {
    Entry entry{nullptr, std::move(event.timing), event.begin, event.stream};
    entry.end = event.end;
    entry.bytes = event.bytes;
    entry.before = event.before;
    entry.what = is_plain(event) ? shared_plain(event) : std::make_shared<const Event>(std::move(event));
    append(std::move(entry));
}

void record_launch(const std::shared_ptr<const Event>& like, double begin, std::uintptr_t stream,
                   std::shared_ptr<const device::Device::Launch> timing) {
    // One that several workers shared took long enough for its record to be kept: it has their times.
    if (ended_well(timing.get()) && timing->timed && timing->end >= timing->begin && timing->workers < 2) {
        const double seconds = timing->end - timing->begin;
        if (!add_to_last(like, stream, seconds)) append({like, nullptr, timing->begin, stream, seconds});
    } else {
        append({like, std::move(timing), begin, stream});
    }
}

void record_replay(const std::shared_ptr<const Event>& replay, double begin, std::uintptr_t stream,
                   std::shared_ptr<const device::Device::Launch> whole) {
    append({replay, std::move(whole), begin, stream});
}

std::uint64_t mark(Detail detail) {
    Log& l = log();
    std::lock_guard lock(l.mutex);
    l.summed_from = detail == Detail::summed ? l.next : Log::none;
    return l.next;
}

std::optional<Running> oldest_running(std::uint64_t mark) {
    Log& l = log();
    std::lock_guard lock(l.mutex);
    for (std::uint64_t n = std::clamp(mark, l.first(), l.next); n < l.next; ++n) {
        const Entry& entry = l.events[n % kept];
        if (entry.what->kind == Event::Kind::launch && entry.what->kernel && entry.timing &&
            !entry.timing->done.load(std::memory_order_acquire))
            return Running{entry.what->kernel->name, entry.begin};
    }
    return std::nullopt;
}

namespace {

void add_timed(LaunchSum& sum, double seconds) {
    ++sum.calls;
    ++sum.timed;
    sum.total += seconds;
    sum.shortest = std::min(sum.shortest, seconds);
    sum.longest = std::max(sum.longest, seconds);
}

void add_replay(Slice& slice, const Entry& entry, std::size_t& launches, const auto& sum_of) {
    for (const auto& what : entry.what->each) {
        if (launches == 0) {
            ++sum_of(what).calls;
            continue;
        }
        --launches;
        auto one = std::make_shared<device::Device::Launch>();
        one->timed = false;
        one->done = true;
        one->whole = entry.timing;
        Event& e = slice.events.emplace_back(*what);
        e.begin = e.end = entry.begin;
        e.stream = entry.stream;
        e.timing = std::move(one);
    }
}

}  // namespace

void LaunchSum::add(const device::Device::Launch& launch) {
    if (launch.timed)
        add_timed(*this, launch.end - launch.begin);
    else
        ++calls;  // one of many in a row: its neighbours' time tells
    if (launch.workers < 2) return;
    ++shared;
    workers += launch.workers;
    busy += launch.busy;
    busiest += launch.busiest;
}

Slice events_since(std::uint64_t mark, std::size_t launches) {
    Log& l = log();
    Slice slice;
    const auto sum_of = [&slice](const std::shared_ptr<const Event>& what) -> LaunchSum& {
        // From the back: a loop's launches find their sum at once.
        const auto found = std::find_if(slice.sums.rbegin(), slice.sums.rend(),
                                        [&](const LaunchSum& s) { return s.what == what; });
        return found != slice.sums.rend() ? *found : slice.sums.emplace_back(LaunchSum{what});
    };
    std::lock_guard lock(l.mutex);
    const std::uint64_t begin = std::clamp(mark, l.first(), l.next);
    slice.lost = begin > mark ? begin - mark : 0;
    slice.events.reserve(std::min(launches, static_cast<std::size_t>(l.next - begin)));
    for (std::uint64_t n = begin; n < l.next; ++n) {
        const Entry& entry = l.events[n % kept];
        if (entry.what->kind == Event::Kind::launch) {
            if (!entry.what->each.empty()) {
                slice.replays.push_back(entry.timing);
                add_replay(slice, entry, launches, sum_of);
                continue;
            }
            if (entry.calls > 1) {
                LaunchSum& sum = sum_of(entry.what);
                sum.calls += entry.calls;
                sum.timed += entry.calls;
                sum.total += entry.seconds;
                sum.shortest = std::min(sum.shortest, double{entry.shortest});
                sum.longest = std::max(sum.longest, double{entry.longest});
                continue;
            }
            if (launches == 0 && entry.seconds >= 0) {
                add_timed(sum_of(entry.what), entry.seconds);
                continue;
            }
            if (launches == 0 && ended_well(entry.timing.get())) {
                sum_of(entry.what).add(*entry.timing);
                continue;
            }
            launches -= launches > 0;
        }
        Event& e = slice.events.emplace_back(*entry.what);
        e.begin = entry.begin;
        e.stream = entry.stream;
        e.timing = entry.seconds >= 0 ? over(entry) : entry.timing;
        if (e.kind != Event::Kind::launch) {
            e.end = entry.end;
            e.bytes = entry.bytes;
            e.before = entry.before;
        }
        if (e.kind == Event::Kind::launch && e.timing && e.timing->done.load(std::memory_order_acquire)) {
            if (e.timing->timed) e.begin = e.timing->begin;
            e.end = e.timing->timed ? e.timing->end : e.begin;
        }
    }
    return slice;
}

}  // namespace xcuda::launch
