// A scalar argument as one of another dtype.
#pragma once

#include "base/export.hpp"
#include "launch/signature.hpp"

namespace xcuda::launch {

/// As the kernel language converts a Python number, strong from then on; to integers, bools, float32, float64 and complex
/// types. False, and nothing done, where an integer has no place in the bits of the other.
XCUDA_API bool convert_scalar(Argument& scalar, DType to);

}  // namespace xcuda::launch
