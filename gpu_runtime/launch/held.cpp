#include "launch/held.hpp"

#include <algorithm>
#include <mutex>

#include "launch/program.hpp"

namespace xcuda::launch {
namespace {

struct Count {
    const device::Device* device;  // devices live as long as the process
    std::int64_t now = 0, at_begin = 0, peak = 0;
};
struct Counts {
    std::mutex mutex;
    std::vector<Count> each;
};
// Never destroyed: arrays go while the process exits.
Counts& counts() {
    static Counts& the_counts = *new Counts;
    return the_counts;
}

}  // namespace

void note_held(const device::Device& device, std::int64_t bytes) {
    Counts& all = counts();
    std::lock_guard lock(all.mutex);
    auto found =
        std::find_if(all.each.begin(), all.each.end(), [&](const Count& c) { return c.device == &device; });
    if (found == all.each.end()) found = all.each.insert(all.each.end(), Count{&device});
    found->now += bytes;
    found->peak = std::max(found->peak, found->now);
}

std::vector<Held> held() {
    Counts& all = counts();
    std::lock_guard lock(all.mutex);
    std::vector<Held> found;
    for (const Count& c : all.each)
        found.push_back({device_label(c.device->info()), c.now, c.at_begin, c.peak});
    return found;
}

void restart_peaks() {
    Counts& all = counts();
    std::lock_guard lock(all.mutex);
    for (Count& c : all.each) c.at_begin = c.peak = c.now;
}

}  // namespace xcuda::launch
