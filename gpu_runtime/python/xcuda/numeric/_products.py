"""Products of arrays: BLAS for floating dtypes, a kernel of our own for integers."""

import math
import operator

import numpy

from xcuda import _runtime
from xcuda import core as cuda
from xcuda._dense import products
from xcuda._dense.layout import gpu
from xcuda.core.own_kernel import own_kernel

from ._array import asarray, ndarray
from ._creation import empty
from ._gufuncs import of_last_axes
from ._out import given
from ._registry import TABLE, native
from ._shapes import is_integer
from ._stacks import arrays, as_it_lies, ours


@own_kernel()
def _integer_product(out, a, b):
    s, i, j = cuda.grid(3)
    if s < out.shape[0] and i < out.shape[1] and j < out.shape[2]:
        total = 0
        for k in range(a.shape[2]):
            total += a[s, i, k] * b[s, k, j]
        out[s, i, j] = total


@own_kernel()
def _boolean_product(out, a, b):
    s, i, j = cuda.grid(3)
    if s < out.shape[0] and i < out.shape[1] and j < out.shape[2]:
        found = False
        for k in range(a.shape[2]):
            if a[s, i, k] and b[s, k, j]:
                found = True
                break
        out[s, i, j] = found


@of_last_axes("matmul")
def matmul(a, b, kind):
    """Matrices by matrices; a vector is a row on the left and a column on the right."""
    if a.dtype == b.dtype == kind and (made := _runtime.numeric_product(a, b)) is not None:
        return made
    left = a[None, :] if a.ndim == 1 else a
    right = b[:, None] if b.ndim == 1 else b
    made = _stacked_product(left, right, kind)
    if a.ndim == 1:
        made = made[..., 0, :]
    return made[..., 0] if b.ndim == 1 else made


def _stacked_product(a, b, kind):
    """Of arrays with two axes or more, the leading ones broadcast."""
    a, b = (x if x.dtype == kind else x.astype(kind) for x in (a, b))
    lead = numpy.broadcast_shapes(a.shape[:-2], b.shape[:-2]) if a.ndim > 2 or b.ndim > 2 else ()
    m, n = a.shape[-2], b.shape[-1]
    if kind.kind in "fc":
        if lead:
            broadcast = TABLE["broadcast_to"].function
            a, b = (x if x.shape[:-2] == lead else broadcast(x, (*lead, *x.shape[-2:])) for x in (a, b))
        return ours(products.matmul(*map(_for_products, (a, b))))
    if a._host_accessible:
        return asarray(numpy.matmul(a._host(), b._host()))
    count = math.prod(lead)
    broadcast = TABLE["broadcast_to"].function
    a, b = (broadcast(x, (*lead, *x.shape[-2:])).reshape(count, *x.shape[-2:]) for x in (a, b))
    out = empty((count, m, n), kind)
    if out.size:
        (_boolean_product if kind.kind == "b" else _integer_product)()(out, a, b)
    return out.reshape(*lead, m, n)


def _for_products(a):
    """core's DeviceArray of it, a copy where BLAS can't read it as it lies."""
    made = as_it_lies(a)
    if a._host_accessible or gpu().readable(made):
        return made
    return as_it_lies(a.copy())


@native("linalg.matmul")
def _linalg_matmul(x1, x2, /):
    """numpy.linalg.matmul."""
    return matmul(x1, x2)


@native("dot")
def dot(a, b, out=None):
    """numpy.dot: the last axis of `a` with the one before the last of `b`."""
    a, b = arrays(a, b)
    if a.ndim == 0 or b.ndim == 0:
        made = a * b
    elif b.ndim <= 2:
        if a.shape[-1] != b.shape[0]:
            raise ValueError(
                f"shapes {_shape(a)} and {_shape(b)} not aligned: {a.shape[-1]} (dim {a.ndim - 1}) != "
                f"{b.shape[0]} (dim 0)"
            )
        made = (
            matmul(a.reshape(-1, a.shape[-1]), b).reshape(*a.shape[:-1], *b.shape[1:])
            if a.ndim > 2
            else matmul(a, b)
        )
    else:
        if a.shape[-1] != b.shape[-2]:
            raise ValueError(
                f"shapes {_shape(a)} and {_shape(b)} not aligned: {a.shape[-1]} (dim {a.ndim - 1}) != "
                f"{b.shape[-2]} (dim {b.ndim - 2})"
            )
        made = tensordot(a, b, axes=(a.ndim - 1, b.ndim - 2))
    if isinstance(out, ndarray) and (out.shape, out.dtype) == (made.shape, made.dtype) and out._c_contiguous:
        return given(made, out)
    if out is not None:
        raise ValueError(
            "output array is not acceptable (must have the right datatype, number of dimensions, and be a C-Array)"
        )
    return made


