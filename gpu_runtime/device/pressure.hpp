// What a device that is out of memory asks for before it refuses.
#pragma once

#include <functional>

#include "base/export.hpp"

namespace xcuda::device {

/// `relief` lets go of arrays that nobody needs any more. It is called with no lock of ours held, on the thread that
/// wants memory, and may call devices.
XCUDA_API void set_relief(std::function<void()> relief);
/// Calls it, where there is one.
XCUDA_API void relieve();

}  // namespace xcuda::device
