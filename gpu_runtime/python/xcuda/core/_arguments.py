"""Arrays that a kernel can't address as they lie: other byte orders, unaligned or byte-strided memory, `__array__`."""

import numpy

_TAKEN = "bool, int8 to int64, uint8 to uint64, bfloat16, float16 to float64, complex64 or complex128"


def stand_in(given, name):
    """(array, comes back, bits): `given` in a form that kernels take, mostly a contiguous native copy.

    Comes back: what a kernel writes there can be brought back. Bits: a bfloat16 array as the uint16 of its bits.

    Raises TypeError naming the argument where its elements are none that kernels take.
    """
    array = given if isinstance(given, numpy.ndarray) else numpy.asarray(given)
    dtype = array.dtype
    if dtype.names:
        raise TypeError(
            f"'{name}' has the structured dtype {dtype}, which kernels don't take; pass {name}['field']"
        )
    comes_back = isinstance(given, (numpy.ndarray, memoryview)) and array.flags.writeable
    if dtype.name == "bfloat16":
        lies_well = array.flags.aligned and all(stride % 2 == 0 for stride in array.strides)
        return (array if lies_well else array.copy()).view(numpy.uint16), comes_back, True
    if dtype.kind not in "biufc" or dtype.itemsize > (16 if dtype.kind == "c" else 8):
        raise TypeError(f"'{name}' is an array of {dtype}, which kernels don't take; use {_TAKEN}")
    copy = numpy.array(array, dtype=dtype.newbyteorder("="), order="C", copy=True, subok=False)
    return copy, comes_back, False


def write_back(given, copy):
    """Brings what a kernel wrote into the copy back to the array that it stands for."""
    target = given if isinstance(given, numpy.ndarray) else numpy.asarray(given)
    target[...] = copy.view(target.dtype) if target.dtype.name == "bfloat16" else copy
