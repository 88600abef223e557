#include "device/cuda/context.hpp"

namespace xcuda::device::cuda {

CUcontext primary_context(CUdevice device) {
    constexpr const char* doing = "making a context on the GPU";
    CUcontext context = nullptr;
    const CUresult result = driver().cuDevicePrimaryCtxRetain(&context, device);
    if (is_sticky(result)) {  // another library's kernel has lost it before we came
        lose(device, result, doing);
        throw lost_error(device);
    }
    check(result, doing);
    know(context, device);
    CUdevice first = -1;
    if (driver().cuDeviceGet(&first, 0) == CUDA_SUCCESS && device == first) Current::of_first_gpu = context;
    return context;
}

}  // namespace xcuda::device::cuda
