"""Pinned host arrays: memory that a GPU copies by itself, while the program goes on."""

import contextlib

from xcuda import _runtime
from xcuda.core.arrays import order_of
from xcuda.core.dtypes import name_of, numpy_dtype


def pinned_array(shape, dtype=None, strides=None, order="C"):
    """A NumPy array in pinned memory, with whatever that holds. dtype: float64 by default. Raises MemoryError.

    Copies of it with `stream=` go on while the caller does. On the CPU device it is plain memory with the same meaning.
    """
    import numpy

    dtype = numpy_dtype(name_of(dtype))
    lengths = (shape,) if hasattr(shape, "__index__") else tuple(shape)
    lengths = tuple(length.__index__() for length in lengths)
    if any(length < 0 for length in lengths):
        raise ValueError(f"an array's length can't be negative: {lengths}")
    if strides is not None:
        raise ValueError("pinned arrays are made in C or F order; strides can't be given")
    memory = _runtime.PinnedMemory(int(numpy.prod(lengths, dtype=object)) * dtype.itemsize)
    return numpy.ndarray(lengths, dtype, memory, order=order)


def pinned_array_like(array):
    """`pinned_array` with the shape, dtype and order of axes (C or Fortran) of another array."""
    return pinned_array(tuple(array.shape), array.dtype, order=order_of(array))


@contextlib.contextmanager
def pinned(*arrays):
    """A block in which the memory of host arrays is pinned, each C-contiguous. It waits for their copies at its end."""
    from xcuda.core.devices import Device

    with contextlib.ExitStack() as held:
        for array in arrays:
            pin = _runtime.Pin(array)
            held.callback(pin.release)
        held.callback(Device().synchronize)  # first of all at the end: copies may be under way
        yield


def is_pinned(array):
    """True if the current device knows the host array's memory as pinned."""
    return _runtime.is_pinned(array)
