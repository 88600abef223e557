// cuSOLVER's functions and one handle a GPU.
#pragma once

#include <cstdint>
#include <mutex>

#include "device/device.hpp"
#include "math/cuda_library.hpp"

namespace xcuda::math {

using SolverHandle = struct SolverContext*;
using SolverParams = struct SolverParameters*;

/// One of cuSOLVER's 64-bit functions and the one that tells its scratch memory, on the device and on the host.
template <typename... Arguments>
struct Sized {
    int (*run)(SolverHandle, SolverParams, Arguments..., void* work, std::size_t bytes, void* host_work,
               std::size_t host_bytes, int* info);
    int (*size)(SolverHandle, SolverParams, Arguments..., std::size_t* bytes, std::size_t* host_bytes);
};

using Count = std::int64_t;

struct Cusolver {
    Cusolver();
    CudaLibrary library;
    int (*create)(SolverHandle*);
    int (*create_params)(SolverParams*);
    int (*set_stream)(SolverHandle, void*);

    // The matrix' numbers: dtype, address, distance of columns.
    int (*getrf_size)(SolverHandle, SolverParams, Count, Count, int, const void*, Count, int, std::size_t*,
                      std::size_t*);
    int (*getrf)(SolverHandle, SolverParams, Count, Count, int, void*, Count, Count* pivots, int, void*,
                 std::size_t, void*, std::size_t, int*);
    int (*getrs)(SolverHandle, SolverParams, int op, Count n, Count columns, int, const void*, Count,
                 const Count* pivots, int, void*, Count, int*);
    Sized<int /*fill*/, Count, int, void*, Count, int> potrf;
    int (*potrs)(SolverHandle, SolverParams, int fill, Count n, Count columns, int, const void*, Count, int,
                 void*, Count, int*);
    Sized<Count, Count, int, void*, Count, int, void*, int> geqrf;
    Sized<int /*vectors*/, int /*fill*/, Count, int, void*, Count, int, void*, int> syevd;
    Sized<signed char, signed char, Count, Count, int, void*, Count, int, void*, int, void*, Count, int,
          void*, Count, int>
        gesvd;
    Sized<int, int, Count, int, void*, Count, int, void*, int, void*, Count, int, void*, Count, int>
        geev;  // null before CUDA 12.6

    // Of float32, float64, complex64, complex128: Q's columns, and Q applied.
    using FormSize = int (*)(SolverHandle, int m, int n, int k, const void* a, int lda, const void* tau,
                             int* elements);
    using Form = int (*)(SolverHandle, int m, int n, int k, void* a, int lda, const void* tau, void* work,
                         int elements, int* info);
    using ApplySize = int (*)(SolverHandle, int side, int op, int m, int n, int k, const void* a, int lda,
                              const void* tau, const void* c, int ldc, int* elements);
    using Apply = int (*)(SolverHandle, int side, int op, int m, int n, int k, const void* a, int lda,
                          const void* tau, void* c, int ldc, void* work, int elements, int* info);
    FormSize form_size[4];
    Form form[4];
    ApplySize apply_size[4];
    Apply apply[4];
};

/// Throws missing() where there is none; tried again at the next call.
const Cusolver& cusolver();

/// The handle of a GPU, set to a stream for as long as this lives; others wait.
class SolverUse {
public:
    SolverUse(device::Device& device, device::Stream* stream);
    SolverHandle handle() const { return handle_; }
    SolverParams params() const { return params_; }

private:
    device::InContext current_;
    std::unique_lock<std::mutex> one_at_a_time_;
    SolverHandle handle_;
    SolverParams params_;
};

/// Throws what a status says.
void check_solver(int status, const char* doing);

}  // namespace xcuda::math
