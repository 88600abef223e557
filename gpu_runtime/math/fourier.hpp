// Fourier transforms on a GPU by cuFFT, with plans that are kept.
#pragma once

#include <cstddef>

#include "base/export.hpp"
#include "device/device.hpp"
#include "launch/signature.hpp"

namespace xcuda::math {

/// Transforms `rank` (1 to 3) neighbouring axes of `in`, from `first` on, into `out`, in `stream`'s order; nothing is
/// scaled. Both are C-contiguous and of one precision. Complex to complex: equal shapes. Real to complex: `out` has n/2 + 1
/// along the last transformed axis. Complex to real: `in` has it, of `out`'s n, and is overwritten.
XCUDA_API void fourier_transform(device::Device& device, device::Stream* stream, const launch::Argument& in,
                                 const launch::Argument& out, int first, int rank, bool inverse);

/// Plans kept now, and their bound: the one used longest ago goes first.
struct FourierPlans {
    std::size_t kept, bound;
};
XCUDA_API FourierPlans fourier_plans();
XCUDA_API void keep_fourier_plans(std::size_t bound);

}  // namespace xcuda::math
