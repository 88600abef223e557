// Stacks that kernels run on: mapped lazily, with a page below that faults.
#pragma once

#include <cstddef>

namespace xcuda::device::cpu {

/// `count` stacks of `bytes` each in one mapping. Only the pages that are touched cost memory.
class KernelStacks {
public:
    KernelStacks() = default;
    ~KernelStacks();
    KernelStacks(const KernelStacks&) = delete;
    KernelStacks& operator=(const KernelStacks&) = delete;

    /// Makes room; contents are lost when it has to grow. Throws MemoryError.
    void reserve(std::size_t count, std::size_t bytes);
    /// The highest address of a stack, 64-byte aligned. Frames that were left on it are forgotten.
    char* fresh_top(std::size_t index) const;
    std::size_t bytes() const { return bytes_; }

private:
    void unmap() noexcept;

    char* memory_ = nullptr;
    std::size_t count_ = 0, bytes_ = 0, stride_ = 0;
};

}  // namespace xcuda::device::cpu
