"""LAPACK's operations on stacks of matrices (count, rows, columns), with NumPy's results and errors.

On a GPU each matrix that is not small (placement) is one call of cuSOLVER, which reads columns: row-major memory is the
transposed matrix to it, and where that serves as well nothing is transposed.
"""

import functools

import numpy

from xcuda._dense.layout import (
    copied,
    diagonal,
    each_column_major,
    empty,
    from_host,
    gpu,
    host,
    identity,
    transposed,
    triangle,
)
from xcuda._dense.placement import by_lapack
from xcuda._dense.products import matmul
from xcuda._dense.triangular import substituted

LinAlgError = numpy.linalg.LinAlgError
MAX = 1 << 40
TALL = 2  # times as long as wide: the singular values are then those of R


def _info(stack):
    return from_host(numpy.zeros(max(stack.shape[0], 1), numpy.int32), stack)


def _expect(info, message):
    if info.copy_to_host().any():
        raise LinAlgError(message)


def _factored(stack):
    """LU of each matrix as cuSOLVER reads its memory, which is of the transposed one: (factors, pivots, info)."""
    factors, info = copied(stack), _info(stack)
    pivots = empty(stack.shape[:2], numpy.int64, stack)
    for i, matrix in enumerate(each_column_major(factors)):
        gpu().lu_factor(matrix, pivots[i], info[i : i + 1])
    return factors, pivots, info


def solve(a, b):
    """x with a @ x == b; stacks of equal count. LinAlgError for a singular matrix."""
    if by_lapack("solve", a):
        return from_host(numpy.linalg.solve(host(a), host(b)), a)
    if not a.size or not b.size:
        return empty(b.shape, b.dtype, b)
    factors, pivots, info = _factored(a)
    _expect(info, "Singular matrix")
    x = transposed(b)
    for i, matrix in enumerate(each_column_major(factors)):
        gpu().lu_solve(matrix, pivots[i], x[i].T, True, info[i : i + 1])
    return transposed(x)


def inv(a):
    """The inverse matrices. LinAlgError for a singular one."""
    if by_lapack("inv", a):
        return from_host(numpy.linalg.inv(host(a)), a)
    if not a.size:
        return empty(a.shape, a.dtype, a)
    factors, pivots, info = _factored(a)
    _expect(info, "Singular matrix")
    x = identity(a.shape[0], a.shape[1], a)
    for i, matrix in enumerate(each_column_major(factors)):
        gpu().lu_solve(matrix, pivots[i], x[i].T, False, info[i : i + 1])
    return x


def slogdet(a):
    """NumPy arrays: the sign (of a's dtype) and the logarithm of the determinant's absolute value, one a matrix."""
    if by_lapack("slogdet", a):
        sign, logarithm = numpy.linalg.slogdet(host(a))
        return numpy.asarray(sign), numpy.asarray(logarithm)
    real = numpy.zeros(0, a.dtype).real.dtype
    if not a.size:
        return numpy.ones(a.shape[0], a.dtype), numpy.zeros(a.shape[0], real)
    factors, pivots, _ = _factored(a)
    values = diagonal(factors).copy_to_host()
    swaps = (pivots.copy_to_host() != numpy.arange(1, a.shape[1] + 1)).sum(axis=1) % 2
    size = numpy.abs(values)
    with numpy.errstate(divide="ignore", invalid="ignore"):
        signs = numpy.where(size == 0, 0, values / numpy.where(size == 0, 1, size)).prod(axis=1)
        logarithm = numpy.log(size).sum(axis=1)
    return (signs * (1 - 2 * swaps)).astype(a.dtype), logarithm.astype(real)


def det(a):
    """A NumPy array of the determinants."""
    if by_lapack("det", a):
        return numpy.asarray(numpy.linalg.det(host(a)))
    if not a.size:
        return numpy.ones(a.shape[0], a.dtype)
    factors, pivots, _ = _factored(a)
    swaps = (pivots.copy_to_host() != numpy.arange(1, a.shape[1] + 1)).sum(axis=1) % 2
    return (diagonal(factors).copy_to_host().prod(axis=1) * (1 - 2 * swaps)).astype(a.dtype)


