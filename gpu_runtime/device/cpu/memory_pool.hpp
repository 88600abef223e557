// Arrays' memory on the CPU device: blocks aligned to 64 bytes, kept for the next array when one goes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

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
    void give_back() noexcept;

    mutable std::mutex mutex_;
    std::map<std::size_t, std::vector<void*>> free_;  // by size class
    std::unordered_map<void*, std::size_t> live_;     // size class of each block in use
    std::int64_t total_, used_ = 0, high_water_ = 0, pooled_ = 0, limit_;
};

}  // namespace xcuda::device::cpu
