"""numba's names for host arrays that kernels share: pinned memory here, which launches copy as they need it."""

import contextlib

from xcuda.core.pinned import pinned_array, pinned_array_like


def mapped_array(shape, dtype=None, strides=None, order="C", stream=0, portable=False, wc=False):
    """`pinned_array` under the name of numba's mapped arrays; `stream`, `portable` and `wc` have no effect.

    A launch copies what its kernel reads and brings back what it writes.
    """
    return pinned_array(shape, dtype, strides, order)


def mapped_array_like(array, stream=0, portable=False, wc=False):
    """`mapped_array` with the shape, dtype and order of axes (C or Fortran) of a host or device array."""
    return pinned_array_like(array)


def managed_array(shape, dtype=None, strides=None, order="C", stream=0, attach_global=True):
    """`mapped_array` under the name of numba's arrays in managed memory."""
    return pinned_array(shape, dtype, strides, order)


@contextlib.contextmanager
def defer_cleanup():
    """A block without effect: memory goes back to the device's pool in its order, and nothing waits for it."""
    yield
