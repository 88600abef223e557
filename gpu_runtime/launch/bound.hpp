// A launch with everything worked out, to be started many times.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "launch/launch.hpp"

namespace xcuda::launch {

struct Bound {
    std::shared_ptr<const Specialisation> kernel;
    device::Shape shape;
    std::vector<std::byte> packed;       // as the kernel reads its arguments
    std::shared_ptr<const Event> event;  // what the log gets, but for the time
    device::Shape launched;              // with memory that the text has moved
};

/// As `start` takes them; the arguments' memory must stay where it is.
XCUDA_API Bound bind(const std::shared_ptr<const Specialisation>& kernel, const device::Shape& shape,
                     bool automatic_shape, std::span<const Argument> arguments);
XCUDA_API Started start(const Bound& bound, device::Stream* stream);

}  // namespace xcuda::launch
