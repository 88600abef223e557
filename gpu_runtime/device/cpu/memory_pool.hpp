// Arrays' memory on the CPU device: blocks aligned to 64 bytes, kept for the next array when one goes. In a build with
// AddressSanitizer, and under XCUDA_POOL_GUARD, each is of the size that was asked for, and none is kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "device/cpu/guarded_memory.hpp"
#include "device/device.hpp"

namespace xcuda::device::cpu {

class MemoryPool {
public:
    explicit MemoryPool(std::int64_t total);
    ~MemoryPool();
    MemoryPool(const MemoryPool&) = delete;
    MemoryPool& operator=(const MemoryPool&) = delete;

    /// 0 bytes give an address too. Throws MemoryError with what there is.
    void* allocate(std::size_t bytes);
    /// An address that is not the pool's is left alone.
    void release(void* address) noexcept;
    Device::Memory statistics() const;
    /// What waits for reuse goes back to the system.
    void trim() noexcept;
    /// Of the bytes in use; 0: none.
    void set_limit(std::int64_t bytes);

private:
    void* take(std::size_t bytes);
    void* from_system(std::size_t bytes);
    void to_system(void* address, std::size_t bytes) noexcept;
    void give_back() noexcept;

    mutable std::mutex mutex_;
    std::optional<GuardedMemory> guarded_;
    bool keeps_;                                      // blocks that went, for the next arrays
    std::map<std::size_t, std::vector<void*>> free_;  // by size class
    std::unordered_map<void*, std::size_t> live_;     // bytes of each block in use: its size class
    std::int64_t total_, used_ = 0, high_water_ = 0, pooled_ = 0, limit_;
};

}  // namespace xcuda::device::cpu
