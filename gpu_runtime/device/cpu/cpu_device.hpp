// The CPU device: device.hpp's interface over the pieces of this folder.
#pragma once

#include <memory>

#include "device/device.hpp"

namespace xcuda::device::cpu {

std::shared_ptr<Device> make_device();

}  // namespace xcuda::device::cpu
