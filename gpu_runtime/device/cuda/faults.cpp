#include "device/cuda/faults.hpp"

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <vector>

#include "base/error.hpp"
#include "device/cuda/driver.hpp"

namespace xcuda::device::cuda {

namespace {

// Rings by number, for signal handlers to walk: one comes, none goes.
std::array<std::atomic<FaultSlot*>, 4096> rings{};

struct Store {
    std::mutex mutex;
    std::vector<int> idle;
    int made = 0;
};
Store& store() {
    static Store& all = *new Store;
    return all;
}

}  // namespace

FaultRing::FaultRing() {
    const Driver& d = driver();
    const std::lock_guard lock(store().mutex);
    // A forked child has not the pages: its signal handlers must not touch them.
    static const int watched = pthread_atfork(nullptr, nullptr, [] {
        for (auto& ring : rings) ring.store(nullptr);
    });
    static_cast<void>(watched);
    if (!store().idle.empty()) {
        index_ = store().idle.back();
        slots_ = rings[static_cast<std::size_t>(index_)].load();
        store().idle.pop_back();
    } else {
        if (store().made == static_cast<int>(rings.size()))
            throw Error(Fault::user, "RuntimeError", "more than 4,096 streams with kernels under way");
        void* memory = nullptr;
        // Portable: any GPU's kernels may be given it.
        check(d.cuMemHostAlloc(&memory, size * sizeof(FaultSlot),
                               CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP),
              "getting pinned memory for fault records");
        std::memset(memory, 0, size * sizeof(FaultSlot));
        slots_ = static_cast<FaultSlot*>(memory);
        index_ = store().made++;
        rings[static_cast<std::size_t>(index_)].store(slots_);
    }
    check(d.cuMemHostGetDevicePointer(&on_device_, slots_, 0), "mapping the fault records");
}

FaultRing::~FaultRing() {
    const std::lock_guard lock(store().mutex);
    store().idle.push_back(index_);
}

void stop_all() noexcept {
    for (auto& ring : rings) {
        FaultSlot* slots = ring.load(std::memory_order_relaxed);
        if (!slots) return;
        for (std::uint64_t i = 0; i < FaultRing::size; ++i) slots[i].stop = 1;
    }
}

}  // namespace xcuda::device::cuda
