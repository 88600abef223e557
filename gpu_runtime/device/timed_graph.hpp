// Graphs of a device that can time each of their launches; a GPU times the whole.
#pragma once

#include <memory>
#include <vector>

#include "device/device.hpp"

namespace xcuda::device {

class XCUDA_API TimedGraph : public Graph {
public:
    /// As Device::replay has it. `each`: a record for each of its launches, in order, set done as that launch ends.
    virtual std::shared_ptr<Device::Launch> replay(Stream* stream,
                                                   std::vector<std::shared_ptr<Device::Launch>> each) = 0;
};

}  // namespace xcuda::device
