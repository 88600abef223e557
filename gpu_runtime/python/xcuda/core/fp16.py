"""numba's functions on float16: `cuda.fp16.hadd(a, b)` and the like, for kernels.

They do what the operators and NumPy's functions do on float16; arguments of other types are converted.
"""

import functools

import numpy as np

from xcuda.core.kernels import device_function

_unary = functools.partial(device_function, signature="float16(float16)")
_binary = functools.partial(device_function, signature="float16(float16, float16)")
_compare = functools.partial(device_function, signature="bool(float16, float16)")


@_unary
def hneg(a):
    """-a"""
    return -a


@_unary
def habs(a):
    """abs(a)"""
    return abs(a)


@_unary
def hsin(a):
    """np.sin(a)"""
    return np.sin(a)


@_unary
def hcos(a):
    """np.cos(a)"""
    return np.cos(a)


@_unary
def hlog(a):
    """np.log(a)"""
    return np.log(a)


@_unary
def hlog2(a):
    """np.log2(a)"""
    return np.log2(a)


@_unary
def hlog10(a):
    """np.log10(a)"""
    return np.log10(a)


@_unary
def hexp(a):
    """np.exp(a)"""
    return np.exp(a)


@_unary
def hexp2(a):
    """np.exp2(a)"""
    return np.exp2(a)


@_unary
def hexp10(a):
    """10.0 ** np.float32(a)"""
    return 10.0 ** np.float32(a)


@_unary
def hsqrt(a):
    """np.sqrt(a)"""
    return np.sqrt(a)


@_unary
def hrsqrt(a):
    """1.0 / np.sqrt(np.float32(a))"""
    return 1.0 / np.sqrt(np.float32(a))


@_unary
def hrcp(a):
    """1.0 / a"""
    return 1.0 / a


@_unary
def hceil(a):
    """np.ceil(a)"""
    return np.ceil(a)


@_unary
def hfloor(a):
    """np.floor(a)"""
    return np.floor(a)


@_unary
def htrunc(a):
    """np.trunc(a)"""
    return np.trunc(a)


@_unary
def hrint(a):
    """np.rint(a)"""
    return np.rint(a)


@_binary
def hadd(a, b):
    """a + b"""
    return a + b


@_binary
def hsub(a, b):
    """a - b"""
    return a - b


@_binary
def hmul(a, b):
    """a * b"""
    return a * b


@_binary
def hdiv(a, b):
    """a / b"""
    return a / b


@_binary
def hmax(a, b):
    """The larger; NaN loses to a number."""
    return np.fmax(a, b)


@_binary
def hmin(a, b):
    """The smaller; NaN loses to a number."""
    return np.fmin(a, b)


@device_function("float16(float16, float16, float16)")
def hfma(a, b, c):
    """a * b + c, rounded once"""
    return np.float64(a) * np.float64(b) + np.float64(c)


@_compare
def heq(a, b):
    """a == b"""
    return a == b


@_compare
def hne(a, b):
    """a != b"""
    return a != b


@_compare
def hge(a, b):
    """a >= b"""
    return a >= b


@_compare
def hgt(a, b):
    """a > b"""
    return a > b


@_compare
def hle(a, b):
    """a <= b"""
    return a <= b


@_compare
def hlt(a, b):
    """a < b"""
    return a < b
