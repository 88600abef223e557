"""take, put and their like: elements by their places along an axis."""

import numpy
from numpy.lib.array_utils import normalize_axis_index

from ._array import array, asarray, ndarray
from ._fallback import to_host
from ._functions import where
from ._gather import index_ramp
from ._indexing import taken
from ._nonzero import flat_places, unravelled
from ._paths import ByNumpy, as_numpy_raises, given, held_array, native_twice, stand_in
from ._registry import TABLE, native
from ._shapes import is_integer

_MODES = ("raise", "wrap", "clip")


def _within(index, length, mode, refuse):
    """The index array from 0 on by the mode; `refuse` raises where it is out of range."""
    if mode == "wrap":
        return index % length
    if mode == "clip":
        return TABLE["clip"].function(index, 0, length - 1)
    if index.size and bool(((index >= length) | (index < -length)).any()):
        refuse()
    return where(index < 0, index + length, index)


def _index(indices):
    made = asarray(indices)
    if not isinstance(made, ndarray):
        raise ByNumpy
    if made.dtype.kind not in "biu":
        if made.size and isinstance(indices, (ndarray, numpy.ndarray)):
            raise TypeError(
                f"Cannot cast array data from {made.dtype!r} to dtype('int64') according to the rule 'safe'"
            )
        return made.astype("int64")
    if made.dtype == numpy.uint64:
        raise TypeError(
            "Cannot cast array data from dtype('uint64') to dtype('int64') according to the rule 'safe'"
        )
    return made.astype("int64", copy=False)


@native_twice(reference=numpy.take)
def take(a, indices, axis=None, out=None, mode="raise"):
    """Elements by their places along an axis, or in C order."""
    a = held_array(a)
    if axis is None:
        a, axis = a.reshape(-1), 0
    axis = normalize_axis_index(axis, a.ndim)
    index = _index(indices)
    if mode not in _MODES or index.size and not a.shape[axis]:
        as_numpy_raises(numpy.take, a, numpy.zeros(index.shape, int), axis, None, mode)

    def refuse():
        as_numpy_raises(numpy.take, a, index.get(), axis)

    index = _within(index, a.shape[axis], mode, refuse) if index.size else index
    made = taken(a, index, axis)
    return given(made, out)


@native_twice(reference=numpy.put, writes=0)
def put(a, ind, v, mode="raise"):
    """Elements for places in C order; values are repeated."""
    if isinstance(a, numpy.ndarray):
        raise ByNumpy
    if not isinstance(a, ndarray):
        raise TypeError(f"argument 1 must be numpy.ndarray, not {type(a).__name__}")
    index, values = _index(ind).reshape(-1), held_array(v).reshape(-1)
    if not index.size or not values.size:
        return
    if mode not in _MODES or not a.size:
        as_numpy_raises(numpy.take, a, index.get(), None, None, mode)

    def refuse():
        numpy.take(stand_in(a).ravel() if a.ndim != 1 else stand_in(a), index.get())

    index = _within(index, a.size, mode, refuse)
    if values.size != index.size:
        values = values[index_ramp(index.size) % values.size]
    a[unravelled(index, a.shape)] = values.astype(a.dtype, copy=False)


def _along(arr, indices, axis):
    """The key of index arrays, one an axis."""
    if indices.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    if arr.ndim != indices.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    key = []
    for k, n in enumerate(arr.shape):
        shape = [1] * arr.ndim
        shape[k] = n
        key.append(indices if k == axis else index_ramp(n).reshape(shape))
    return tuple(key)


def _flat_or_axis(arr, indices, axis):
    if axis is None:
        if indices.ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        return arr.reshape(-1), 0
    return arr, normalize_axis_index(axis, arr.ndim)


@native_twice(reference=numpy.take_along_axis)
def take_along_axis(arr, indices, axis=-1):
    """From each row along an axis the elements that the same row of `indices` names."""
    arr, indices = held_array(arr), held_array(indices)
    arr, axis = _flat_or_axis(arr, indices, axis)
    return arr[_along(arr, indices, axis)]


