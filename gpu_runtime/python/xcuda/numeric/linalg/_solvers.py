"""numpy.linalg's factorisations and solvers on the device."""

import math

import numpy
from numpy.linalg import LinAlgError
from numpy.linalg._linalg import EighResult, EigResult, QRResult, SlogdetResult, SVDResult

from xcuda._dense import solvers

from .._array import asarray
from .._registry import TABLE, native
from .._stacks import arrays, stack_of, unstacked


def expect_matrices(a):
    """LinAlgError where it has fewer than two axes."""
    if a.ndim < 2:
        raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be at least two-dimensional")


def expect_square(a):
    """LinAlgError where it is no stack of square matrices."""
    expect_matrices(a)
    if a.shape[-1] != a.shape[-2]:
        raise LinAlgError("Last 2 dimensions of the array must be square")


def working_dtype(*given):
    """What LAPACK works in for arrays of these dtypes, and the dtype of the result."""
    for each in given:
        if each.dtype.kind not in "biufc" or each.dtype.name in ("float16", "bfloat16"):
            raise TypeError(f"array type {each.dtype.name} is unsupported in linalg")
    kinds = [numpy.dtype(float) if each.dtype.kind in "biu" else each.dtype for each in given]
    return numpy.result_type(*kinds)


def real_of(dtype):
    """float32 of complex64, and so on."""
    return numpy.zeros(0, dtype).real.dtype


@native("linalg.solve")
def solve(a, b):
    """numpy.linalg.solve."""
    a, b = arrays(a, b)
    expect_square(a)
    kind = working_dtype(a, b)
    vector = b.ndim == 1
    columns = b[:, None] if vector else b
    expect_matrices(columns)
    if columns.shape[-2] != a.shape[-1]:
        signature = "(m,m),(m)->(m)" if vector else "(m,m),(m,n)->(m,n)"
        raise ValueError(
            f"{'solve1' if vector else 'solve'}: Input operand 1 has a mismatch in its core dimension 0, with gufunc "
            f"signature {signature} (size {columns.shape[-2]} is different from {a.shape[-1]})"
        )
    lead = numpy.broadcast_shapes(a.shape[:-2], columns.shape[:-2])
    a, columns = _alike(a, lead), _alike(columns, lead)
    x = unstacked(solvers.solve(stack_of(a, kind)[0], stack_of(columns, kind)[0]), lead)
    return x[..., 0] if vector else x


def _alike(a, lead):
    return a if a.shape[:-2] == lead else TABLE["broadcast_to"].function(a, (*lead, *a.shape[-2:]))


@native("linalg.inv")
def inv(a):
    """numpy.linalg.inv."""
    a = asarray(a)
    expect_square(a)
    stack, lead = stack_of(a, working_dtype(a))
    return unstacked(solvers.inv(stack), lead)


@native("linalg.tensorinv")
def tensorinv(a, ind=2):
    """numpy.linalg.tensorinv."""
    a = asarray(a)
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    rows = math.prod(a.shape[ind:])
    return inv(a.reshape(rows, -1)).reshape(*a.shape[ind:], *a.shape[:ind])


@native("linalg.tensorsolve")
def tensorsolve(a, b, axes=None):
    """numpy.linalg.tensorsolve."""
    a, b = arrays(a, b)
    if axes is not None:
        order = [i for i in range(a.ndim) if i not in [x % a.ndim for x in axes]] + [x % a.ndim for x in axes]
        a = a.transpose(order)
    result = a.shape[b.ndim - a.ndim :] if b.ndim < a.ndim else ()
    size = math.prod(result)
    if a.size != size**2:
        raise LinAlgError(
            "Input arrays must satisfy the requirement prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])"
        )
    return solve(a.reshape(size, size), b.reshape(-1)).reshape(result)


@native("linalg.slogdet")
def slogdet(a):
    """numpy.linalg.slogdet."""
    a = asarray(a)
    expect_square(a)
    kind = working_dtype(a)
    stack, lead = stack_of(a, kind)
    sign, logarithm = solvers.slogdet(stack)
    return SlogdetResult(asarray(sign.reshape(lead)), asarray(logarithm.reshape(lead)))


