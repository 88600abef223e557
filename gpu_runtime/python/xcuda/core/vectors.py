"""CUDA's vector types, `float32x4(x, y, z, w)` and CUDA C's names of them, as numba has them: a struct of numbers.

In a kernel `cuda.float32x4(a, b)` takes numbers and shorter vectors, four numbers in all, and gives a value with `.x`,
`.y`, `.z` and `.w`. On the host it makes a named tuple of NumPy's numbers, which a kernel takes as an argument.
"""

import collections

import numpy

_NAMES = {
    "int8": "char", "int16": "short", "int32": "int", "int64": "longlong",
    "uint8": "uchar", "uint16": "ushort", "uint32": "uint", "uint64": "ulonglong",
    "float32": "float", "float64": "double",
}  # fmt: skip


def _vector(dtype, count):
    fields = tuple("xyzw"[:count])
    name = f"{dtype}x{count}"
    convert = numpy.dtype(dtype).type

    def new(cls, *given):
        numbers = [n for v in given for n in (v if isinstance(v, tuple) else (v,))]
        if len(numbers) != count:
            raise TypeError(f"{name}() takes {count} number{'s' * (count > 1)}, found {len(numbers)}")
        return tuple.__new__(cls, map(convert, numbers))

    base = collections.namedtuple(name, fields)
    made = type(
        name, (base,), {"__new__": new, "__slots__": (), "__xcuda_vector__": name, "__module__": __name__}
    )
    made.__doc__ = f"{count} {dtype}: {', '.join(fields)}. See xcuda.core.vectors."
    return made


def _all():
    made = {}
    for dtype, short in _NAMES.items():
        for count in range(1, 5):
            vector = _vector(dtype, count)
            made[vector.__name__] = made[f"{short}{count}"] = vector
            if short.endswith("longlong"):
                made[f"{short.removesuffix('long')}{count}"] = vector
    return made


BY_NAME = _all()
globals().update(BY_NAME)
__all__ = list(BY_NAME)
