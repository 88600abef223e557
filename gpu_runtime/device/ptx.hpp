// A program's PTX, for a GPU that need not be here.
#pragma once

#include <string>

#include "base/export.hpp"
#include "device/device.hpp"

namespace xcuda::device {

/// For "sm_90" and the like. Throws as compile_for does.
XCUDA_API std::string ptx_for(const std::string& architecture, const Source& source);

}  // namespace xcuda::device
