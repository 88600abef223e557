"""Arrays that a kernel can't address as they lie: other byte orders, unaligned or byte-strided memory, `__array__`."""

import numpy

from xcuda.core.dtypes import bits_of

_TAKEN = "bool, int8 to int64, uint8 to uint64, bfloat16, float16 to float64, complex64 or complex128"


def stand_in(given, name):
    """(array, comes back, dtype): `given` in a form that kernels take, mostly a contiguous native copy.

    Comes back: what a kernel writes there can be brought back. dtype: where the array is one of the bits of elements
    that have no buffer (bfloat16, datetime64), the name of theirs; else None.

    Raises TypeError naming the argument where its elements are none that kernels take.
    """
    array = given if isinstance(given, numpy.ndarray) else numpy.asarray(given)
    dtype = array.dtype
    if dtype.names:
        raise TypeError(
            f"'{name}' has the structured dtype {dtype}, which kernels don't take; pass {name}['field']"
        )
    comes_back = isinstance(given, (numpy.ndarray, memoryview)) and array.flags.writeable
    if dtype.kind in "Mm" and (unit := numpy.datetime_data(dtype))[1] != 1:
        raise TypeError(f"'{name}' is an array of {dtype}, and kernels take times of one unit: {unit[0]}")
    bits = bits_of(dtype)
    if bits is not None:
        native = dtype.newbyteorder("=")
        lies_well = array.flags.aligned and all(stride % dtype.itemsize == 0 for stride in array.strides)
        as_is = lies_well and dtype.isnative
        # A view keeps an axis' length only where its elements' size stays: these do.
        return (array if as_is else array.astype(native)).view(bits), comes_back, native.name
    if dtype.kind in "US":
        code = "numpy.uint8" if dtype.kind == "S" else "numpy.uint32"
        raise TypeError(
            f"'{name}' is an array of strings ({dtype}), which kernels don't take; pass their characters as numbers: "
            f"{name}.view({code}).reshape({name}.shape + (-1,))"
        )
    if dtype.kind not in "biufc" or dtype.itemsize > (16 if dtype.kind == "c" else 8):
        raise TypeError(f"'{name}' is an array of {dtype}, which kernels don't take; use {_TAKEN}")
    copy = numpy.array(array, dtype=dtype.newbyteorder("="), order="C", copy=True, subok=False)
    return copy, comes_back, None


def write_back(given, copy):
    """Brings what a kernel wrote into the copy back to the array that it stands for."""
    target = given if isinstance(given, numpy.ndarray) else numpy.asarray(given)
    native = target.dtype.newbyteorder("=")
    target[...] = copy if bits_of(native) is None else copy.view(native)
