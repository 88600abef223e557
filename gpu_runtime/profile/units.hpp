// Numbers as people read them: three digits and the prefix that fits.
#pragma once

#include <string>
#include <string_view>

#include "base/export.hpp"

namespace xcuda::profile {

/// in_unit(0.00123, "s") == "1.23 ms"; bytes in powers of 1024: in_unit(3 << 20, "B") == "3 MiB"; a "share" in percent.
XCUDA_API std::string in_unit(double value, std::string_view unit);

}  // namespace xcuda::profile