def _shape(a):
    return "(" + ",".join(map(str, a.shape)) + ("," if a.ndim == 1 else "") + ")"


@native("vdot")
def vdot(a, b, /):
    """numpy.vdot: of the flattened arrays, the first conjugated."""
    a, b = arrays(a, b)
    return dot(_conjugated(a).reshape(-1), b.reshape(-1))


def _conjugated(a):
    return a.conj() if a.dtype.kind == "c" else a


@native("inner")
def inner(a, b, /):
    """numpy.inner: over the last axes."""
    a, b = arrays(a, b)
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    if a.shape[-1] != b.shape[-1]:
        raise ValueError(
            f"shapes {_shape(a)} and {_shape(b)} not aligned: {a.shape[-1]} (dim {a.ndim - 1}) != "
            f"{b.shape[-1]} (dim {b.ndim - 1})"
        )
    return tensordot(a, b, axes=(-1, -1))


@native("outer")
def outer(a, b, out=None):
    """numpy.outer of the flattened arrays."""
    a, b = arrays(a, b)
    return given(a.reshape(-1)[:, None] * b.reshape(-1)[None, :], out)


@native("linalg.outer")
def _linalg_outer(x1, x2, /):
    """numpy.linalg.outer of two vectors."""
    x1, x2 = arrays(x1, x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(
            f"Input arrays must be one-dimensional, but they are x1.ndim={x1.ndim} and x2.ndim={x2.ndim}."
        )
    return outer(x1, x2)


@native("tensordot", "linalg.tensordot")
def tensordot(a, b, axes=2):
    """numpy.tensordot: sums of products over the named axes, as one product of matrices."""
    a, b = arrays(a, b)
    try:
        left, right = axes
    except TypeError:
        n = operator.index(axes)
        left, right = range(-n, 0), range(n)
    left, right = ([x] if is_integer(x) else list(map(operator.index, x)) for x in (left, right))
    if len(left) != len(right):
        raise ValueError("shape-mismatch for sum")
    if any(not -a.ndim <= i < a.ndim for i in left) or any(not -b.ndim <= i < b.ndim for i in right):
        raise IndexError("tuple index out of range")
    left, right = [i % a.ndim for i in left], [i % b.ndim for i in right]
    if any(a.shape[i] != b.shape[j] for i, j in zip(left, right, strict=True)):
        raise ValueError("shape-mismatch for sum")
    if len(set(left)) < len(left) or len(set(right)) < len(right):
        raise ValueError("an axis is named twice")
    free_a = [i for i in range(a.ndim) if i not in left]
    free_b = [i for i in range(b.ndim) if i not in right]
    inner_size = math.prod(a.shape[i] for i in left)
    rows = a.transpose(free_a + left).reshape(math.prod(a.shape[i] for i in free_a), inner_size)
    columns = b.transpose(right + free_b).reshape(inner_size, math.prod(b.shape[i] for i in free_b))
    made = _stacked_product(rows, columns, numpy.result_type(a.dtype, b.dtype))
    return made.reshape([a.shape[i] for i in free_a] + [b.shape[i] for i in free_b])


@of_last_axes("vecdot")
def vecdot(a, b, kind):
    """Products summed over the last axis, the first conjugated."""
    return (_conjugated(a) * b).sum(axis=-1, dtype=kind)


@native("linalg.vecdot")
def _linalg_vecdot(x1, x2, /, *, axis=-1):
    """numpy.linalg.vecdot."""
    return vecdot(x1, x2, axis=axis)


@of_last_axes("matvec")
def matvec(a, b, kind):
    """Stacks of matrices with stacks of vectors."""
    return _stacked_product(a, b[..., None], kind)[..., 0]


@of_last_axes("vecmat")
def vecmat(a, b, kind):
    """Stacks of vectors, conjugated, with stacks of matrices."""
    return _stacked_product(_conjugated(a)[..., None, :], b, kind)[..., 0, :]


@native("kron")
def kron(a, b):
    """numpy.kron: every element of `a` times the whole of `b`."""
    a, b = arrays(a, b)
    n = max(a.ndim, b.ndim)
    left, right = (1,) * (n - a.ndim) + a.shape, (1,) * (n - b.ndim) + b.shape
    wide = [side for pair in zip(left, (1,) * n, strict=True) for side in pair]
    tall = [side for pair in zip((1,) * n, right, strict=True) for side in pair]
    return (a.reshape(wide) * b.reshape(tall)).reshape([i * j for i, j in zip(left, right, strict=True)])


@native("linalg.trace")
def _linalg_trace(x, /, *, offset=0, dtype=None):
    """numpy.linalg.trace: over the last two axes."""
    return TABLE["trace"].function(asarray(x), offset, -2, -1, dtype)
