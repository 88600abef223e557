// What a GPU is: read from the driver, or from a table for an architecture that is only compiled for.
#pragma once

#include <cuda.h>

#include <optional>
#include <string>

#include "device/device.hpp"

namespace xcuda::device::cuda {

Info describe(CUdevice device, int ordinal);

/// Limits of "sm_90" and the like as its data-centre part has them (multiprocessors, memory and clock are unknown:
/// 0). Nothing for an architecture that is not in the table.
std::optional<Info> describe_architecture(const std::string& architecture);

}  // namespace xcuda::device::cuda
