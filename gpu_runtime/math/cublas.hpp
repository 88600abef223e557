// cuBLAS' functions and one handle a GPU.
#pragma once

#include <cstdint>
#include <mutex>

#include "device/device.hpp"
#include "math/cuda_library.hpp"

namespace xcuda::math {

enum class Op : int { none = 0, transpose = 1, conjugate = 2 };  // cublasOperation_t
enum class Fill : int { lower = 0, upper = 1 };                  // cublasFillMode_t
enum class Side : int { left = 0, right = 1 };                   // cublasSideMode_t
enum class Compute : int { f32 = 68, tf32 = 77, f64 = 70 };      // cublasComputeType_t

using BlasHandle = struct BlasContext*;

struct Cublas {
    Cublas();
    CudaLibrary library;
    int (*create)(BlasHandle*);
    int (*set_stream)(BlasHandle, void* stream);
    const char* (*status)(int);
    int (*gemm)(BlasHandle, Op, Op, std::int64_t m, std::int64_t n, std::int64_t k, const void* alpha,
                const void* a, int a_type, std::int64_t lda, long long stride_a, const void* b, int b_type,
                std::int64_t ldb, long long stride_b, const void* beta, void* c, int c_type, std::int64_t ldc,
                long long stride_c, std::int64_t batch, Compute, int algorithm);

    // Of the four dtypes in the order float32, float64, complex64, complex128.
    using Rank = int (*)(BlasHandle, Fill, Op, std::int64_t n, std::int64_t k, const void* alpha,
                         const void* a, std::int64_t lda, const void* beta, void* c, std::int64_t ldc);
    using Trsm = int (*)(BlasHandle, Side, Fill, Op, int unit, std::int64_t m, std::int64_t n,
                         const void* alpha, const void* a, std::int64_t lda, void* b, std::int64_t ldb);
    Rank rank[4];
    Trsm trsm[4];
};

/// Throws missing() where there is none; tried again at the next call.
const Cublas& cublas();

/// The handle of a GPU, set to a stream for as long as this lives; others wait.
class BlasUse {
public:
    BlasUse(device::Device& device, device::Stream* stream);
    BlasHandle handle() const { return handle_; }
    /// Throws what a status says.
    void check(int status, const char* doing) const;

private:
    device::InContext current_;
    std::unique_lock<std::mutex> one_at_a_time_;
    BlasHandle handle_;
};

}  // namespace xcuda::math
