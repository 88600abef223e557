"""sort, argsort, lexsort, partition: NumPy's on the CPU device, a merge sort of our own elsewhere."""

import numpy
from numpy.lib.array_utils import normalize_axis_index

from ._array import ndarray
from ._gather import gathered
from ._layouts import as_numpys, laid, order_of, turned, turned_back
from ._paths import ByNumpy, held_array, memory_of, native_twice, on_host_memory
from ._registry import TABLE
from ._sort_kernels import sorted_rows, stable_order


def _expect(function, a, *args, **kwargs):
    """NumPy's errors for the arguments, of an array without elements."""
    function(numpy.empty((0,) * a.ndim, a.dtype), *args, **kwargs)


def _sortable(a, axis):
    a = held_array(a)
    if a.dtype.name == "bfloat16":
        raise ByNumpy
    if axis is None:
        return a.reshape(-1), 0
    return a, normalize_axis_index(axis, a.ndim)


def by_rows(a, axis, function, reference):
    """`function` of the matrix whose rows run along the axis; its result as NumPy's of the array."""
    order = [*(k for k in order_of(a) if k != axis), axis]
    moved = turned(a, order)
    n = moved.shape[-1]
    made = function(moved.reshape(moved.size // n if n else 0, n)).reshape(moved.shape)
    return laid(turned_back(made, order), as_numpys(reference, a, axis=axis))


@native_twice(reference=numpy.sort)
def sort(a, axis=-1, kind=None, order=None, *, stable=None):
    """Sorted along an axis, nan last."""
    a, axis = _sortable(a, axis)
    _expect(numpy.sort, a, axis, kind, order, stable=stable)
    return by_rows(a, axis, sorted_rows, numpy.sort)


@native_twice(reference=numpy.argsort)
def argsort(a, axis=-1, kind=None, order=None, *, stable=None):
    """The places that sort along an axis; equal elements in their order."""
    a = held_array(a)
    if a.ndim == 0:
        return TABLE["zeros"].function((1,) if axis is None else (), "int64")
    a, axis = _sortable(a, axis)
    _expect(numpy.argsort, a, axis, kind, order, stable=stable)
    return by_rows(a, axis, stable_order, numpy.argsort)


def _expect_kth(kth, n):
    kth = numpy.asarray(kth.get() if isinstance(kth, ndarray) else kth)
    if kth.dtype.kind == "b":
        raise ValueError("Booleans unacceptable as partition index")
    if kth.dtype.kind not in "iu":
        raise TypeError("Partition index must be integer")
    if kth.ndim > 1:
        raise ValueError("object too deep for desired array")
    for k in kth.reshape(-1).tolist():
        if not -n <= k < n:
            raise ValueError(f"kth(={k + n if k < 0 else k}) out of bounds ({n})")


@native_twice(reference=numpy.partition)
def partition(a, kth, axis=-1, kind="introselect", order=None):
    """The kth elements of each row at their places, no greater ones before them: here all are sorted."""
    a, axis = _sortable(a, axis)
    if kind != "introselect":
        numpy.partition(numpy.zeros(1), 0, kind=kind)
    _expect_kth(kth, a.shape[axis])
    return sort(a, axis, order=order)


@native_twice(reference=numpy.argpartition)
def argpartition(a, kth, axis=-1, kind="introselect", order=None):
    """The places that partition each row."""
    a, axis = _sortable(a, axis)
    if kind != "introselect":
        numpy.argpartition(numpy.zeros(1), 0, kind=kind)
    _expect_kth(kth, a.shape[axis])
    return argsort(a, axis, order=order)


@native_twice(reference=numpy.lexsort)
def lexsort(keys, axis=-1):
    """The places that sort by several keys, the last one first."""
    try:
        arrays = [held_array(k) for k in keys]
    except TypeError:
        raise TypeError("need sequence of keys with len > 0 in lexsort") from None
    if not arrays:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    if any(k.shape != arrays[0].shape for k in arrays):
        raise ValueError("all keys need to be the same shape")
    if arrays[0].ndim == 0:
        return TABLE["zeros"].function((), "int64")
    axis = normalize_axis_index(axis, arrays[0].ndim)
    order = None
    for key in arrays:
        if order is None:
            order = argsort(key, axis)
        else:
            along = TABLE["take_along_axis"].function
            order = along(order, argsort(along(key, order, axis), axis), axis)
    return laid(order, as_numpys(numpy.lexsort, arrays, axis=axis))


@native_twice(reference=numpy.sort_complex)
def sort_complex(a):
    """The numbers as complex ones, sorted."""
    made = sort(held_array(a))
    if made.dtype.kind == "c":
        return made
    return made.astype("complex64" if made.dtype.name in ("int8", "int16", "uint8", "uint16") else complex)


def in_order(a, order):
    """a[order] of a 1-d array and places that are known to be in it."""
    memory, first = memory_of(a)
    step = a.strides[0] // a.itemsize
    places = order if step == 1 and not first else order * step + first
    return gathered(memory, places, 0, order.shape)


def sort_in_place(a, axis, kind, order, stable):
    """What ndarray.sort does."""
    if on_host_memory(a) and a.ndim <= 8:
        a._host().sort(axis, kind, order, stable=stable)
    else:
        a[...] = sort(a, axis, kind, order, stable=stable)


def partition_in_place(a, kth, axis, kind, order):
    """What ndarray.partition does."""
    if on_host_memory(a) and a.ndim <= 8:
        a._host().partition(kth.get() if isinstance(kth, ndarray) else kth, axis, kind, order)
    else:
        a[...] = partition(a, kth, axis, kind, order)
