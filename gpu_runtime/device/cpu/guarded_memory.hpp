// Arrays' memory for finding faults (XCUDA_POOL_GUARD): each block lies against a page that faults when it is touched, so an
// access beyond it ends the process in the instruction that made it, in compiled kernels too.
#pragma once

#include <cstddef>
#include <deque>

#include "base/export.hpp"
#include "base/settings.hpp"

namespace xcuda::device::cpu {

/// Not for several threads at once. Blocks are aligned as their size allows, to 64 bytes at most, and filled with 0xff:
/// NaN in floats. What lies on the block's other side in its pages is looked at when it goes: a write there aborts.
class XCUDA_API GuardedMemory {
public:
    explicit GuardedMemory(Guard side) : side_(side) {}
    ~GuardedMemory();
    GuardedMemory(const GuardedMemory&) = delete;
    GuardedMemory& operator=(const GuardedMemory&) = delete;

    /// Null where the system has no more, or no more mappings for this process.
    void* take(std::size_t bytes);
    /// Faults from now on when it is touched, until 4,096 more have gone.
    void release(void* address, std::size_t bytes) noexcept;

private:
    struct Mapping {
        char* begin = nullptr;
        std::size_t bytes = 0;
    };
    Mapping mapping_of(const void* address, std::size_t bytes) const;

    Guard side_;
    std::deque<Mapping> gone_;
};

}  // namespace xcuda::device::cpu
