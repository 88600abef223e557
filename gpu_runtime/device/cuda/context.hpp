// One GPU's primary context, shared with every other CUDA library of the process.
#pragma once

#include <cuda.h>

#include "device/cuda/driver.hpp"

namespace xcuda::device::cuda {

/// Makes a context current on this thread while it lives; costs two reads where it already is.
class Current {
public:
    explicit Current(CUcontext context) : driver_(driver()) {
        check(driver_.cuCtxGetCurrent(&before_), "asking for the current context");
        changed_ = before_ != context;
        if (changed_) [[unlikely]]
            check(driver_.cuCtxSetCurrent(context), "entering the GPU's context");
    }
    ~Current() {
        if (changed_) [[unlikely]]
            driver_.cuCtxSetCurrent(before_);
    }
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

private:
    const Driver& driver_;
    CUcontext before_ = nullptr;
    bool changed_ = false;
};

/// Retained for the rest of the process: arrays and foreign libraries may outlive whoever asked.
CUcontext primary_context(CUdevice device);

}  // namespace xcuda::device::cuda
