#include "device/cuda/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "base/bytes.hpp"
#include "base/settings.hpp"
#include "device/cuda/driver.hpp"
#include "device/cuda/lost.hpp"
#include "device/cuda/wait.hpp"
#include "device/spilling.hpp"

namespace xcuda::device::cuda {

MemoryPool::MemoryPool(CUdevice device, std::string gpu_name, std::int64_t gpu_bytes)
    : gpu_name_(std::move(gpu_name)),
      blocks_(gpu_bytes),
      spill_(device, gpu_name_) {
    limit_ = settings().memory_limit;
    const Driver& d = driver();
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = device;
    check(d.cuMemPoolCreate(&pool_, &properties), "making the memory pool");
    // What was used once stays ours: giving it back at each synchronise would cost a mapping for each array.
    cuuint64_t all = std::numeric_limits<cuuint64_t>::max();
    check(d.cuMemPoolSetAttribute(pool_, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all),
          "setting up the memory pool");
    check(d.cuCtxGetLimit(&stack_, CU_LIMIT_STACK_SIZE), "asking for the size of a thread's stack");
    // Other GPUs that can reach this one's memory may read and write the pool.
    int count = 0;
    d.cuDeviceGetCount(&count);
    for (int other = 0; other < count; ++other) {
        CUdevice peer = 0;
        int can = 0;
        if (d.cuDeviceGet(&peer, other) != CUDA_SUCCESS || peer == device) continue;
        if (d.cuDeviceCanAccessPeer(&can, peer, device) != CUDA_SUCCESS || !can) continue;
        CUmemAccessDesc access{};
        access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        access.location.id = peer;
        access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        d.cuMemPoolSetAccess(pool_, &access, 1);
    }
}

std::int64_t MemoryPool::used() const { return blocks_.used() + spill_.figures().used; }

// For a message that the GPU is full.
std::string MemoryPool::moved() const {
    const std::int64_t limit = spill_.limit();
    if (limit == 0) return "";
    return fmt::format("; {} of them moved to host memory, where at most {} may be",
                       human_bytes(spill_.figures().spilled), human_bytes(limit));
}

std::int64_t MemoryPool::room() const {
    std::size_t free = 0, total = 0;
    check(driver().cuMemGetInfo(&free, &total), "asking for the GPU's memory");
    // What the driver itself needs, and the next small arrays, is left free.
    std::int64_t room = static_cast<std::int64_t>(free) - static_cast<std::int64_t>(total / 64);
    if (const std::int64_t limit = limit_.load(); limit > 0) room = std::min(room, limit - used());
    return room;
}

void* MemoryPool::allocate(std::size_t bytes, CUstream stream) {
    const Driver& d = driver();
    const auto wanted = static_cast<std::int64_t>(bytes);
    if (const std::int64_t limit = limit_.load(); limit > 0 && used() + wanted > limit)
        throw Error(
            Fault::machine, "MemoryError",
            fmt::format("{} may not hold {} more: arrays on it use {}, and the limit that was set is {}{}",
                        gpu_name_, human_bytes(wanted), human_bytes(used()), human_bytes(limit), moved()));
    CUdeviceptr address = 0;
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
    if (spill_.takes(bytes)) {
        if (void* made = spill_.allocate(bytes, stream)) return made;
    } else {
        const std::size_t block = KeptBlocks::rounded(bytes);
        result = d.cuMemAllocFromPoolAsync(&address, block, pool_, stream);
        if (result == CUDA_ERROR_OUT_OF_MEMORY && empty_kept())
            result = d.cuMemAllocFromPoolAsync(&address, block, pool_, stream);
    }
    if (result == CUDA_ERROR_OUT_OF_MEMORY) {
        std::size_t free = 0, total = 0;
        check(d.cuMemGetInfo(&free, &total), "asking for the GPU's memory");
        throw Error(Fault::machine, "MemoryError",
                    fmt::format("{} can't hold {} more: arrays on it use {}, and {} of its {} are free{}",
                                gpu_name_, human_bytes(wanted), human_bytes(used()),
                                human_bytes(static_cast<std::int64_t>(free)),
                                human_bytes(static_cast<std::int64_t>(total)), moved()));
    }
    check(result, "allocating memory on the GPU");
    blocks_.add(reinterpret_cast<void*>(address), bytes);
    return reinterpret_cast<void*>(address);
}

void* MemoryPool::take_kept(std::size_t bytes) {
    if (any_lost.load(std::memory_order_relaxed) || spilling.load(std::memory_order_relaxed)) [[unlikely]]
        return nullptr;
    return blocks_.take(bytes, limit_.load());
}

bool MemoryPool::keep(void* address) noexcept {
    if (any_lost.load(std::memory_order_relaxed) || spilling.load(std::memory_order_relaxed)) [[unlikely]]
        return false;
    try {
        return blocks_.keep(address);
    } catch (...) {  // no host memory for it
        return false;
    }
}

bool MemoryPool::empty_kept() noexcept {
    try {
        const std::vector<void*> all = blocks_.empty();
        for (void* const address : all)
            driver().cuMemFreeAsync(reinterpret_cast<CUdeviceptr>(address), nullptr);
        return !all.empty();
    } catch (...) {
        return false;
    }
}

void MemoryPool::trim() {
    const Driver& d = driver();
    empty_kept();
    // What was freed in a stream's order is free once the stream has passed it; what the default stream is given waits
    // for all others.
    CUevent all_passed = nullptr;
    check(d.cuEventCreate(&all_passed, CU_EVENT_DISABLE_TIMING), "making an event");
    const std::shared_ptr<CUevent_st> held(all_passed, [&d](CUevent event) { d.cuEventDestroy(event); });
    check(d.cuEventRecord(all_passed, nullptr), "recording an event");
    wait_until([&] { return d.cuEventQuery(all_passed); }, "waiting for the GPU");
    // The pool learns of what is free by a wait only, not by the query.
    check(d.cuEventSynchronize(all_passed), "waiting for the GPU");
    check(d.cuMemPoolTrimTo(pool_, 0), "giving back memory");
    spill_.trim();
    // The driver keeps room for the largest local arrays that a launch had, in every thread the GPU can hold.
    std::size_t stack = 0;
    if (d.cuCtxGetLimit(&stack, CU_LIMIT_STACK_SIZE) == CUDA_SUCCESS && stack > stack_)
        check(d.cuCtxSetLimit(CU_LIMIT_STACK_SIZE, stack_), "giving back memory of local arrays");
}

void MemoryPool::release(void* address, CUstream stream) noexcept {
    // A context that is lost has nothing to give back.
    try {
        if (!address || spill_.release(address, stream)) return;
    } catch (...) {
        return;
    }
    blocks_.remove(address);
    driver().cuMemFreeAsync(reinterpret_cast<CUdeviceptr>(address), stream);
    if (blocks_.crowded()) empty_kept();
}

Device::Memory MemoryPool::statistics() const {
    const Driver& d = driver();
    const auto read = [&](CUmemPool_attribute which) {
        cuuint64_t value = 0;
        check(d.cuMemPoolGetAttribute(pool_, which, &value), "asking the memory pool");
        return static_cast<std::int64_t>(value);
    };
    std::size_t free = 0, total = 0;
    check(d.cuMemGetInfo(&free, &total), "asking for the GPU's memory");
    const Spill::Figures apart = spill_.figures();
    const std::int64_t of_pool = blocks_.used(),
                       pooled = read(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) - of_pool + apart.kept;
    return {of_pool + apart.used,
            blocks_.high() + apart.high,
            pooled,
            static_cast<std::int64_t>(total),
            static_cast<std::int64_t>(free) + pooled,
            limit_.load()};
}

}  // namespace xcuda::device::cuda
