#include "device/cuda/context.hpp"

namespace xcuda::device::cuda {

CUcontext primary_context(CUdevice device) {
    CUcontext context = nullptr;
    check(driver().cuDevicePrimaryCtxRetain(&context, device), "making a context on the GPU");
    return context;
}

}  // namespace xcuda::device::cuda
