// Elements of a launch's arguments as its threads have read them, for the message of its fault.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "launch/program.hpp"

namespace xcuda::launch {

/// Of argument `parameter`; nothing where the kernel may have changed it, or where it is no real number.
using ElementReader =
    std::function<std::optional<double>(std::size_t parameter, std::span<const std::int64_t> index)>;

/// For a launch that is over, as long as nobody else has touched its arrays since. What is given must outlive the reader.
XCUDA_API ElementReader reader_of(const Lowered& lowered, std::span<const Argument> arguments,
                                  device::Device& device, device::Stream* stream);

}  // namespace xcuda::launch
