// What a kernel's fault is told as: the Python exception, with line, array, index, shape, thread and block.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "device/device.hpp"
#include "ir/module.hpp"

namespace xcuda::launch {

/// The shapes of a launch's array arguments, one a parameter (empty for scalars), for the message.
using ArgumentShapes = std::vector<std::vector<std::int64_t>>;

/// `fault.site` is an index into `sites`. The Error's place is the faulting line. `launched`: the launch's shape, where the
/// threads' places in it are as the user numbers them.
XCUDA_API Error fault_error(const device::FaultRecord& fault, std::span<const ir::Site> sites,
                            const ArgumentShapes& shapes, const device::Shape* launched = nullptr);

}  // namespace xcuda::launch
