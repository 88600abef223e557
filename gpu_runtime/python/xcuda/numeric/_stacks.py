"""numeric's arrays as the libraries of `xcuda._dense` take them, and back."""

import numpy

from xcuda import _runtime
from xcuda.core.arrays import DeviceArray

from ._array import asarray


def device_array(a):
    """core's DeviceArray of the values, C-contiguous."""
    return (a if a._c_contiguous else a.copy())._into(DeviceArray)


def as_it_lies(a):
    """core's DeviceArray of the same memory, with the strides that it has."""
    return a._into(DeviceArray)


def ours(made):
    """numeric's array over a DeviceArray's memory."""
    return _runtime.numeric_from_device(made)


def stack_of(a, dtype):
    """(a as a contiguous DeviceArray of matrices (count, m, n) of `dtype`, the lengths before)."""
    if a.dtype != dtype:
        a = a.astype(dtype)
    lead = a.shape[:-2]
    return device_array(a.reshape(int(numpy.prod(lead, dtype=numpy.int64)), *a.shape[-2:])), lead


def unstacked(made, lead, dtype=None):
    """numeric's array with the lengths `lead` in place of the first axis."""
    result = ours(made)
    result = result.reshape(*lead, *result.shape[1:])
    return result if dtype is None or result.dtype == dtype else result.astype(dtype)


def arrays(*values):
    """Each as numeric's array."""
    return tuple(asarray(value) for value in values)
