// A count of bytes for people.
#pragma once

#include <cstdint>
#include <string>

#include "base/export.hpp"

namespace xcuda {

/// "1.5 GiB".
XCUDA_API std::string human_bytes(std::int64_t bytes);

}  // namespace xcuda
