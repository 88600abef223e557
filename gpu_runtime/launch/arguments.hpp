// Packs a call's arguments into the struct that the emitted kernel reads.
#pragma once

#include <cstddef>
#include <span>

#include "emit/arguments.hpp"
#include "launch/signature.hpp"

namespace xcuda::launch {

/// Writes `layout.bytes` bytes at `to`. The arguments are those the layout was made for.
XCUDA_API void pack(const emit::ArgumentLayout& layout, std::span<const Argument> arguments, std::byte* to);

}  // namespace xcuda::launch
