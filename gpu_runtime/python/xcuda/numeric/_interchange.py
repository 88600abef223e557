"""Arrays of other libraries taken over, and arrays of required properties."""

import numpy

from xcuda import _runtime
from xcuda.core import arrays

from ._array import array, ndarray
from ._registry import native


@native()
def from_dlpack(x, /, *, device=None, copy=None):
    """numpy.from_dlpack: the same memory where it lies on a device of ours, else a copy."""
    if isinstance(x, ndarray) and device is None:
        return x.copy() if copy else x[...]
    return _runtime.numeric_from_device(arrays.from_dlpack(x, device=device, copy=copy))


_LONG = {
    "C_CONTIGUOUS": "C", "CONTIGUOUS": "C", "F_CONTIGUOUS": "F", "FORTRAN": "F", "ALIGNED": "A", "WRITEABLE": "W",
    "OWNDATA": "O", "ENSUREARRAY": "E",
}  # fmt: skip
_FLAGS = {**_LONG, **{letter: letter for letter in _LONG.values()}}


@native()
def require(a, dtype=None, requirements=None, *, like=None):
    """numpy.require: an array in C or Fortran order, writeable or with memory of its own; a copy where it isn't so."""
    wanted = {_FLAGS[r.upper()] for r in requirements or ()}
    if {"C", "F"} <= wanted:
        raise ValueError('Cannot specify both "C" and "F" order')
    order = "F" if "F" in wanted else "C" if "C" in wanted else "A"
    made = array(a, dtype, order=order, copy=None)
    if isinstance(made, numpy.ndarray):
        return numpy.require(made, requirements=requirements)
    lacks = "W" in wanted and not made.flags.writeable or "O" in wanted and not made.flags.owndata
    return made.copy("F" if order == "F" else "C") if lacks else made
