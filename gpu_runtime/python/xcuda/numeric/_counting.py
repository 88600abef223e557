"""bincount and histograms: elements counted by where they lie."""

import functools

import numpy

from xcuda import core as cuda

from ._array import asarray, ndarray
from ._fallback import to_host
from ._paths import ByNumpy, held_array, native_twice
from ._registry import TABLE
from ._searching import places_in

_BLOCK, _FEW = 256, 1024  # so many counters fit a block's shared memory beside others


@functools.cache
def _kernels(weighted):
    T = numpy.float64 if weighted else numpy.int64

    @cuda.kernel(checked=False)
    def count_few(out, places, weights):
        here = cuda.shared.array(_FEW, T)
        t = cuda.threadIdx.x
        for k in range(t, out.shape[0], _BLOCK):
            here[k] = T(0)
        cuda.syncthreads()
        for i in range(cuda.grid(1), places.shape[0], cuda.gridsize(1)):
            if places[i] >= 0:
                if weighted:
                    cuda.atomic.add(here, places[i], T(weights[i]))
                else:
                    cuda.atomic.add(here, places[i], T(1))
        cuda.syncthreads()
        for k in range(t, out.shape[0], _BLOCK):
            if here[k] != T(0):
                cuda.atomic.add(out, k, here[k])

    @cuda.kernel(checked=False)
    def count_many(out, places, weights):
        i = cuda.grid(1)
        if i < places.shape[0] and places[i] >= 0:
            if weighted:
                cuda.atomic.add(out, places[i], T(weights[i]))
            else:
                cuda.atomic.add(out, places[i], T(1))

    return count_few, count_many


def counted(places, bins, weights=None):
    """How many of the places (negative ones don't count) are each bin's, or the sum of their weights in float64."""
    out = TABLE["zeros"].function(bins, "int64" if weights is None else "float64")
    places = places.reshape(-1)
    if not places.size or not bins:
        return out
    few, many = _kernels(weights is not None)
    more = places if weights is None else weights.reshape(-1)
    if bins <= _FEW:
        few[min(-(-places.size // (8 * _BLOCK)), 1024), _BLOCK](out, places, more)
    else:
        many[-(-places.size // _BLOCK), _BLOCK](out, places, more)
    return out


@native_twice(reference=numpy.bincount)
def bincount(x, /, weights=None, minlength=0):
    """How often each number from 0 on is there, or the sum of its weights."""
    listed = x
    x = asarray(x)
    if not isinstance(x, ndarray):
        raise ByNumpy
    doubtful = x.dtype.kind not in "biu" or x.dtype == numpy.uint64 or x.ndim != 1
    if doubtful or minlength is None or minlength < 0:  # NumPy's versions differ in what they take
        numpy.bincount(
            numpy.zeros((1,) * x.ndim, x.dtype) if x is listed else to_host(listed), None, minlength
        )
    places = x.astype("int64", copy=False)
    if places.size and bool((places < 0).any()):
        raise ValueError("'list' argument must have no negative elements")
    if weights is not None:
        weights = held_array(weights)
        if weights.size != x.size:
            raise ValueError("The weights and list don't have the same length.")
        if weights.dtype.kind == "c":
            raise TypeError(
                f"Cannot cast array data from {weights.dtype!r} to dtype('float64') according to the rule 'safe'"
            )
    bins = max(int(places.max()) + 1 if places.size else 0, int(minlength))
    return counted(places, bins, weights)


def bins_of(x, edges):
    """For each element its bin between the sorted edges, the last edge in the last bin; -1 outside."""
    dtype = numpy.result_type(x.dtype, edges.dtype)
    x, edges = x.astype(dtype, copy=False), edges.astype(dtype, copy=False)
    n = edges.size - 1
    places = places_in(edges, x, True) - 1
    where = TABLE["where"].function
    places = where((x == edges[-1]) & (places >= n), n - 1, places)
    return where((places >= n) | (x != x), -1, places)
