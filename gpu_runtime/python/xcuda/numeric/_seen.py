"""An array's memory seen as elements of another dtype, or as one of the parts of complex numbers."""

import numpy

from . import _dtypes
from ._creation import empty


def seen_as(a, dtype):
    """The same memory as elements of another dtype."""
    old, new = a.itemsize, dtype.itemsize
    if not _dtypes.held(dtype):
        raise TypeError(
            f"device arrays can't hold {dtype!r}: numpy.asarray(x).view({dtype.name!r}) is a host array"
        )
    if old == new:
        return _same_memory_of(a, 0, a.shape, [s // new for s in a.strides], dtype)
    if not a.ndim:
        raise ValueError("Changing the dtype of a 0d array is only supported if the itemsize is unchanged")
    if a.shape[-1] != 1 and a.strides[-1] != old and a.size:
        raise ValueError("To change to a dtype of a different size, the last axis must be contiguous")
    if old < new and a.shape[-1] * old % new:
        raise ValueError(
            "When changing to a larger dtype, its size must be a divisor of the total size in bytes of the last axis "
            "of the array."
        )
    if a.size and any(s % new for s in a.strides[:-1]):
        raise ValueError(f"the strides {a.strides} are no multiples of the {new} bytes of {dtype.name}")
    return _same_memory_of(
        a, 0, (*a.shape[:-1], a.shape[-1] * old // new), [*(s // new for s in a.strides[:-1]), 1], dtype
    )


def part_view(a, part):
    """The real (0) or the imaginary part (1) of complex elements, in the same memory."""
    real = numpy.dtype(f"float{a.itemsize * 4}")
    return _same_memory_of(a, part, a.shape, [s // real.itemsize for s in a.strides], real)


def _same_memory_of(a, offset, shape, steps, dtype):
    if not a.size:
        return empty(shape, dtype)
    return a._seen(offset, list(shape), steps, dtype.name)
