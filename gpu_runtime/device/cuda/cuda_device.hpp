// The CUDA device: device.hpp's interface over the pieces of this folder.
#pragma once

#include <memory>
#include <vector>

#include "device/device.hpp"

namespace xcuda::device::cuda {

/// One a GPU; none where there is no driver or no GPU. Makes no context: the first use of a device does.
std::vector<std::shared_ptr<Device>> make_devices();

}  // namespace xcuda::device::cuda
