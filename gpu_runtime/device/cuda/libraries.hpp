// NVIDIA's libraries as %cuda_info lists them.
#pragma once

#include <vector>

#include "device/device.hpp"

namespace xcuda::device::cuda {

std::vector<Library> libraries();

}  // namespace xcuda::device::cuda
