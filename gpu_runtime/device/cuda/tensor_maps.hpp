// Tensor maps: what the copy engine of sm_90 and later is told of an array.
#pragma once

#include "device/device.hpp"

namespace xcuda::device::cuda {

/// Made by the driver once for each array; the last ones of a thread are kept.
void encode_tensor_map(std::span<std::byte, 128> to, const BoxedArray& array);

}  // namespace xcuda::device::cuda
