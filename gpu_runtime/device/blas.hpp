// Whether the CPU device can have large products made by a BLAS.
#pragma once

#include "base/export.hpp"

namespace xcuda::device {

/// An OpenBLAS is in this process, as NumPy brings it, and works with no more threads than the CPU device has workers.
XCUDA_API bool cpu_has_blas();

}  // namespace xcuda::device
