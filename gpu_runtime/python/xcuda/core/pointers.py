"""Where arrays lie, and arrays made of addresses: for kernels that were declared with pointers (types.CPointer)."""

from typing import NamedTuple


class DeviceMemory(NamedTuple):
    """An array's place in its device's memory: an address, and the bytes from it on."""

    device_pointer: int
    size: int


def carray(ptr, shape, dtype=None):
    """In a kernel: the array of this shape, a tuple, in C order, that begins where the pointer points."""
    count = 1
    for n in shape:
        count *= n
    return ptr[:count].reshape(shape)


def farray(ptr, shape, dtype=None):
    """In a kernel: the array of this shape, a tuple, in Fortran order, that begins where the pointer points."""
    count = 1
    for n in shape:
        count *= n
    return ptr[:count].reshape(shape[::-1]).T
