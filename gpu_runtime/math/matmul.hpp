// Products of matrices on a GPU by cuBLAS.
#pragma once

#include "base/export.hpp"
#include "device/device.hpp"
#include "launch/signature.hpp"

namespace xcuda::math {

struct Product {
    double alpha = 1, beta = 0;  // out = alpha a @ b + beta out
    bool tf32 = false;           // float32 products may round their factors to TF32
    bool conjugate_a = false, conjugate_b = false;
};

/// out[..., m, n] = alpha a[..., m, k] @ b[..., k, n] + beta out, in `stream`'s order. All have the same number of axes and
/// the leading lengths of `out`; a stride of 0 repeats a matrix. Of `a`, `b` and `out` one of the last two axes has stride
/// 1 and the other a positive one at least as long as the axis; `readable_by_blas` says so. float16 and bfloat16 are
/// summed in float32; `out` has a's dtype, or float32 for these. Throws a TypeError or ValueError for what cuBLAS lacks.
XCUDA_API void matmul(device::Device& device, device::Stream* stream, const launch::Argument& a,
                      const launch::Argument& b, const launch::Argument& out, const Product& how);

/// The last two axes can be given to BLAS as they lie.
XCUDA_API bool readable_by_blas(const launch::Argument& matrix);

/// out[n, n] = a[n, k] @ a.T (a.conj().T where complex), half the work of matmul: both triangles are filled by the caller,
/// who gets the lower one of row-major `out`.
XCUDA_API void self_product(device::Device& device, device::Stream* stream, const launch::Argument& a,
                            const launch::Argument& out, double alpha, double beta);

/// Solves op(t) x = b in place of `b` for triangular `t`: all column-major (stride 1 along rows), as LAPACK has them.
struct Triangle {
    bool lower = true, unit_diagonal = false, transposed = false, conjugated = false;
};
XCUDA_API void solve_triangular(device::Device& device, device::Stream* stream, const launch::Argument& t,
                                const launch::Argument& b, const Triangle& how);

}  // namespace xcuda::math