def cholesky(a, upper=False):
    """L with a == L @ L^H (or U with U^H @ U), from a's lower (upper) triangle. LinAlgError where there is none."""
    if by_lapack("cholesky", a):
        return from_host(numpy.linalg.cholesky(host(a), upper=upper), a)
    if not a.size:
        return empty(a.shape, a.dtype, a)
    factors, info = copied(a), _info(a)
    # What is lower by rows is upper by columns.
    for i, matrix in enumerate(each_column_major(factors)):
        gpu().cholesky_factor(matrix, upper, info[i : i + 1])
    _expect(info, "Matrix is not positive definite")
    return triangle(factors, a.shape[1], 0, MAX) if upper else triangle(factors, a.shape[1], MAX, 0)


def solve_positive(a, b):
    """x with a @ x == b for Hermitian positive definite matrices. LinAlgError where they are not."""
    if by_lapack("solve_positive", a):
        made = []
        for matrix, right in zip(host(a), host(b), strict=True):
            factor = numpy.linalg.cholesky(matrix)
            made.append(substituted(factor.conj().T, substituted(factor, right, True), False))
        return from_host(numpy.stack(made) if made else host(b), a)
    factors, info = transposed(a), _info(a)
    x = transposed(b)
    for i, matrix in enumerate(each_column_major(factors)):
        gpu().cholesky_factor(matrix, True, info[i : i + 1])
    _expect(info, "Matrix is not positive definite")
    for i, matrix in enumerate(each_column_major(factors)):
        gpu().cholesky_solve(matrix, True, x[i].T, info[i : i + 1])
    return transposed(x)


def qr(a, mode="reduced"):
    """(q, r), or r alone for mode "r"; NumPy's modes "reduced", "complete", "r", and "raw": (h, tau)."""
    if by_lapack("qr", a):
        made = numpy.linalg.qr(host(a), mode)
        return from_host(made, a) if mode == "r" else tuple(from_host(part, a) for part in made)
    count, m, n = a.shape
    k = min(m, n)
    columns = m if mode == "complete" and m > n else n
    reflectors = empty((count, columns, m), a.dtype, a)
    if columns > n:
        reflectors._fill_bytes(0)
    turned = transposed(a)
    tau, info = empty((count, k), a.dtype, a), _info(a)
    for i in range(count):
        if a.size:
            gpu().qr_factor(turned[i].T, tau[i], info[i : i + 1])
            reflectors[i, :n]._copy_from(turned[i])
    if mode == "raw":
        return turned, tau
    r = triangle(transposed(turned), m if mode == "complete" else k, 0, MAX)
    if mode == "r":
        return r
    wide = m if mode == "complete" else k
    q = empty((count, wide, m), a.dtype, a)
    for i in range(count):
        if not q.size:
            break
        q[i]._copy_from(reflectors[i, :wide])
        gpu().qr_form(q[i].T, tau[i], info[i : i + 1])
    return transposed(q), r


def svd(a, full_matrices=True, compute_uv=True):
    """(u, s, vh) with a == u @ diag(s) @ vh, or s alone. LinAlgError where it doesn't converge."""
    if by_lapack("svd", a):
        made = numpy.linalg.svd(host(a), full_matrices, compute_uv)
        return tuple(from_host(part, a) for part in made) if compute_uv else from_host(made, a)
    count, m, n = a.shape
    k = min(m, n)
    real = numpy.zeros(0, a.dtype).real.dtype
    s, info = empty((count, k), real, a), _info(a)
    if k == 0:
        u, vh = identity(count, m, a), identity(count, n, a)
        return (
            (u if full_matrices else u[:, :, :0].copy(), s, vh if full_matrices else vh[:, :0].copy())
            if compute_uv
            else s
        )
    if max(m, n) >= TALL * k:
        return svd_of_triangle(a, full_matrices, compute_uv)
    # The matrix with more rows than columns, by columns: a itself, or its transpose, which is how a's memory reads.
    tall = m >= n
    work = transposed(a) if tall else copied(a)
    rows, columns = (m, n) if tall else (n, m)
    left = empty((count, rows if full_matrices else columns, rows), a.dtype, a) if compute_uv else None
    right = empty((count, columns, columns), a.dtype, a) if compute_uv else None
    for i in range(count):
        u, vh = (left[i].T, right[i].T) if compute_uv else (None, None)
        gpu().singular_values(work[i].T, s[i], u, vh, info[i : i + 1])
    _expect(info, "SVD did not converge")
    if not compute_uv:
        return s
    return (transposed(left), s, transposed(right)) if tall else (right, s, left)


