#include "device/cpu/guarded_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace xcuda::device::cpu {

namespace {

constexpr std::size_t page = 4096, kept = 4096;
constexpr unsigned char untouched = 0xa5, unset = 0xff;

std::size_t whole_pages(std::size_t bytes) {
    return (std::max<std::size_t>(bytes, 1) + page - 1) / page * page;
}

[[noreturn]] void written_outside(const void* address, std::size_t bytes, const char* side,
                                  std::size_t distance) {
    std::fprintf(stderr, "xcuda: byte %zu %s an array's %zu bytes at %p was written (XCUDA_POOL_GUARD)\n",
                 distance, side, bytes, address);
    std::abort();
}

}  // namespace

GuardedMemory::~GuardedMemory() {
    for (const Mapping& m : gone_) munmap(m.begin, m.bytes);
}

GuardedMemory::Mapping GuardedMemory::mapping_of(const void* address, std::size_t bytes) const {
    const std::size_t pages = whole_pages(bytes);
    char* at = static_cast<char*>(const_cast<void*>(address));
    return {side_ == Guard::end ? at + bytes - pages : at - page, pages + page};
}

void* GuardedMemory::take(std::size_t bytes) {
    const std::size_t pages = whole_pages(bytes);
    void* memory = mmap(nullptr, pages + page, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    char* const begin = static_cast<char*>(memory);
    char* const inside = side_ == Guard::end ? begin : begin + page;
    if (mprotect(side_ == Guard::end ? begin + pages : begin, page, PROT_NONE) != 0) {
        munmap(memory, pages + page);
        return nullptr;
    }
    char* const block = side_ == Guard::end ? inside + pages - bytes : inside;
    std::memset(block, unset, bytes);
    std::memset(side_ == Guard::end ? inside : block + bytes, untouched, pages - bytes);
    return block;
}

void GuardedMemory::release(void* address, std::size_t bytes) noexcept {
    const Mapping m = mapping_of(address, bytes);
    const auto* block = static_cast<const unsigned char*>(address);
    const std::size_t slack = m.bytes - page - bytes;
    const auto touched = [](unsigned char byte) { return byte != untouched; };
    if (side_ == Guard::end) {
        const auto* first = block - slack;
        for (const unsigned char* at = block; at != first; --at)
            if (touched(at[-1]))
                written_outside(address, bytes, "before", static_cast<std::size_t>(block - at + 1));
    } else if (const auto* at = std::find_if(block + bytes, block + bytes + slack, touched);
               at != block + bytes + slack) {
        written_outside(address, bytes, "after", static_cast<std::size_t>(at - block) - bytes + 1);
    }
    // Mapped anew: its pages go back to the system, its addresses do not.
    if (mmap(m.begin, m.bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) ==
        MAP_FAILED)
        return;
    try {
        gone_.push_back(m);
    } catch (...) {
        munmap(m.begin, m.bytes);
        return;
    }
    if (gone_.size() > kept) {
        munmap(gone_.front().begin, gone_.front().bytes);
        gone_.pop_front();
    }
}

}  // namespace xcuda::device::cpu
