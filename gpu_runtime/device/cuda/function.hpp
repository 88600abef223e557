// A cubin loaded on one GPU, and what its launches must respect.
#pragma once

#include <cuda.h>

#include <atomic>
#include <mutex>

#include "device/device.hpp"

namespace xcuda::device::cuda {

class CudaFunction final : public Function {
public:
    /// The context is current.
    CudaFunction(const Image& image, CUcontext context);
    ~CudaFunction() override;

    CUfunction handle() const { return function_; }
    CUcontext context() const { return context_; }
    /// Throws a ValueError for a block that the kernel's registers or shared memory don't allow; opts in to more
    /// than 48 KiB of shared memory.
    void prepare(const Shape& shape, const Limits& limits) {
        if (shape.block.count() > max_threads_ || shape.dynamic_shared_bytes > allowed_dynamic_.load())
            [[unlikely]]
            prepare_rare(shape, limits);
    }

    /// Throws a ValueError where not all blocks of the launch can be resident on the current GPU at once.
    void require_resident(const Shape& shape, int multiprocessors) const;

private:
    void prepare_rare(const Shape& shape, const Limits& limits);

    CUcontext context_;
    CUmodule module_ = nullptr;
    CUfunction function_ = nullptr;
    std::string entry_;
    std::int64_t max_threads_ = 0, static_shared_ = 0;
    int registers_ = 0;
    std::atomic<std::int64_t> allowed_dynamic_{0};
    std::mutex mutex_;  // while more is allowed
};

}  // namespace xcuda::device::cuda
