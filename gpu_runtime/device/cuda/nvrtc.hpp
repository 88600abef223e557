// NVRTC, NVIDIA's run-time compiler, opened when the first kernel is compiled.
#pragma once

#include <nvrtc.h>

#include <string>
#include <vector>

#include "device/cuda/locate.hpp"

namespace xcuda::device::cuda {

#define XCUDA_NVRTC_FUNCTIONS(X) \
    X(nvrtcVersion)              \
    X(nvrtcGetErrorString)       \
    X(nvrtcGetNumSupportedArchs) \
    X(nvrtcGetSupportedArchs)    \
    X(nvrtcCreateProgram)        \
    X(nvrtcDestroyProgram)       \
    X(nvrtcCompileProgram)       \
    X(nvrtcGetProgramLogSize)    \
    X(nvrtcGetProgramLog) X(nvrtcGetCUBINSize) X(nvrtcGetCUBIN) X(nvrtcGetPTXSize) X(nvrtcGetPTX)

struct Nvrtc {
#define XCUDA_DECLARE(name) decltype(&::name) name = nullptr;
    XCUDA_NVRTC_FUNCTIONS(XCUDA_DECLARE)
#undef XCUDA_DECLARE
    int version = 0;                 // 13000 for CUDA 13.0
    std::vector<int> architectures;  // 75, 80, ..., rising
    Candidate found;
};

/// Throws missing() with what was tried and how to get it. A failure is tried again at the next call.
const Nvrtc& nvrtc();
/// The file that nvrtc() will open; its soname alone where only the loader can tell. Opens nothing.
Candidate nvrtc_file();

}  // namespace xcuda::device::cuda
