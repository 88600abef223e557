"""What the tests ask numba about NumPy."""

import numpy
from xcuda.core import carray, farray  # noqa: F401

from numba.absent import Absent
from numba.cuda import types

numpy_version = tuple(map(int, numpy.__version__.split(".")[:2]))


def from_dtype(dtype):
    """The kernel type of a NumPy dtype."""
    return types.from_dtype(dtype)


def as_dtype(kind):
    """The NumPy dtype of a kernel type."""
    return kind.dtype


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return Absent(f"numba.cuda.np.numpy_support.{name}")
