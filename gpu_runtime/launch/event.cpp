#include "launch/event.hpp"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

namespace xcuda::launch {
namespace {

constexpr std::size_t kept = 65536;

struct Log {
    std::mutex mutex;
    std::vector<Event> events;  // a ring once it is full: event n is at n % kept
    std::uint64_t next = 0;     // number of the next event

    std::uint64_t first() const { return next - events.size(); }  // number of the oldest event kept
};

// Never destroyed: worker threads may still record while the process exits.
Log& log() {
    static Log& the_log = *new Log;
    return the_log;
}

}  // namespace

void record(Event event) {
    Log& l = log();
    std::lock_guard lock(l.mutex);
    if (l.events.size() < kept)
        l.events.push_back(std::move(event));
    else
        std::swap(l.events[l.next % kept], event);  // the oldest is destroyed outside the lock
    ++l.next;
}

std::uint64_t mark() {
    Log& l = log();
    std::lock_guard lock(l.mutex);
    return l.next;
}

Slice events_since(std::uint64_t mark) {
    Log& l = log();
    Slice slice;
    std::lock_guard lock(l.mutex);
    const std::uint64_t begin = std::clamp(mark, l.first(), l.next);
    slice.lost = begin > mark ? begin - mark : 0;
    slice.events.reserve(static_cast<std::size_t>(l.next - begin));
    for (std::uint64_t n = begin; n < l.next; ++n) slice.events.push_back(l.events[n % kept]);
    for (Event& e : slice.events) {
        if (e.kind == Event::Kind::launch && e.timing && e.timing->done.load(std::memory_order_acquire)) {
            if (e.timing->timed) e.begin = e.timing->begin;
            e.end = e.timing->timed ? e.timing->end : e.begin;
        }
    }
    return slice;
}

}  // namespace xcuda::launch
