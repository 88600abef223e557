// What a cubin says of its kernels, read from its ELF sections: no driver and no GPU are needed.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "device/device.hpp"

namespace xcuda::device::cuda {

/// Registers, local bytes (the stack frame: spills and local arrays) and static shared bytes of the kernel `entry`,
/// without the kilobyte of shared memory that the system keeps from sm_90 on. What the file does not tell is absent.
Attributes cubin_attributes(std::span<const std::byte> cubin, const std::string& entry);

}  // namespace xcuda::device::cuda
