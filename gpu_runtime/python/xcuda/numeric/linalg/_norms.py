"""What numpy.linalg makes of products, factorisations and reductions: norms, ranks, least squares, powers."""

import functools
import math
import operator
import warnings

import numpy
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple
from numpy.linalg import LinAlgError

from .._array import asarray
from .._paths import native_twice
from .._products import dot, matmul
from .._reductions import squared_size
from .._registry import TABLE, native
from .._stacks import arrays
from ._solvers import eigvalsh, expect_matrices, expect_square, inv, real_of, svd, working_dtype


def _floating(x):
    return x if x.dtype.kind in "fc" else x.astype(float)


@native("linalg.norm")
def norm(x, ord=None, axis=None, keepdims=False):
    """numpy.linalg.norm: of vectors along one axis, of matrices along two, of all elements."""
    x = _floating(asarray(x))
    if axis is None:
        if ord is None or (ord in ("f", "fro") and x.ndim == 2) or (ord == 2 and x.ndim == 1):
            made = _root_of_squares(x, None)
            return made.reshape((1,) * x.ndim) if keepdims else made
        if x.ndim not in (1, 2):
            raise ValueError("Improper number of dimensions to norm.")
        axis = tuple(range(x.ndim))
    elif not isinstance(axis, tuple):
        try:
            axis = (operator.index(axis),)
        except TypeError as error:
            raise TypeError("'axis' must be None, an integer or a tuple of integers") from error
    axis = normalize_axis_tuple(axis, x.ndim)
    if len(axis) == 1:
        return _vectors(x, ord, axis[0], keepdims)
    if len(axis) == 2:
        return _matrices(x, ord, axis, keepdims)
    raise ValueError("Improper number of dimensions to norm.")


def _root_of_squares(x, axis, keepdims=False):
    return TABLE["sqrt"].function(squared_size(x).sum(axis=axis, keepdims=keepdims))


def _vectors(x, ord, axis, keepdims):
    if ord is None or ord == 2:
        return _root_of_squares(x, axis, keepdims)
    if ord == math.inf:
        return abs(x).max(axis=axis, keepdims=keepdims, initial=0)
    if ord == -math.inf:
        return abs(x).min(axis=axis, keepdims=keepdims)
    if ord == 0:
        return (x != 0).astype(real_of(x.dtype)).sum(axis=axis, keepdims=keepdims)
    if ord == 1:
        return abs(x).sum(axis=axis, keepdims=keepdims)
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    return (abs(x) ** ord).sum(axis=axis, keepdims=keepdims) ** (1 / ord)


def _matrices(x, ord, axis, keepdims):
    row, column = axis
    if row == column:
        raise ValueError("Duplicate axes given.")
    if ord in (2, -2, "nuc"):
        values = svd(TABLE["moveaxis"].function(x, axis, (-2, -1)), compute_uv=False)
        made = (
            values.max(axis=-1, initial=0)
            if ord == 2
            else values.min(axis=-1)
            if ord == -2
            else values.sum(axis=-1)
        )
    elif ord in (None, "fro", "f"):
        made = _root_of_squares(x, axis)
    elif ord in (1, -1, math.inf, -math.inf):
        along, over = (row, column) if abs(ord) == 1 else (column, row)
        sums = abs(x).sum(axis=along)
        over -= over > along
        made = sums.max(axis=over, initial=0) if ord > 0 else sums.min(axis=over)
    else:
        raise ValueError("Invalid norm order for matrices.")
    return made.reshape([1 if i in axis else n for i, n in enumerate(x.shape)]) if keepdims else made


@native("linalg.matrix_norm")
def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """numpy.linalg.matrix_norm: over the last two axes."""
    return norm(x, axis=(-2, -1), keepdims=keepdims, ord=ord)


@native("linalg.vector_norm")
def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """numpy.linalg.vector_norm: over one, several or all axes."""
    x = asarray(x)
    shape = list(x.shape)
    if axis is None:
        x, over = x.reshape(-1), 0
    elif isinstance(axis, tuple):
        axes = normalize_axis_tuple(axis, x.ndim)
        rest = [i for i in range(x.ndim) if i not in axes]
        x = x.transpose([*axes, *rest]).reshape(-1, *(x.shape[i] for i in rest))
        over = 0
    else:
        over = axis
    made = norm(x, axis=over, ord=ord)
    if not keepdims:
        return made
    gone = normalize_axis_tuple(range(len(shape)) if axis is None else axis, len(shape))
    return made.reshape([1 if i in gone else n for i, n in enumerate(shape)])


