// The shape of a launch: chosen from a domain, or the user's checked against the device's limits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "device/device.hpp"

namespace xcuda::launch {

/// Grid and block that cover `domain` (one length an axis, axis 0 is x; 1 to 3 of them). A length of 0 gives a
/// grid of 0 blocks. `block`: instead of the usual one. Throws a ValueError where it takes more blocks than the
/// device has.
XCUDA_API device::Shape automatic_shape(std::span<const std::int64_t> domain, const device::Info& device,
                                        const std::string& kernel,
                                        const std::optional<device::Dim3>& block = {});

/// Throws a ValueError naming the kernel, the dimension, what was given and what is the most.
XCUDA_API void check_shape(const device::Shape& shape, std::int64_t static_shared_bytes,
                           const device::Info& device, const std::string& kernel);

}  // namespace xcuda::launch
