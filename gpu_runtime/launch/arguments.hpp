// Packs a call's arguments into the struct that the emitted kernel reads.
#pragma once

#include <cstddef>
#include <span>

#include "device/device.hpp"
#include "emit/arguments.hpp"
#include "launch/signature.hpp"

namespace xcuda::launch {

/// Writes `layout.bytes` bytes at `to`. The arguments are those the layout was made for.
/// For a launch on `device`.
XCUDA_API void pack(const emit::ArgumentLayout& layout, std::span<const Argument> arguments,
                    device::Device& device, std::byte* to);

}  // namespace xcuda::launch
