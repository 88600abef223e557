#include "device/spilling.hpp"

#include "device/device.hpp"

namespace xcuda::device {

std::atomic<bool> spilling{false};

Spilling* spilling_of(Device& device) { return dynamic_cast<Spilling*>(&device); }

}  // namespace xcuda::device
