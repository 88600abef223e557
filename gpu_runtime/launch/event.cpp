#include "launch/event.hpp"

#include <algorithm>
#include <deque>
#include <mutex>

namespace xcuda::launch {
namespace {

constexpr std::size_t kept = 65536;

struct Log {
    std::mutex mutex;
    std::deque<Event> events;
    std::uint64_t first = 0;  // number of the oldest event kept; the next one is first + events.size()
};

// Never destroyed: worker threads may still record while the process exits.
Log& log() {
    static Log& the_log = *new Log;
    return the_log;
}

}  // namespace

void record(Event event) {
    Log& l = log();
    Event dropped;  // destroyed outside the lock
    std::lock_guard lock(l.mutex);
    if (l.events.size() == kept) {
        dropped = std::move(l.events.front());
        l.events.pop_front();
        ++l.first;
    }
    l.events.push_back(std::move(event));
}

std::uint64_t mark() {
    Log& l = log();
    std::lock_guard lock(l.mutex);
    return l.first + l.events.size();
}

Slice events_since(std::uint64_t mark) {
    Log& l = log();
    Slice slice;
    std::lock_guard lock(l.mutex);
    const std::uint64_t end = l.first + l.events.size();
    const std::uint64_t begin = std::clamp(mark, l.first, end);
    slice.lost = begin > mark ? begin - mark : 0;
    slice.events.assign(l.events.begin() + static_cast<std::ptrdiff_t>(begin - l.first), l.events.end());
    for (Event& e : slice.events) {
        if (e.kind == Event::Kind::launch && e.timing && e.timing->done.load(std::memory_order_acquire)) {
            if (e.timing->timed) e.begin = e.timing->begin;
            e.end = e.timing->timed ? e.timing->end : e.begin;
        }
    }
    return slice;
}

}  // namespace xcuda::launch
