"""The normal and the exponential distribution in kernels, by 256 layers of equal area (Marsaglia and Tsang, 2000).

`t` is the table (6, 256) of _tables: limits, widths and densities of the normal layers, then of the exponential ones.
Draw for draw what NumPy does.
"""

import math

import numpy as np

from ._streams import next32, next64, next_double, next_float

_U = np.uint64
_R, _R32 = 3.6541528853610088, np.float32(3.6541528853610088)  # where the normal tail begins
_E, _E32 = 7.69711747013104972, np.float32(7.69711747013104972)  # where the exponential tail begins
_INVERSE_R, _INVERSE_R32 = 0.27366123732975828, np.float32(0.27366123732975828)
_HALF32, _ONE32 = np.float32(0.5), np.float32(1)


def standard_normal(s, t):
    """A float64 of mean 0 and deviation 1."""
    while True:
        bits = next64(s)
        layer = np.int64(bits & _U(255))
        size = bits >> 9 & _U(0xFFFFFFFFFFFFF)
        x = np.float64(size) * t[1, layer]
        x = -x if bits & _U(256) else x
        if np.float64(size) < t[0, layer]:
            return x
        if layer == 0:
            while True:
                xx = -_INVERSE_R * math.log1p(-next_double(s))
                yy = -math.log1p(-next_double(s))
                if yy + yy > xx * xx:
                    return -(_R + xx) if size & _U(256) else _R + xx
        elif (t[2, layer - 1] - t[2, layer]) * next_double(s) + t[2, layer] < math.exp(-0.5 * x * x):
            return x


def standard_exponential(s, t):
    """A float64 of mean 1."""
    while True:
        bits = next64(s) >> 3
        layer = np.int64(bits & _U(255))
        size = np.float64(bits >> 8)
        x = size * t[4, layer]
        if size < t[3, layer]:
            return x
        if layer == 0:
            return _E - math.log1p(-next_double(s))
        if (t[5, layer - 1] - t[5, layer]) * next_double(s) + t[5, layer] < math.exp(-x):
            return x


def standard_normal_single(s, t):
    """A float32 of mean 0 and deviation 1, from 32-bit draws."""
    while True:
        bits = next32(s)
        layer = np.int64(bits & _U(255))
        size = bits >> 9 & _U(0x7FFFFF)
        x = np.float32(size) * t[1, layer]
        x = -x if bits & _U(256) else x
        if np.float32(size) < t[0, layer]:
            return x
        if layer == 0:
            while True:
                xx = -_INVERSE_R32 * math.log1p(-next_float(s))
                yy = -math.log1p(-next_float(s))
                if yy + yy > xx * xx:
                    return -(_R32 + xx) if size & _U(256) else _R32 + xx
        else:
            wide = np.float64(x)
            if (t[2, layer - 1] - t[2, layer]) * next_float(s) + t[2, layer] < math.exp(-0.5 * wide * wide):
                return x


def standard_exponential_single(s, t):
    """A float32 of mean 1, from 32-bit draws."""
    while True:
        bits = next32(s) >> 1
        layer = np.int64(bits & _U(255))
        size = np.float32(bits >> 8)
        x = size * t[4, layer]
        if size < t[3, layer]:
            return x
        if layer == 0:
            return _E32 - math.log1p(-next_float(s))
        if (t[5, layer - 1] - t[5, layer]) * next_float(s) + t[5, layer] < math.exp(-x):
            return x
