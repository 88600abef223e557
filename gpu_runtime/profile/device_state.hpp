// What the report needs to know of a device beside its events.
#pragma once

#include <optional>
#include <string>

#include "device/device.hpp"
#include "profile/roofline.hpp"

namespace xcuda::profile {

struct DeviceState {
    std::string label;  // "cpu", "cuda:0": as events name it
    device::Info info;
    std::optional<device::Device::Memory> memory;
    std::optional<Ceilings> ceilings;
    std::string no_ceilings;  // why there are none
};

}  // namespace xcuda::profile
