// Pinned memory for what kernels print: taken for a launch, and kept for the next one.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>

namespace xcuda::device::cuda {

/// An empty PrintBuffer with room for `words`, and where a GPU sees it. A context is current. Goes back when nobody
/// holds it.
std::shared_ptr<const std::uint64_t> take_print_buffer(std::int64_t words, CUdeviceptr* on_device);

}  // namespace xcuda::device::cuda