@native_twice(reference=numpy.put_along_axis, writes=0)
def put_along_axis(arr, indices, values, axis):
    """Elements for the places in each row along an axis that the same row of `indices` names."""
    indices = held_array(indices)
    if axis is None:
        if indices.ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        flat = arr.reshape(-1)
        flat[indices] = values
        if not flat._same_memory(arr):
            arr[...] = flat.reshape(arr.shape)
        return
    arr[_along(arr, indices, normalize_axis_index(axis, arr.ndim))] = values


@native_twice(reference=numpy.compress)
def compress(condition, a, axis=None, out=None):
    """The slices along an axis where the condition holds."""
    condition = held_array(condition)
    if condition.ndim != 1:
        raise ValueError("condition must be a 1-d array")
    a = held_array(a)
    a, axis = (a.reshape(-1), 0) if axis is None else (a, normalize_axis_index(axis, a.ndim))
    places = flat_places(condition)
    if condition.size > a.shape[axis]:
        return take(a, places, axis, out)
    return given(taken(a, places, axis), out)


@native_twice(reference=numpy.extract)
def extract(condition, arr):
    """The elements where the condition is not zero."""
    arr, condition = held_array(arr).reshape(-1), held_array(condition)
    places = flat_places(condition)
    return taken(arr, places, 0) if condition.size <= arr.size else take(arr, places, 0)


def _compress(self, condition, axis=None, out=None):
    """The slices along an axis where the condition holds."""
    return compress(condition, self, axis, out)


ndarray.compress = _compress


@native()
def ix_(*args):
    """A key that selects the product of the index arrays."""
    made = []
    for k, sequence in enumerate(args):
        index = asarray(sequence)
        if index.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if not index.size and not isinstance(sequence, (ndarray, numpy.ndarray)):
            index = index.astype("int64")
        if index.dtype.kind == "b":
            (index,) = TABLE["nonzero"].function(index)
        made.append(index.reshape((1,) * k + (index.size,) + (1,) * (len(args) - k - 1)))
    return tuple(made)


@native_twice(reference=numpy.unravel_index)
def unravel_index(indices, shape, order="C"):
    """Places in C (or Fortran) order as one index array an axis."""
    index = held_array(indices)
    shape = (shape,) if is_integer(shape) else tuple(shape)
    if index.dtype.kind not in "iu" or not all(n > 0 for n in shape):
        return as_numpy_raises(numpy.unravel_index, index, shape, order) or ()
    size = 1
    for n in shape:
        size *= n
    if index.size and bool(((index < 0) | (index >= size)).any()):
        numpy.unravel_index(to_host(index), shape, order)
    made = unravelled(index.astype("int64", copy=False), shape if order == "C" else shape[::-1])
    return made if order == "C" else made[::-1]


@native_twice(reference=numpy.ravel_multi_index)
def ravel_multi_index(multi_index, dims, mode="raise", order="C"):
    """Index arrays, one an axis, as places in C (or Fortran) order."""
    dims = tuple(dims)
    modes = (mode,) * len(dims) if isinstance(mode, str) else tuple(mode)
    arrays = [held_array(i) for i in multi_index]
    if len(arrays) != len(dims) or any(a.dtype.kind not in "iu" for a in arrays):
        numpy.ravel_multi_index(to_host(tuple(arrays)), dims, mode, order)
    flat, step = None, 1
    axes = range(len(dims)) if order == "F" else range(len(dims))[::-1]
    for k in axes:
        index = arrays[k].astype("int64", copy=False)
        if modes[k] == "raise":
            if index.size and bool(((index < 0) | (index >= dims[k])).any()):
                raise ValueError("invalid entry in coordinates array")
        else:
            index = _within(index, dims[k], modes[k], None)
        flat = index * step if flat is None else flat + index * step
        step *= dims[k]
    return flat if flat is not None else array(0)
