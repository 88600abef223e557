// A compiled kernel as bytes of a file, and back, with a check that they are whole.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "device/device.hpp"

namespace xcuda::launch {

XCUDA_API std::string to_file(const device::Image& image);
/// Nothing if the bytes are cut, damaged or of another version.
XCUDA_API std::optional<device::Image> from_file(std::string_view bytes);

}  // namespace xcuda::launch
