"""packbits and unpackbits: eight booleans a byte."""

import numpy
from numpy.lib.array_utils import normalize_axis_index

from xcuda import core as cuda
from xcuda.core.own_kernel import own_kernel

from ._array import asarray
from ._creation import empty
from ._registry import TABLE, native
from ._stacks import device_array


@own_kernel(checked=False)
def _pack(out, values, little):
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        byte = 0
        for k in range(8):
            if j * 8 + k < values.shape[1] and values[i, j * 8 + k] != 0:
                byte |= 1 << (k if little else 7 - k)
        out[i, j] = byte


@own_kernel(checked=False)
def _unpack(out, values, little):
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        k = j % 8
        out[i, j] = values[i, j // 8] >> (k if little else 7 - k) & 1 if j // 8 < values.shape[1] else 0


def _as_rows(a, axis):
    """(a C-contiguous matrix whose rows lie along the axis, the shape before and after it)."""
    moved = TABLE["moveaxis"].function(a, axis, -1)
    lead = moved.shape[:-1]
    return device_array(moved.reshape(int(numpy.prod(lead)), moved.shape[-1])), lead


def _launch(kernel, out, rows, little):
    grid = (out.shape[0] + 7) // 8, (out.shape[1] + 31) // 32
    if all(grid):
        kernel[grid, (8, 32)](out.to_device_array(), rows, little)


@native("packbits")
def packbits(a, /, axis=None, bitorder="big"):
    """numpy.packbits: eight elements a byte, 1 where they are not zero."""
    if bitorder not in ("big", "little"):
        raise ValueError("'order' must be either 'little' or 'big'")
    little = bitorder == "little"
    a = asarray(a)
    if a.dtype.kind not in "biu":
        raise TypeError("Expected an input array of integer or boolean data type")
    a, axis = (a.reshape(-1), 0) if axis is None or a.ndim == 0 else (a, normalize_axis_index(axis, a.ndim))
    rows, lead = _as_rows(a, axis)
    made = empty((rows.shape[0], (rows.shape[1] + 7) // 8), "uint8")
    _launch(_pack(), made, rows, little)
    return TABLE["moveaxis"].function(made.reshape(*lead, made.shape[1]), -1, axis)


@native("unpackbits")
def unpackbits(a, /, axis=None, count=None, bitorder="big"):
    """numpy.unpackbits: the bits of bytes, each an element; `count` of them, or less its absolute value of all."""
    if bitorder[:1] not in ("b", "l"):
        raise ValueError("'order' must begin with 'l' or 'b'")
    little = bitorder[0] == "l"
    a = asarray(a)
    if a.dtype != numpy.uint8:
        raise TypeError("Expected an input array of unsigned byte data type")
    a, axis = (a.reshape(-1), 0) if axis is None or a.ndim == 0 else (a, normalize_axis_index(axis, a.ndim))
    rows, lead = _as_rows(a, axis)
    bits = rows.shape[1] * 8
    if count is not None:
        if count < 0 and -count > bits:
            raise ValueError("-count larger than number of elements")
        bits = count if count >= 0 else bits + count
    made = empty((rows.shape[0], bits), "uint8")
    _launch(_unpack(), made, rows, little)
    return TABLE["moveaxis"].function(made.reshape(*lead, bits), -1, axis)
