// Which launch of the log a device is at.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/export.hpp"

namespace xcuda::launch {

struct Running {
    std::string name;  // the kernel's
    double begin;      // when it was asked for, on base/clock
};
/// The oldest launch after `mark` that is not over, as far as device::look_at_launches has found out.
XCUDA_API std::optional<Running> oldest_running(std::uint64_t mark);

}  // namespace xcuda::launch
