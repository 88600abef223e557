"""Diagonals and triangles of matrices."""

import operator

import numpy

from ._array import asarray
from ._functions import where
from ._gather import ramp
from ._paths import native_twice
from ._registry import TABLE, native


@native()
def tri(N, M=None, k=0, dtype=float, *, like=None):
    """Ones at and below a diagonal, zeros above it."""
    N = operator.index(N)
    M = N if M is None else operator.index(M)
    made = TABLE["greater_equal"].function(ramp(max(N, 0)).reshape(-1, 1) + k, ramp(max(M, 0)))
    return made.astype(dtype, copy=False)


def _triangle(name, below):
    def triangle(m, k=0):
        m = asarray(m)
        if m.ndim < 1:
            getattr(numpy, name)(numpy.zeros(()))
        if m.ndim == 1:
            m = TABLE["broadcast_to"].function(m, (m.size, m.size))
        rows, columns = ramp(m.shape[-2]).reshape(-1, 1), ramp(m.shape[-1])
        kept = columns - rows <= k if below else columns - rows >= k
        return where(kept, m, m.dtype.type(0))

    triangle.__name__ = name
    triangle.__doc__ = "Zeros " + ("above" if below else "below") + " a diagonal of the last two axes."
    return native(name)(triangle)


tril = _triangle("tril", True)
triu = _triangle("triu", False)


@native()
def diag(v, k=0):
    """The diagonal of a matrix (a view), or a matrix with the given diagonal."""
    v = asarray(v)
    if v.ndim == 2:
        return TABLE["diagonal"].function(v, k)
    if v.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    n = v.size + abs(k)
    made = TABLE["zeros"].function((n, n), v.dtype)
    rows = made[: n - k] if k >= 0 else made[-k:]
    if v.size:
        rows._view(max(k, 0), [v.size], [n + 1])[...] = v
    return made


@native()
def diagflat(v, k=0):
    """A matrix whose diagonal is the flattened input."""
    return diag(asarray(v).reshape(-1), k)


@native_twice(reference=numpy.fill_diagonal, writes=0)
def fill_diagonal(a, val, wrap=False):
    """Writes to the main diagonal."""
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if a.ndim == 2:
        step = a.shape[1] + 1
        end = None if wrap else a.shape[1] * a.shape[1]
    else:
        if any(n != a.shape[0] for n in a.shape):
            raise ValueError("All dimensions of input must be of equal length")
        step = 1
        for n in a.shape[:-1]:
            step = step * n + 1
        end = None
    val = asarray(val).reshape(-1)
    places = ramp(a.size)[:end:step]
    if places.size:
        TABLE["put"].function(a, places, val)


def _placed(name):
    """Indices of triangles and diagonals: small tables that NumPy makes and the device gets."""
    reference = getattr(numpy, name)

    def made(*args, **kwargs):
        return tuple(asarray(part) for part in reference(*args, **kwargs))

    made.__name__ = name
    made.__doc__ = reference.__doc__
    native(name)(made)


for _name in ("tril_indices", "triu_indices", "diag_indices"):
    _placed(_name)


@native()
def tril_indices_from(arr, k=0):
    """The indices of an array's lower triangle."""
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return TABLE["tril_indices"].function(arr.shape[-2], k, arr.shape[-1])


@native()
def triu_indices_from(arr, k=0):
    """The indices of an array's upper triangle."""
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return TABLE["triu_indices"].function(arr.shape[-2], k, arr.shape[-1])


@native()
def diag_indices_from(arr):
    """The indices of an array's main diagonal."""
    if not arr.ndim >= 2:
        raise ValueError("input array must be at least 2-d")
    if any(n != arr.shape[0] for n in arr.shape):
        raise ValueError("All dimensions of input must be of equal length")
    return TABLE["diag_indices"].function(arr.shape[0], arr.ndim)


@native()
def mask_indices(n, mask_func, k=0):
    """The indices of an (n, n) array that a function such as triu leaves."""
    kept = mask_func(TABLE["ones"].function((n, n), int), k)
    return TABLE["nonzero"].function(kept != 0)


@native()
def vander(x, N=None, increasing=False):
    """The powers of x, a row an element."""
    x = asarray(x)
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    N = x.size if N is None else operator.index(N)
    dtype = numpy.promote_types(x.dtype, int)
    made = TABLE["ones"].function((x.size, N), dtype)
    powers = made if increasing else made[:, ::-1]
    if N > 1:
        column = x.astype(dtype, copy=False).reshape(-1, 1)
        powers[:, 1:] = TABLE["multiply"].function.accumulate(
            TABLE["broadcast_to"].function(column, (x.size, N - 1)), 1
        )
    return made
