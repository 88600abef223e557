// The 8-bit floating formats, value by value, as ml_dtypes has them: what the device's C++ (emit/prelude_float8) computes,
// for the host.
#pragma once

#include <cstdint>

#include "base/dtype.hpp"

namespace xcuda {

XCUDA_API double float8_value(std::uint8_t bits, DType);
/// The nearest value of the format, ties to even; where none is near enough, its infinity or nan.
XCUDA_API std::uint8_t float8_bits(double value, DType);

}  // namespace xcuda
