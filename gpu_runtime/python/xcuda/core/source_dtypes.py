"""What NumPy's dtypes and scalars, met as a function's global names, are to the compiler."""

from __future__ import annotations

import sys
from typing import Any

from xcuda.core.dtypes import OF_ML_DTYPES, in_kernels
from xcuda.core.types import scalar_name


def loaded_numpy() -> Any:
    """The module numpy, None where nobody imported it."""
    return sys.modules.get("numpy")  # what was never imported can't be what a name means


def is_numpy_scalar(value: Any) -> bool:
    """Whether it is np.float32(1) or the like."""
    numpy = loaded_numpy()
    return numpy is not None and isinstance(value, numpy.generic)


def numpy_scalar(value: Any) -> tuple[str, Any] | None:
    """(its dtype's name, the Python number that it is) of one that kernels know; None for another."""
    kind = value.dtype.kind
    if value.dtype.name in OF_ML_DTYPES:
        return value.dtype.name, float(value)
    if kind in "Mm":
        return value.dtype.name, int(value.view("int64"))
    if kind not in "biufc" or value.dtype.itemsize > 16 or value.dtype.char == "g":
        return None
    plain = float(value) if kind == "f" else complex(value) if kind == "c" else value.item()
    return value.dtype.name, plain


def is_record_dtype(value: Any) -> bool:
    """Whether it is a structured dtype."""
    numpy = loaded_numpy()
    return numpy is not None and isinstance(value, numpy.dtype) and value.names is not None


def dtype_name(value: Any) -> str | None:
    """NumPy's name of a dtype or a scalar type that kernels may know; None for anything else."""
    numpy = loaded_numpy()
    if numpy is None:
        return None
    if isinstance(value, type) and issubclass(value, numpy.generic):
        value = numpy.dtype(value) if value.__name__ not in _ABSTRACT else None
    known = isinstance(value, numpy.dtype) and in_kernels(value)
    if known and value.isnative:
        return value.name
    return scalar_name(value)


_ABSTRACT = {
    *("generic", "number", "integer", "signedinteger", "unsignedinteger", "inexact", "floating"),
    *("complexfloating", "flexible", "character"),
}
