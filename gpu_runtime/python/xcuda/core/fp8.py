"""numba's 8-bit floating formats for kernels: `fp8_e4m3(x)` and CUDA's conversions to and from their bits.

A number x becomes float8_e4m3fn, float8_e5m2 or float8_e8m0fnu, the nearest one, saturating; ml_dtypes' dtypes of these
names are casts, too, which overflow to NaN or infinity as NumPy's astype does.
"""

import enum
from typing import NamedTuple

import numpy as np

from xcuda.core import language
from xcuda.core.types import bfloat16, uint8, uint16

_functions = language.__getattr__("fp8")
fp8_e4m3, fp8_e5m2, fp8_e8m0 = _functions.fp8_e4m3, _functions.fp8_e5m2, _functions.fp8_e8m0
cvt_to_fp8, cvt_to_e8m0, e8m0_of_bits = (
    _functions.cvt_to_fp8,
    _functions.cvt_to_e8m0,
    _functions.e8m0_of_bits,
)
_bf16 = language.__getattr__("bf16")


class saturation_t(enum.IntEnum):
    """What becomes of a number above the largest: infinity or NaN, or the largest."""

    NOSAT = 0
    SATFINITE = 1


class fp8_interpretation_t(enum.IntEnum):
    """Which format bits are of."""

    E4M3 = 0
    E5M2 = 1


class cudaRoundMode(enum.IntEnum):
    """CUDA's rounding modes; conversions to float8_e8m0fnu take cudaRoundZero and cudaRoundPosInf."""

    cudaRoundNearest = 0
    cudaRoundZero = 1
    cudaRoundPosInf = 2
    cudaRoundMinInf = 3


class bfloat16_raw(NamedTuple):
    """The bits of a bfloat16."""

    x: int


def cvt_float_to_fp8(x, saturate, fp8_interpretation):
    """The bits of a float32 in the format, as uint8."""
    return cvt_to_fp8(np.float32(x), saturate, fp8_interpretation)


def cvt_double_to_fp8(x, saturate, fp8_interpretation):
    """The bits of a float64 in the format, as uint8."""
    return cvt_to_fp8(np.float64(x), saturate, fp8_interpretation)


def cvt_bfloat16raw_to_fp8(x, saturate, fp8_interpretation):
    """The bits of a bfloat16, given by its bits, in the format, as uint8."""
    return cvt_to_fp8(np.float32(_bf16.uint16_as_bfloat16(x.x)), saturate, fp8_interpretation)


def cvt_float_to_e8m0(x, saturate, rounding):
    """The bits of |x|, a float32, as a power of two, as uint8."""
    assert rounding == 1 or rounding == 2, "rounding is cudaRoundZero or cudaRoundPosInf"
    return cvt_to_e8m0(np.float32(x), saturate, rounding == 2)


def cvt_double_to_e8m0(x, saturate, rounding):
    """The bits of |x|, a float64, as a power of two, as uint8."""
    assert rounding == 1 or rounding == 2, "rounding is cudaRoundZero or cudaRoundPosInf"
    return cvt_to_e8m0(np.float64(x), saturate, rounding == 2)


def cvt_bfloat16raw_to_e8m0(x, saturate, rounding):
    """The bits of |x|, a bfloat16 given by its bits, as a power of two, as uint8."""
    assert rounding == 1 or rounding == 2, "rounding is cudaRoundZero or cudaRoundPosInf"
    return cvt_to_e8m0(np.float32(_bf16.uint16_as_bfloat16(x.x)), saturate, rounding == 2)


def cvt_e8m0_to_bf16raw(x):
    """The bits of the bfloat16 that is the power of two of these bits; its `.x` is a uint16."""
    return bfloat16_raw(uint16(_bf16.bfloat16_as_uint16(bfloat16(e8m0_of_bits(uint8(x))))))


__all__ = [
    "cvt_to_fp8",
    "cvt_to_e8m0",
    "e8m0_of_bits",
    "fp8_e4m3",
    "fp8_e5m2",
    "fp8_e8m0",
    "saturation_t",
    "fp8_interpretation_t",
    "cudaRoundMode",
    "bfloat16_raw",
    "cvt_float_to_fp8",
    "cvt_double_to_fp8",
    "cvt_bfloat16raw_to_fp8",
    "cvt_float_to_e8m0",
    "cvt_double_to_e8m0",
    "cvt_bfloat16raw_to_e8m0",
    "cvt_e8m0_to_bf16raw",
]