def svd_of_triangle(a, full_matrices, compute_uv):
    """svd of matrices much longer than wide, or wider than long: that of R, after Q R (Chan, 1982)."""
    if a.shape[1] < a.shape[2]:
        made = svd_of_triangle(transposed(a), full_matrices, compute_uv)
        return (transposed(made[2]), made[1], transposed(made[0])) if compute_uv else made
    if not compute_uv:
        return svd(qr(a, "r"), compute_uv=False)
    q, r = qr(a, "complete" if full_matrices else "reduced")
    k = a.shape[2]
    inner, s, vh = svd(r[:, :k].copy())
    u = matmul(q[:, :, :k], inner)
    if full_matrices:
        q[:, :, :k].copy_to_device(u)
        u = q
    return u, s, vh


def eigh(a, lower=True, vectors=True):
    """(eigenvalues, eigenvectors) of Hermitian matrices, or the eigenvalues alone, rising."""
    if by_lapack("eigh", a):
        uplo = "L" if lower else "U"
        if not vectors:
            return from_host(numpy.linalg.eigvalsh(host(a), uplo), a)
        return tuple(from_host(part, a) for part in numpy.linalg.eigh(host(a), uplo))
    count, n, _ = a.shape
    values, info = empty((count, n), numpy.zeros(0, a.dtype).real.dtype, a), _info(a)
    work = transposed(a)
    for i in range(count if n else 0):
        gpu().eigen_hermitian(work[i].T, values[i], vectors, lower, info[i : i + 1])
    _expect(info, "Eigenvalues did not converge")
    return (values, transposed(work)) if vectors else values


def eig(a, vectors=True):
    """(eigenvalues, right eigenvectors), or the eigenvalues alone; real where all are and NumPy's would be."""
    if by_lapack("eig", a):
        if not vectors:
            return from_host(numpy.linalg.eigvals(host(a)), a)
        return tuple(from_host(part, a) for part in numpy.linalg.eig(host(a)))
    count, n, _ = a.shape
    kind = numpy.result_type(a.dtype, numpy.complex64)
    values, info = empty((count, n), kind, a), _info(a)
    work, found = transposed(a), empty(a.shape, a.dtype, a) if vectors else None
    for i in range(count if n else 0):
        gpu().eigen_general(work[i].T, values[i], found[i].T if vectors else None, info[i : i + 1])
    _expect(info, "Eigenvalues did not converge")
    on_the_host = values.copy_to_host()
    all_real = a.dtype.kind != "c" and not on_the_host.imag.any()
    real = all_real and not numpys_are_complex()
    if real:
        values = from_host(numpy.ascontiguousarray(on_the_host.real), a)
    if not vectors:
        return values
    if real or a.dtype.kind == "c":
        return values, transposed(found)
    if all_real:
        return values, from_host(transposed(found).copy_to_host().astype(kind), a)
    return values, from_host(_unpacked(found.copy_to_host(), on_the_host), a)


@functools.cache
def numpys_are_complex():
    """Whether the NumPy here gives complex eigenvalues for a real matrix whose are all real: since 2.5 it does."""
    return numpy.linalg.eigvals(numpy.eye(2)).dtype.kind == "c"


def _unpacked(rows, values):
    """LAPACK keeps a conjugate pair's eigenvectors as the real and the imaginary part, one after the other."""
    out = rows.astype(values.dtype)
    for matrix, of, numbers in zip(out, rows, values, strict=True):
        for j in numpy.flatnonzero(numbers.imag > 0):
            matrix[j] = of[j] + 1j * of[j + 1]
            matrix[j + 1] = matrix[j].conj()
    return numpy.ascontiguousarray(out.transpose(0, 2, 1))
