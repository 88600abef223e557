#include "device/cpu/memory_pool.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/settings.hpp"
#include "device/cpu/host.hpp"

namespace xcuda::device::cpu {

namespace {

constexpr std::size_t page_bytes = 4096, huge_bytes = 2 << 20;
constexpr std::size_t mapped_from = 256 * 1024;  // from here on straight from the system
constexpr std::size_t asked_from = 64
                                   << 20;  // from here on the system is asked first whether it has that much

/// Eight classes to each power of two: at most an eighth is wasted, and arrays of nearly one size share
/// blocks.
std::size_t size_class(std::size_t bytes) {
    const std::size_t least = std::max<std::size_t>(bytes, 64);
    const std::size_t step =
        std::max<std::size_t>(std::bit_floor(least) / 8, least >= mapped_from ? page_bytes : 64);
    return (least + step - 1) / step * step;
}

#ifdef __SANITIZE_ADDRESS__
constexpr bool sanitised = true;
#else
constexpr bool sanitised = false;
#endif

}  // namespace

MemoryPool::MemoryPool(std::int64_t total) : total_(total), limit_(settings().memory_limit) {
    if (settings().pool_guard != Guard::none) guarded_.emplace(settings().pool_guard);
    keeps_ = !guarded_ && !sanitised;
}

MemoryPool::~MemoryPool() { give_back(); }

void MemoryPool::trim() noexcept {
    const std::lock_guard lock(mutex_);
    give_back();
}

void MemoryPool::set_limit(std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    limit_ = bytes;
}

void* MemoryPool::from_system(std::size_t bytes) {
    if (guarded_) return guarded_->take(bytes);
    // With AddressSanitizer all of it: its red zones lie around each block.
    if (sanitised || bytes < mapped_from) {
        void* address = nullptr;
        return posix_memalign(&address, 64, bytes) == 0 ? address : nullptr;
    }
    void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (address == MAP_FAILED) return nullptr;
    if (bytes >= 2 * huge_bytes)
        madvise(address, bytes, MADV_HUGEPAGE);  // first touch: 1/512 of the page faults
    return address;
}

void MemoryPool::to_system(void* address, std::size_t bytes) noexcept {
    if (guarded_)
        guarded_->release(address, bytes);
    else if (sanitised || bytes < mapped_from)
        std::free(address);
    else
        munmap(address, bytes);
}

void MemoryPool::give_back() noexcept {
    for (auto& [bytes, blocks] : free_)
        for (void* block : blocks) to_system(block, bytes);
    free_.clear();
    pooled_ = 0;
}

void* MemoryPool::take(std::size_t bytes) {
    const auto found = free_.find(bytes);
    if (found != free_.end() && !found->second.empty()) {
        void* address = found->second.back();
        found->second.pop_back();
        pooled_ -= static_cast<std::int64_t>(bytes);
        return address;
    }
    if (bytes >= asked_from && static_cast<std::int64_t>(bytes) > memory_available()) give_back();
    if (bytes >= asked_from && static_cast<std::int64_t>(bytes) > memory_available()) return nullptr;
    void* address = from_system(bytes);
    if (!address && pooled_ > 0) {
        give_back();
        address = from_system(bytes);
    }
    return address;
}

void* MemoryPool::allocate(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const bool possible = bytes <= static_cast<std::size_t>(total_);
    const std::size_t rounded = !possible ? 0 : keeps_ ? size_class(bytes) : bytes;
    if (limit_ > 0 && (!possible || used_ + static_cast<std::int64_t>(rounded) > limit_))
        throw Error(
            Fault::machine, "MemoryError",
            fmt::format("the CPU device may not hold {} more: arrays on it use {}, and the limit that was "
                        "set is {}",
                        human_bytes(static_cast<std::int64_t>(bytes)), human_bytes(used_),
                        human_bytes(limit_)));
    void* address = possible ? take(rounded) : nullptr;
    if (!address) {
        const std::int64_t available = std::min(memory_available() + pooled_, total_ - used_);
        throw Error(
            Fault::machine, "MemoryError",
            fmt::format("the CPU device can't hold {} more: arrays on it use {} of the machine's {}, and {} "
                        "can be had now",
                        human_bytes(static_cast<std::int64_t>(bytes)), human_bytes(used_),
                        human_bytes(total_), human_bytes(std::max<std::int64_t>(available, 0))));
    }
    try {
        live_.emplace(address, rounded);
    } catch (...) {
        to_system(address, rounded);
        throw;
    }
    used_ += static_cast<std::int64_t>(rounded);
    high_water_ = std::max(high_water_, used_);
    return address;
}

void MemoryPool::release(void* address) noexcept {
    if (!address) return;
    const std::lock_guard lock(mutex_);
    const auto found = live_.find(address);
    if (found == live_.end()) return;
    const std::size_t bytes = found->second;
    live_.erase(found);
    used_ -= static_cast<std::int64_t>(bytes);
    try {
        // What waits for reuse stays under a quarter of the machine, as other processes want memory too.
        if (keeps_ && pooled_ + static_cast<std::int64_t>(bytes) <= total_ / 4) {
            free_[bytes].push_back(address);
            pooled_ += static_cast<std::int64_t>(bytes);
            return;
        }
    } catch (...) {
        // No memory for the list: the block goes back to the system.
    }
    to_system(address, bytes);
}

Device::Memory MemoryPool::statistics() const {
    const std::lock_guard lock(mutex_);
    const std::int64_t available = std::min(memory_available() + pooled_, total_ - used_);
    return {used_, high_water_, pooled_, total_, std::max<std::int64_t>(available, 0), limit_};
}

}  // namespace xcuda::device::cpu
