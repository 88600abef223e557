// CUDA's driver API, opened at run time from libcuda.so.1: one table of its functions, one way to its errors.
#pragma once

#include <cuda.h>

#include <atomic>
#include <string>

#include "base/error.hpp"
#include "device/cuda/locate.hpp"

namespace xcuda::device::cuda {

// Name in cuda.h; a macro there leads to the version that the declaration has. Needed by every driver from 12.0 on.
// clang-format off
#define XCUDA_DRIVER_FUNCTIONS(X) \
    X(cuInit) X(cuDriverGetVersion) X(cuGetErrorName) X(cuGetErrorString) X(cuDeviceGetCount) \
    X(cuDeviceGet) X(cuDeviceGetName) X(cuDeviceGetAttribute) X(cuDeviceTotalMem) \
    X(cuDevicePrimaryCtxRetain) X(cuDevicePrimaryCtxRelease) X(cuDevicePrimaryCtxGetState) X(cuCtxGetCurrent) X(cuCtxSetCurrent) \
    X(cuCtxGetStreamPriorityRange) X(cuDeviceCanAccessPeer) X(cuMemPoolCreate) X(cuMemPoolDestroy) \
    X(cuMemPoolSetAttribute) X(cuMemPoolGetAttribute) X(cuMemPoolTrimTo) X(cuMemPoolSetAccess) \
    X(cuMemAllocFromPoolAsync) X(cuMemFreeAsync) X(cuMemGetInfo) X(cuMemHostAlloc) X(cuMemFreeHost) \
    X(cuMemHostGetDevicePointer) X(cuPointerGetAttributes) X(cuMemcpyAsync) X(cuMemcpyHtoDAsync) \
    X(cuMemcpyDtoHAsync) X(cuMemsetD8Async) X(cuStreamCreateWithPriority) X(cuStreamDestroy) \
    X(cuStreamSynchronize) X(cuStreamQuery) X(cuStreamWaitEvent) X(cuLaunchHostFunc) X(cuStreamAddCallback) X(cuEventCreate) \
    X(cuEventDestroy) X(cuEventRecord) X(cuEventQuery) X(cuEventSynchronize) X(cuEventElapsedTime) \
    X(cuModuleLoadData) X(cuModuleUnload) X(cuModuleGetFunction) X(cuFuncGetAttribute) \
    X(cuFuncSetAttribute) X(cuLaunchKernel) X(cuLinkCreate) X(cuLinkAddData) X(cuLinkComplete) \
    X(cuLinkDestroy) X(cuStreamGetCtx) X(cuCtxGetDevice) \
    X(cuStreamBeginCapture) X(cuStreamEndCapture) X(cuGraphInstantiate) X(cuGraphLaunch) \
    X(cuGraphDestroy) X(cuGraphExecDestroy) X(cuMemHostRegister) X(cuMemHostUnregister) \
    X(cuMemcpyPeerAsync) X(cuLaunchCooperativeKernel) X(cuMemAlloc) X(cuMemFree) \
    X(cuMemAddressReserve) X(cuMemAddressFree) X(cuMemCreate) X(cuMemRelease) X(cuMemMap) X(cuMemUnmap) \
    X(cuMemSetAccess) X(cuMemGetAllocationGranularity) X(cuCtxSynchronize) X(cuCtxGetLimit) X(cuCtxSetLimit) \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor) X(cuTensorMapEncodeTiled)
// clang-format on

struct Driver {
#define XCUDA_DECLARE(name) \
    decltype(&::name) name = nullptr;  // NOLINT(bugprone-macro-parentheses): a declaration
    XCUDA_DRIVER_FUNCTIONS(XCUDA_DECLARE)
#undef XCUDA_DECLARE
    CUresult (*cuCtxRecordEvent)(CUcontext, CUevent) = nullptr;  // from 12.5 on, else null
    int version = 0;                                             // 13000 for CUDA 13.0
    Candidate found;
};

/// driver(), from its first call on; each launch asks several times.
inline std::atomic<const Driver*> known_driver{nullptr};
const Driver& open_driver();
/// The opened and initialised driver. Throws missing() with the reason, the same one each time.
inline const Driver& driver() {
    const Driver* known = known_driver.load(std::memory_order_acquire);
    return known ? *known : open_driver();
}
/// Null where there is none; `why`, if given, then says why in a sentence.
const Driver* find_driver(std::string* why = nullptr);
/// "13.0" of 13000.
std::string version_text(int version);

/// A driver's error as ours: what we were doing, the driver's words, what to do. One that stays loses the GPU whose context
/// is current (lost.hpp).
Error driver_error(CUresult result, const char* doing);
/// True where the error stays: the GPU is lost for this process.
bool is_sticky(CUresult result);

inline void check(CUresult result, const char* doing) {
    if (result != CUDA_SUCCESS) [[unlikely]]
        throw driver_error(result, doing);
}

}  // namespace xcuda::device::cuda
