"""Global NumPy arrays that kernels read: their elements become part of the kernel, in constant memory on CUDA."""

import sys

from xcuda.core.dtypes import in_kernels
from xcuda.core.records import dtype_meaning, leaves_of

MOST_BYTES = 64 * 1024  # CUDA's constant memory


class Frozen:
    """What an array held when a kernel was compiled; `content` is another object once that changed."""

    def __init__(self, array):
        self._array = array
        self._bytes = array.tobytes()
        self._same = object()

    @property
    def content(self):
        """The same object as long as the array holds what it held."""
        return self._same if self._array.tobytes() == self._bytes else None


def array_meaning(value):
    """A global array as the compiler reads it; None for what is none, or too large for a kernel to hold."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(value, numpy.ndarray) or value.nbytes > MOST_BYTES:
        return None
    value = value.view(numpy.ndarray)
    if value.dtype.names:
        return {
            "kind": "array",
            "record": dtype_meaning(value.dtype),
            "shape": list(value.shape),
            "items": [array_meaning(leaf) for _, leaf in leaves_of("", value)],
        }
    if not in_kernels(value.dtype):
        return None
    native = numpy.ascontiguousarray(value).astype(value.dtype.newbyteorder("="))
    return {
        "kind": "array",
        "dtype": native.dtype.name,
        "shape": list(value.shape),
        "data": native.tobytes().hex(),
    }
