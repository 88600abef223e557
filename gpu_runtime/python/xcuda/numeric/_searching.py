"""Places in sorted arrays: searchsorted, digitize."""

import functools

import numpy

from xcuda import core as cuda

from ._array import asarray, ndarray
from ._creation import empty
from ._paths import ByNumpy, held_array, native_twice
from ._sort_kernels import before
from ._sorting import in_order


@functools.cache
def _kernel(kind, right):
    less = before(kind)

    @cuda.kernel(checked=False)
    def search_sorted(out, a, v):
        t = cuda.grid(1)
        if t < out.shape[0]:
            wanted = v[t]
            low = 0
            high = a.shape[0]
            while low < high:
                middle = (low + high) // 2
                if (not less(wanted, a[middle])) if right else less(a[middle], wanted):
                    low = middle + 1
                else:
                    high = middle
            out[t] = low

    return search_sorted


def places_in(a, v, right):
    """Where the elements of `v` go in the sorted 1-d array, of one dtype with it."""
    out = empty(v.shape, "int64")
    if out.size:
        _kernel(a.dtype.kind, right)(out.reshape(-1), a, v.reshape(-1))
    return out


@native_twice(reference=numpy.searchsorted)
def searchsorted(a, v, side="left", sorter=None):
    """Where elements go in a sorted array, before or after its equal ones."""
    a, v = held_array(a), held_array(v)
    if side not in ("left", "right") or a.ndim != 1:
        numpy.searchsorted(numpy.empty((0,) * a.ndim, a.dtype), 0, side)
    dtype = numpy.result_type(a.dtype, v.dtype)
    if dtype.name == "bfloat16":
        raise ByNumpy
    if sorter is not None:
        order = asarray(sorter)
        if not isinstance(order, ndarray) or order.dtype.kind not in "iu":
            raise TypeError("sorter must only contain integers")
        if order.ndim != 1:
            raise ValueError("object too deep for desired array")
        if order.size != a.size:
            raise ValueError("sorter.size must equal len(a)")
        order = order.astype("int64", copy=False)
        if order.size and bool(((order < -a.size) | (order >= a.size)).any()):
            raise ValueError("Sorter index out of range.")
        a = in_order(a, order % max(a.size, 1))
    return places_in(a.astype(dtype, copy=False), v.astype(dtype, copy=False), side == "right")


@native_twice(reference=numpy.digitize)
def digitize(x, bins, right=False):
    """The numbers of the bins that elements lie in."""
    x, bins = held_array(x), held_array(bins)
    if numpy.issubdtype(x.dtype, numpy.complexfloating):
        raise TypeError("x may not be complex")
    if bins.ndim != 1:
        raise ValueError(
            "object of too small depth for desired array"
            if not bins.ndim
            else "object too deep for desired array"
        )
    up = bool((bins[1:] >= bins[:-1]).all())
    if not up and not bool((bins[1:] <= bins[:-1]).all()):
        raise ValueError("bins must be monotonically increasing or decreasing")
    side = "left" if right else "right"
    if up:
        return searchsorted(bins, x, side)
    return bins.size - searchsorted(bins[::-1], x, side)