@native("linalg.cond")
def cond(x, p=None):
    """numpy.linalg.cond."""
    x = asarray(x)
    if x.size == 0 and x.ndim >= 2 and 0 in x.shape[-2:]:
        raise LinAlgError("cond is not defined on empty arrays")
    if p is None or p in (2, -2):
        s = svd(x, compute_uv=False)
        with numpy.errstate(all="ignore"):
            made = s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    else:
        expect_square(x)
        x = x.astype(working_dtype(x))
        try:
            made = norm(x, p, axis=(-2, -1)) * norm(inv(x), p, axis=(-2, -1))
        except LinAlgError:  # one of them is singular: each by itself, on the host
            return asarray(numpy.linalg.cond(x.get(), p))
    is_nan = made != made
    finite = ~TABLE["isnan"].function(x).any(axis=(-2, -1))
    return TABLE["where"].function(is_nan & finite, math.inf, made)


@native("linalg.matrix_rank")
def matrix_rank(A, tol=None, hermitian=False, *, rtol=None):
    """numpy.linalg.matrix_rank."""
    if rtol is not None and tol is not None:
        raise ValueError("`tol` and `rtol` can't be both set.")
    A = asarray(A)
    if A.ndim < 2:
        return asarray(int(not bool((A == 0).all())))
    s = abs(eigvalsh(A)) if hermitian else svd(A, compute_uv=False)
    if tol is None:
        rtol = max(A.shape[-2:]) * numpy.finfo(s.dtype).eps if rtol is None else asarray(rtol)[..., None]
        tol = s.max(axis=-1, keepdims=True, initial=0) * rtol
    else:
        tol = asarray(tol)[..., None]
    return TABLE["count_nonzero"].function(s > tol, axis=-1)


def _inverted(s, large):
    """1 / s where `large` holds, else 0."""
    choose = TABLE["where"].function
    return choose(large, 1 / choose(large, s, 1), 0).astype(s.dtype)


@native("linalg.pinv")
def pinv(a, rcond=None, hermitian=False, *, rtol=numpy._NoValue):
    """numpy.linalg.pinv, by singular values."""
    a = asarray(a)
    if rcond is None:
        default = max(a.shape[-2:]) * numpy.finfo(working_dtype(a)).eps if rtol is None else 1e-15
        rcond = default if rtol in (None, numpy._NoValue) else rtol
    elif rtol is not numpy._NoValue:
        raise ValueError("`rtol` and `rcond` can't be both set.")
    if a.size == 0:
        return TABLE["empty"].function((*a.shape[:-2], a.shape[-1], a.shape[-2]), a.dtype)
    u, s, vh = svd(a.conj() if a.dtype.kind == "c" else a, False, hermitian=hermitian)
    limit = asarray(rcond)[..., None] * s.max(axis=-1, keepdims=True)
    large = s > limit
    inverse = _inverted(s, large)
    return matmul(vh.swapaxes(-1, -2), inverse[..., None] * u.swapaxes(-1, -2))


@native_twice("linalg.lstsq", reference=numpy.linalg.lstsq)
def lstsq(a, b, rcond=None):
    """numpy.linalg.lstsq, by singular values: (x, residuals, rank, singular values)."""
    a, b = arrays(a, b)
    vector = b.ndim == 1
    columns = b[:, None] if vector else b
    for each in (a, columns):
        if each.ndim != 2:
            raise LinAlgError(f"{each.ndim}-dimensional array given. Array must be two-dimensional")
    m, n = a.shape
    if columns.shape[0] != m:
        raise LinAlgError("Incompatible dimensions")
    kind = working_dtype(a, columns)
    a, columns = a.astype(kind), columns.astype(kind)
    if rcond is None or rcond < 0:  # LAPACK's own is half of eps
        rcond = numpy.finfo(kind).eps * (max(m, n) if rcond is None else 0.5)
    real = real_of(kind)
    if 0 in (m, n):
        x = TABLE["zeros"].function((n, columns.shape[1]), kind)
        rank, s = 0, TABLE["zeros"].function(0, real)
    else:
        u, s, vh = svd(a, False)
        large = s > rcond * s[0]
        inverse = _inverted(s, large)
        adjoint = lambda z: (z.conj() if z.dtype.kind == "c" else z).T  # noqa: E731
        x = matmul(adjoint(vh), inverse[:, None] * matmul(adjoint(u), columns))
        rank = int(large.sum())
    residuals = TABLE["zeros"].function(0, real)
    if rank == n and m > n:
        rest = columns - matmul(a, x)
        residuals = squared_size(rest).sum(axis=0)
    return (x[:, 0] if vector else x), residuals, rank, s


