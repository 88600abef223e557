"""Faults of arithmetic: wider numbers than the arrays have, divisions in loops."""

import numpy as np
import xcuda.core as cuda

from planted.pair import Pair, numbers, zeros


@cuda.kernel
def integers_divided(dst, n):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        dst[i] = dst[i] * (i / n)  # here


@cuda.kernel
def singles_divided(dst, n):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        dst[i] = dst[i] * (np.float32(i) / np.float32(n))


@cuda.kernel
def a_double_argument(dst, src, gain):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        dst[i] = src[i] * gain  # here


@cuda.kernel
def a_single_argument(dst, src, gain):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        dst[i] = src[i] * np.float32(gain)


@cuda.kernel
def a_double_constant(dst, src):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        dst[i] = src[i] + np.float64(0.5)  # here


@cuda.kernel
def a_plain_constant(dst, src):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        dst[i] = src[i] + 0.5


@cuda.kernel
def wraps_by_division(dst, n):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        k = i
        for turn in range(8):
            k = (k + 7) % n  # here
        dst[i] = k


@cuda.kernel
def wraps_by_constant(dst):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        k = i
        for turn in range(8):
            k = (k + 7) % 60
        dst[i] = k


@cuda.kernel
def row_by_remainder(dst, src):
    j, i = cuda.grid(2)
    if i < dst.shape[0] and j < dst.shape[1]:
        t = 0.0
        for k in range(7):
            t += src[(i + k) % src.shape[0], j]  # here
        dst[i, j] = t


@cuda.kernel
def row_counted(dst, src):
    j, i = cuda.grid(2)
    if i < dst.shape[0] and j < dst.shape[1]:
        t = 0.0
        row = i
        for k in range(7):
            t += src[row, j]
            row += 1
            if row == src.shape[0]:
                row = 0
        dst[i, j] = t


def line(dtype=np.float32):
    return numbers(1024, dtype=dtype)


PAIRS = {
    "integers divided": Pair(
        integers_divided, singles_divided, lambda: (line(), np.int64(4)), None, "float64-arithmetic"
    ),
    "double argument": Pair(
        a_double_argument,
        a_single_argument,
        lambda: (line(), line(), np.float64(0.5)),
        None,
        "float64-arithmetic",
    ),
    "double constant": Pair(
        a_double_constant, a_plain_constant, lambda: (line(), line()), None, "float64-arithmetic"
    ),
    "remainder": Pair(
        wraps_by_division,
        wraps_by_constant,
        lambda: (line(np.int64), 60),
        None,
        "integer-division",
        twin_arguments=lambda: (line(np.int64),),
    ),
    "row by remainder": Pair(
        row_by_remainder,
        row_counted,
        lambda: (zeros(64, 64), numbers(64, 64)),
        ((2, 64), (32, 1)),
        "integer-division",
    ),
}
