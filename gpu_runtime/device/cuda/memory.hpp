// A GPU's stream-ordered memory pool.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <string>

#include "device/cuda/kept_blocks.hpp"
#include "device/cuda/spill.hpp"
#include "device/device.hpp"

namespace xcuda::device::cuda {

class MemoryPool {
public:
    /// The context of `device`, which has so many bytes, is current.
    MemoryPool(CUdevice device, std::string gpu_name, std::int64_t gpu_bytes);

    /// In the stream's order; 0 bytes give an address too. Throws a MemoryError that tells the sizes.
    void* allocate(std::size_t bytes, CUstream stream);
    void release(void* address, CUstream stream) noexcept;
    /// Of the default stream, without the driver and without its context; null or false where that can't be.
    void* take_kept(std::size_t bytes);
    bool keep(void* address) noexcept;
    Device::Memory statistics() const;
    /// Gives back what is kept for reuse, the driver's room for local arrays too, once the work under way has passed. May
    /// be interrupted.
    void trim();
    void set_limit(std::int64_t bytes) { limit_ = bytes; }
    Spill& spill() { return spill_; }
    const Spill& spill() const { return spill_; }
    /// Bytes that arrays may take on the GPU beside those that are there.
    std::int64_t room() const;

private:
    CUmemoryPool pool_ = nullptr;
    std::size_t stack_ = 0;  // bytes of a thread's stack when it was made
    std::int64_t used() const;
    std::string moved() const;
    /// Kept blocks go to the driver; false where there are none.
    bool empty_kept() noexcept;

    std::string gpu_name_;
    KeptBlocks blocks_;
    mutable Spill spill_;  // the larger arrays, where they may move to host memory
    std::atomic<std::int64_t> limit_{0};
};

}  // namespace xcuda::device::cuda
