// One launch from its shape to its result, on the calling thread and the pool.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "device/cpu/compiler.hpp"
#include "device/device.hpp"

namespace xcuda::device::cpu {

/// The argument struct, 64-byte aligned, in place where it is small.
class PackedArguments {
public:
    explicit PackedArguments(std::span<const std::byte> bytes);
    const void* data() const;

private:
    static constexpr std::size_t small = 512;
    alignas(64) std::byte here_[small];
    std::shared_ptr<std::byte> elsewhere_;
};

/// Runs the kernel, fills `launch` and sets it done. Work asked for before the last interrupt (`asked` is
/// interrupts() at that time) is not begun. Throws only where the machine lacks something; the launch is done
/// then too.
void run_launch(const Kernel& kernel, const Shape& shape, const void* arguments, std::uint64_t asked,
                Device::Launch& launch);

}  // namespace xcuda::device::cpu
