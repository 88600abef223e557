// Timing and faults, for bench/gpu_teaching.py.
#include "teaching.cuh"

namespace {
cudaEvent_t first = nullptr, last = nullptr;
}

extern "C" void time_begin(cudaStream_t stream) {
    if (!first) {
        cudaEventCreate(&first);
        cudaEventCreate(&last);
    }
    cudaEventRecord(first, stream);
}

/// Milliseconds of the stream's work since time_begin.
extern "C" float time_end(cudaStream_t stream) {
    float milliseconds = -1;
    cudaEventRecord(last, stream);
    cudaEventSynchronize(last);
    cudaEventElapsedTime(&milliseconds, first, last);
    return milliseconds;
}

/// The last launch's error as text, or null.
extern "C" const char* last_error() {
    const cudaError_t error = cudaGetLastError();
    return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}
