// Factorisations, solutions and eigenvalues on a GPU by cuSOLVER, with LAPACK's conventions: matrices are column-major
// (stride 1 along rows, the other stride at least the number of rows), results overwrite what the names say, and `info` is
// one int32 in device memory: 0 where all went well, i > 0 as LAPACK numbers what failed.
#pragma once

#include <optional>

#include "base/export.hpp"
#include "device/device.hpp"
#include "launch/signature.hpp"

namespace xcuda::math {

using launch::Argument;

/// Where a call works: everything is in `stream`'s order, nothing is waited for.
struct Where {
    device::Device& device;
    device::Stream* stream;
};

/// a = P L U in place; pivots: min(m, n) int64, from 1.
XCUDA_API void lu_factor(const Where&, const Argument& a, const Argument& pivots, const Argument& info);
/// b becomes the solution of op(a) x = b, from lu_factor's results.
XCUDA_API void lu_solve(const Where&, const Argument& a, const Argument& pivots, const Argument& b,
                        bool transposed, const Argument& info);

/// a = L L^H (lower) or U^H U; the other triangle stays.
XCUDA_API void cholesky_factor(const Where&, const Argument& a, bool lower, const Argument& info);
XCUDA_API void cholesky_solve(const Where&, const Argument& a, bool lower, const Argument& b,
                              const Argument& info);

/// a = Q R in place: R above the diagonal, Q's reflectors below, their factors in tau (min(m, n)).
XCUDA_API void qr_factor(const Where&, const Argument& a, const Argument& tau, const Argument& info);
/// a's reflectors become the first columns of Q (as many as `a` has).
XCUDA_API void qr_form(const Where&, const Argument& a, const Argument& tau, const Argument& info);
/// c becomes Q^H c.
XCUDA_API void qr_apply_adjoint(const Where&, const Argument& a, const Argument& tau, const Argument& c,
                                const Argument& info);

/// Eigenvalues (rising, real) of a Hermitian matrix, read from one triangle; eigenvectors overwrite it if asked for.
XCUDA_API void eigen_hermitian(const Where&, const Argument& a, const Argument& values, bool vectors,
                               bool lower, const Argument& info);
/// a (m >= n, overwritten) = u diag(s) vh. No u and vh: singular values alone. u has m or n columns, vh n rows.
XCUDA_API void singular_values(const Where&, const Argument& a, const Argument& s, const Argument* u,
                               const Argument* vh, const Argument& info);
/// Eigenvalues (complex) of any square matrix (overwritten), and right eigenvectors (complex) if given; `a` is complex
/// too. Throws missing() before CUDA 12.6.
XCUDA_API void eigen_general(const Where&, const Argument& a, const Argument& values, const Argument* vectors,
                             const Argument& info);

}  // namespace xcuda::math
