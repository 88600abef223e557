#include "device/cpu/interrupt.hpp"

#include <array>
#include <thread>

namespace xcuda::device::cpu {

namespace {

struct alignas(64) Slot {
    std::atomic<std::int32_t> stop{0};
    std::atomic<bool> used{false};
};
static_assert(std::atomic<std::int32_t>::is_always_lock_free && sizeof(std::atomic<std::int32_t>) == 4);

// As many launches may run at once as threads launch; one more waits for a slot.
std::array<Slot, 512> slots;

}  // namespace

StopFlag::StopFlag() {
    static thread_local int last = 0;
    for (int tried = 0;; ++tried) {
        const int at = (last + tried) % static_cast<int>(slots.size());
        if (!slots[at].used.load(std::memory_order_relaxed) && !slots[at].used.exchange(true)) {
            slot_ = last = at;
            slots[at].stop.store(0);  // in order with the launch's look at interrupts(), which comes next
            return;
        }
        if (tried >= static_cast<int>(slots.size())) std::this_thread::yield();
    }
}

StopFlag::~StopFlag() { slots[slot_].used.store(false, std::memory_order_release); }

const volatile std::int32_t* StopFlag::address() const {
    return reinterpret_cast<const volatile std::int32_t*>(&slots[slot_].stop);
}

Stop StopFlag::reason() const { return static_cast<Stop>(slots[slot_].stop.load(std::memory_order_relaxed)); }

void StopFlag::raise_fault() {
    std::int32_t none = 0;
    slots[slot_].stop.compare_exchange_strong(none, static_cast<std::int32_t>(Stop::fault));
}

void stop_all() noexcept {
    for (Slot& slot : slots)
        if (slot.used.load(std::memory_order_relaxed))
            slot.stop.store(static_cast<std::int32_t>(Stop::interrupt));
}

}  // namespace xcuda::device::cpu
