// A GPU's stream-ordered memory pool.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <string>

#include "device/device.hpp"

namespace xcuda::device::cuda {

class MemoryPool {
public:
    /// The context of `device` is current.
    MemoryPool(CUdevice device, std::string gpu_name);

    /// In the stream's order; 0 bytes give an address too. Throws a MemoryError that tells the sizes.
    void* allocate(std::size_t bytes, CUstream stream);
    void release(void* address, CUstream stream) noexcept;
    Device::Memory statistics() const;

private:
    CUmemoryPool pool_ = nullptr;
    std::string gpu_name_;
};

/// "1.5 GiB".
std::string human_bytes(std::int64_t bytes);

}  // namespace xcuda::device::cuda
