// One GPU's primary context, shared with every other CUDA library of the process.
#pragma once

#include <cuda.h>

#include <atomic>
#include <utility>

#include "device/cuda/driver.hpp"
#include "device/cuda/lost.hpp"

namespace xcuda::device::cuda {

/// Makes a context current on this thread while it lives; costs a few reads where it already is. Where none was, the first
/// GPU's stays: it is the one that CUDA's own runtime begins with. Throws lost_error() where a fault has ended it; a driver's
/// error that stays, met while it lives, ends it.
class Current {
public:
    explicit Current(CUcontext context) : driver_(driver()), entered_(context) {
        if (any_lost.load(std::memory_order_relaxed)) [[unlikely]]
            expect_usable(context);
        check(driver_.cuCtxGetCurrent(&before_), "asking for the current context");
        changed_ = before_ != context;
        if (!changed_) [[likely]]
            return;
        check(driver_.cuCtxSetCurrent(context), "entering the GPU's context");
        changed_ = before_ || context != of_first_gpu.load(std::memory_order_relaxed);
    }
    ~Current() {
        if (changed_) [[unlikely]]
            driver_.cuCtxSetCurrent(before_);
    }
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

    static inline std::atomic<CUcontext> of_first_gpu{nullptr};  // once it is in use

    /// The context that this thread has made current so; null where it has none.
    static CUcontext here() { return here_; }

private:
    struct Entered {
        explicit Entered(CUcontext context) : outer(std::exchange(here_, context)) {}
        ~Entered() { here_ = outer; }
        CUcontext outer;
    };
    static inline constinit thread_local CUcontext here_ = nullptr;

    const Driver& driver_;
    const Entered entered_;
    CUcontext before_ = nullptr;
    bool changed_ = false;
};

/// Retained for the rest of the process: arrays and foreign libraries may outlive whoever asked.
CUcontext primary_context(CUdevice device);

}  // namespace xcuda::device::cuda
