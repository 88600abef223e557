#include "device/cuda/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "device/cuda/driver.hpp"

namespace xcuda::device::cuda {

std::string human_bytes(std::int64_t bytes) {
    const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double value = static_cast<double>(bytes);
    int unit = 0;
    while (value >= 1024 && unit < 4) value /= 1024, ++unit;
    return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.1f} {}", value, units[unit]);
}

MemoryPool::MemoryPool(CUdevice device, std::string gpu_name) : gpu_name_(std::move(gpu_name)) {
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

void* MemoryPool::allocate(std::size_t bytes, CUstream stream) {
    const Driver& d = driver();
    const std::size_t asked = std::max<std::size_t>(bytes, 1);
    CUdeviceptr address = 0;
    CUresult result = d.cuMemAllocFromPoolAsync(&address, asked, pool_, stream);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) {
        // What was freed in a stream's order counts as free once the stream has passed it.
        d.cuStreamSynchronize(stream);
        d.cuMemPoolTrimTo(pool_, 0);
        result = d.cuMemAllocFromPoolAsync(&address, asked, pool_, stream);
    }
    if (result == CUDA_ERROR_OUT_OF_MEMORY) {
        std::size_t free = 0, total = 0;
        d.cuMemGetInfo(&free, &total);
        const Device::Memory now = statistics();
        throw Error(
            Fault::machine, "MemoryError",
            fmt::format("{} can't hold {} more: arrays on it use {}, {} of its {} are free, and what this "
                        "process kept for reuse was given back",
                        gpu_name_, human_bytes(static_cast<std::int64_t>(bytes)), human_bytes(now.used),
                        human_bytes(static_cast<std::int64_t>(free)),
                        human_bytes(static_cast<std::int64_t>(total))),
            std::nullopt, "delete arrays that are no longer needed, or do the work in parts");
    }
    check(result, "allocating memory on the GPU");
    return reinterpret_cast<void*>(address);
}

void MemoryPool::release(void* address, CUstream stream) noexcept {
    // A context that is lost has nothing to give back.
    if (address) driver().cuMemFreeAsync(reinterpret_cast<CUdeviceptr>(address), stream);
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
    const std::int64_t used = read(CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
    return {used, read(CU_MEMPOOL_ATTR_USED_MEM_HIGH), read(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) - used,
            static_cast<std::int64_t>(total)};
}

}  // namespace xcuda::device::cuda
