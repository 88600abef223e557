"""The kernel type of a value."""

import numpy

from numba.cuda import types


def typeof(value):
    """An array's type, or its number's."""
    if isinstance(value, numpy.ndarray):
        layout = "C" if value.flags.c_contiguous else "F" if value.flags.f_contiguous else "A"
        return types.Array(types.from_dtype(value.dtype), value.ndim, layout)
    return types.from_dtype(numpy.asarray(value).dtype)
