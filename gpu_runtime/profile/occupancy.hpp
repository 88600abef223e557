// How many of a multiprocessor's threads a kernel can keep resident, and what stops it from keeping more.
#pragma once

#include <optional>
#include <string_view>

#include "device/device.hpp"

namespace xcuda::profile {

struct Occupancy {
    std::int64_t blocks = 0;  // resident at once on one multiprocessor
    double share = 0;         // resident warps of the possible ones, 0 to 1
    std::string_view limit;  // "threads", "blocks", "registers" or "shared memory": the first that is used up
};

/// For a CUDA device, or a table of one's properties; nothing where occupancy has no meaning (the CPU device).
/// Registers are handed out to a warp in units of 256, shared memory to a block in units of 128 bytes, with 1 KiB
/// more a block from sm_80 on. Unknown registers count as none.
XCUDA_API std::optional<Occupancy> occupancy(const device::Info& device, const device::Attributes& kernel,
                                             const device::Shape& shape);

}  // namespace xcuda::profile
