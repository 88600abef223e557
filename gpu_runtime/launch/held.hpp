// How many bytes arrays hold on each device, and the most they held since someone began to look.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/export.hpp"
#include "device/device.hpp"

namespace xcuda::launch {

struct Held {
    std::string device;         // "cpu", "cuda:0"
    std::int64_t now = 0;       // bytes that arrays asked for and have not given back
    std::int64_t at_begin = 0;  // when the peaks began anew
    std::int64_t peak = 0;      // the most since then
};

/// An array's memory was allocated (bytes > 0) or given back (bytes < 0). Thread-safe.
XCUDA_API void note_held(const device::Device& device, std::int64_t bytes);
/// Of each device that ever held an array, in the order in which they first did.
XCUDA_API std::vector<Held> held();
/// Peaks count from what is held now: a cell begins.
XCUDA_API void restart_peaks();

}  // namespace xcuda::launch
