#include "device/cpu/kernel_stack.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

#include "base/error.hpp"

namespace xcuda::device::cpu {

namespace {
constexpr std::size_t page = 4096;
}

KernelStacks::~KernelStacks() { unmap(); }

void KernelStacks::unmap() noexcept {
    if (memory_) munmap(memory_, count_ * stride_);
    memory_ = nullptr;
    count_ = bytes_ = stride_ = 0;
}

char* KernelStacks::fresh_top(std::size_t index) const {
    char* top = memory_ + (index + 1) * stride_;
#ifdef __SANITIZE_ADDRESS__
    ASAN_UNPOISON_MEMORY_REGION(top - bytes_, bytes_);  // frames that were given up left their red zones
#endif
    return top;
}

void KernelStacks::reserve(std::size_t count, std::size_t bytes) {
    if (count <= count_ && bytes <= bytes_) return;
    count = std::max(count, count_);
    bytes = (std::max(bytes, bytes_) + page - 1) / page * page;
    unmap();
    const std::size_t stride = bytes + page;
    void* memory = mmap(nullptr, count * stride, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED)
        throw Error(
            Fault::machine, "MemoryError",
            fmt::format("the CPU device can't have {} MiB of stack for this kernel's local arrays and values "
                        "kept across barriers: use fewer threads a block or smaller local arrays",
                        count * stride >> 20));
    memory_ = static_cast<char*>(memory);
    count_ = count;
    bytes_ = bytes;
    stride_ = stride;
    for (std::size_t index = 0; index < count; ++index) mprotect(memory_ + index * stride, page, PROT_NONE);
}

}  // namespace xcuda::device::cpu