@native("linalg.matrix_power")
def matrix_power(a, n):
    """numpy.linalg.matrix_power, by squaring."""
    a = asarray(a)
    expect_square(a)
    try:
        n = operator.index(n)
    except TypeError as error:
        raise TypeError("exponent must be an integer") from error
    if n == 0:
        eye = TABLE["zeros_like"].function(a)
        diagonal = TABLE["arange"].function(a.shape[-1])
        return eye + (diagonal[:, None] == diagonal).astype(a.dtype)
    if n < 0:
        a, n = inv(a), -n
    result = None
    while n:
        if n & 1:
            result = a if result is None else matmul(result, a)
        n >>= 1
        if n:
            a = matmul(a, a)
    return result.copy() if result is a else result


@native("linalg.multi_dot")
def multi_dot(arrays, *, out=None):
    """numpy.linalg.multi_dot: a chain of products in the order that multiplies least."""
    chain = [asarray(each) for each in arrays]
    if len(chain) < 2:
        raise ValueError("Expecting at least two arrays.")
    first, last = chain[0].ndim, chain[-1].ndim
    if first == 1:
        chain[0] = chain[0][None, :]
    if last == 1:
        chain[-1] = chain[-1][:, None]
    for each in chain:
        if each.ndim != 2:
            raise LinAlgError(f"{each.ndim}-dimensional array given. Array must be two-dimensional")
    sides = [chain[0].shape[0], *(each.shape[1] for each in chain)]

    @functools.cache
    def best(i, j):  # (multiplications, where the outermost product is)
        if i == j:
            return 0, i
        return min(
            (best(i, k)[0] + best(k + 1, j)[0] + sides[i] * sides[k + 1] * sides[j + 1], k)
            for k in range(i, j)
        )

    def product(i, j):
        if i == j:
            return chain[i]
        k = best(i, j)[1]
        return dot(product(i, k), product(k + 1, j))

    made = product(0, len(chain) - 1)
    made = made[0] if first == 1 else made
    made = made[..., 0] if last == 1 else made
    if out is None:
        return made
    out[...] = made
    return out


@native("linalg.cross")
def linalg_cross(x1, x2, /, *, axis=-1):
    """numpy.linalg.cross of three-element vectors."""
    x1, x2 = arrays(x1, x2)
    _expect_in_space(x1.shape[axis], x2.shape[axis])
    return cross(x1, x2, axis=axis)


def _expect_in_space(*lengths):
    if lengths != (3, 3):
        raise ValueError(
            "Both input arrays must be (arrays of) 3-dimensional vectors, "
            f"but they are {lengths[0]} and {lengths[1]} dimensional instead."
        )


_PLANES = numpy.lib.NumpyVersion(numpy.__version__) < "2.5.0"  # later ones have no products of two elements


def _in_the_plane(x):
    made = TABLE["zeros"].function((*x.shape[:-1], 3), x.dtype)
    made[..., :2] = x
    return made


@native("cross")
def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """numpy.cross of vectors of three elements; beside NumPy before 2.5 also of two, in a plane."""
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = arrays(a, b)
    if a.ndim < 1 or b.ndim < 1:
        raise ValueError("At least one array has zero dimension")
    move, stack = TABLE["moveaxis"].function, TABLE["empty"].function
    a = move(a, normalize_axis_index(axisa, a.ndim), -1)
    b = move(b, normalize_axis_index(axisb, b.ndim), -1)
    if not _PLANES:
        _expect_in_space(a.shape[-1], b.shape[-1])
    if a.shape[-1] not in (2, 3) or b.shape[-1] not in (2, 3):
        raise ValueError(
            f"incompatible dimensions for cross product (dimension must be 2 or 3): {a.shape[-1]} and {b.shape[-1]}"
        )
    if a.shape[-1] == 2 or b.shape[-1] == 2:
        warnings.warn(
            "vectors of 2 elements are deprecated (NumPy 2.0): use 3", DeprecationWarning, stacklevel=3
        )
        if a.shape[-1] == b.shape[-1]:
            return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
        a, b = (x if x.shape[-1] == 3 else _in_the_plane(x) for x in (a, b))
    shape = numpy.broadcast_shapes(a[..., 0].shape, b[..., 0].shape)
    out = stack((*shape, 3), numpy.result_type(a.dtype, b.dtype))
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        out[..., i] = a[..., j] * b[..., k] - a[..., k] * b[..., j]
    return move(out, -1, normalize_axis_index(axisc, out.ndim))


@native("linalg.diagonal")
def linalg_diagonal(x, /, *, offset=0):
    """numpy.linalg.diagonal: of the last two axes."""
    x = asarray(x)
    expect_matrices(x)
    return TABLE["diagonal"].function(x, offset, -2, -1)


@native("linalg.matrix_transpose")
def linalg_matrix_transpose(x, /):
    """numpy.linalg.matrix_transpose."""
    return TABLE["matrix_transpose"].function(x)
