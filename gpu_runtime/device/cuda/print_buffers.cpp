#include "device/cuda/print_buffers.hpp"

#include <mutex>
#include <vector>

#include "device/cuda/driver.hpp"
#include "device/device.hpp"

namespace xcuda::device::cuda {

namespace {

// Never freed: the driver may be gone before the last of them.
struct Store {
    std::mutex mutex;
    std::vector<std::uint64_t*> idle;
};
Store& store() {
    static Store& all = *new Store;
    return all;
}

std::uint64_t* take(std::int64_t words) {
    {
        const std::lock_guard lock(store().mutex);
        auto& idle = store().idle;
        for (auto each = idle.begin(); each != idle.end(); ++each) {
            if (reinterpret_cast<PrintBuffer*>(*each)->capacity != static_cast<std::uint64_t>(words))
                continue;
            std::uint64_t* found = *each;
            idle.erase(each);
            return found;
        }
    }
    void* memory = nullptr;
    check(driver().cuMemHostAlloc(&memory, sizeof(PrintBuffer) + static_cast<std::size_t>(words) * 8,
                                  CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP),
          "getting pinned memory for what a kernel prints");
    return static_cast<std::uint64_t*>(memory);
}

}  // namespace

std::shared_ptr<const std::uint64_t> take_print_buffer(std::int64_t words, CUdeviceptr* on_device) {
    std::shared_ptr<const std::uint64_t> taken(take(words), [](const std::uint64_t* p) {
        const std::lock_guard lock(store().mutex);
        store().idle.push_back(const_cast<std::uint64_t*>(p));
    });
    auto* memory = const_cast<std::uint64_t*>(taken.get());
    const auto capacity = static_cast<std::uint64_t>(words);
    *reinterpret_cast<PrintBuffer*>(memory) = {0, capacity, capacity, 0};
    check(driver().cuMemHostGetDevicePointer(on_device, memory, 0), "mapping what a kernel prints");
    return taken;
}

}  // namespace xcuda::device::cuda