@native("linalg.det")
def det(a):
    """numpy.linalg.det."""
    a = asarray(a)
    expect_square(a)
    stack, lead = stack_of(a, working_dtype(a))
    return asarray(solvers.det(stack).reshape(lead))


@native("linalg.cholesky")
def cholesky(a, /, *, upper=False):
    """numpy.linalg.cholesky."""
    a = asarray(a)
    expect_square(a)
    stack, lead = stack_of(a, working_dtype(a))
    return unstacked(solvers.cholesky(stack, upper), lead)


@native("linalg.qr")
def qr(a, mode="reduced"):
    """numpy.linalg.qr."""
    known = ("reduced", "complete", "r", "raw")
    if mode not in known:
        raise ValueError(f"Unrecognized mode '{mode}'")
    a = asarray(a)
    expect_matrices(a)
    stack, lead = stack_of(a, working_dtype(a))
    made = solvers.qr(stack, mode)
    if mode == "r":
        return unstacked(made, lead)
    parts = tuple(unstacked(part, lead) for part in made)
    return parts if mode == "raw" else QRResult(*parts)


@native("linalg.svd")
def svd(a, full_matrices=True, compute_uv=True, hermitian=False):
    """numpy.linalg.svd."""
    a = asarray(a)
    if hermitian:
        return _hermitian_svd(a, compute_uv)
    expect_matrices(a)
    stack, lead = stack_of(a, working_dtype(a))
    made = solvers.svd(stack, full_matrices, compute_uv)
    if not compute_uv:
        return unstacked(made, lead)
    return SVDResult(*(unstacked(part, lead) for part in made))


def _hermitian_svd(a, compute_uv):
    from xcuda import numeric as np

    if not compute_uv:
        return np.flip(np.sort(abs(eigvalsh(a)), axis=-1), -1)
    values, vectors = eigh(a)
    signs, size = np.where(values < 0, -1, 1).astype(values.dtype), abs(values)  # 0 keeps its vector
    order = np.argsort(size, axis=-1)[..., ::-1]
    signs, size = (np.take_along_axis(x, order, axis=-1) for x in (signs, size))
    u = np.take_along_axis(vectors, order[..., None, :], axis=-1)
    return SVDResult(u, size, (u * signs[..., None, :]).conj().swapaxes(-1, -2))


@native("linalg.svdvals")
def svdvals(x, /):
    """numpy.linalg.svdvals."""
    return svd(x, compute_uv=False)


def _uplo(uplo):
    uplo = uplo.upper()
    if uplo not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    return uplo == "L"


@native("linalg.eigh")
def eigh(a, UPLO="L"):
    """numpy.linalg.eigh."""
    lower = _uplo(UPLO)
    a = asarray(a)
    expect_square(a)
    stack, lead = stack_of(a, working_dtype(a))
    return EighResult(*(unstacked(part, lead) for part in solvers.eigh(stack, lower)))


@native("linalg.eigvalsh")
def eigvalsh(a, UPLO="L"):
    """numpy.linalg.eigvalsh."""
    lower = _uplo(UPLO)
    a = asarray(a)
    expect_square(a)
    stack, lead = stack_of(a, working_dtype(a))
    return unstacked(solvers.eigh(stack, lower, vectors=False), lead)


def _expect_finite(a):
    if a.size and not bool(abs(a).max() < math.inf):
        raise LinAlgError("Array must not contain infs or NaNs")


@native("linalg.eig")
def eig(a):
    """numpy.linalg.eig."""
    a = asarray(a)
    expect_square(a)
    kind = working_dtype(a)
    _expect_finite(a)
    stack, lead = stack_of(a, kind)
    return EigResult(*(unstacked(part, lead) for part in solvers.eig(stack)))


@native("linalg.eigvals")
def eigvals(a):
    """numpy.linalg.eigvals."""
    a = asarray(a)
    expect_square(a)
    kind = working_dtype(a)
    _expect_finite(a)
    stack, lead = stack_of(a, kind)
    return unstacked(solvers.eig(stack, vectors=False), lead)
