"""Numbers that stop being finite, and results that hang on who comes first."""

import math

import numpy as np
import xcuda.core as cuda
from planted.pair import Pair, numbers, zeros


@cuda.kernel
def divided(dst, src):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        dst[i] = 1.0 / src[i]  # here


@cuda.kernel
def divided_where_it_may_be(dst, src):
    i = cuda.grid(1)
    if i < dst.shape[0] and src[i] != 0:
        dst[i] = 1.0 / src[i]


@cuda.kernel
def root_of_negative(dst, src):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        x = src[i] - 3.0
        dst[i] = math.sqrt(x)  # here


@cuda.kernel
def root_of_positive(dst, src):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        x = max(src[i] - 3.0, 0.0)
        dst[i] = math.sqrt(x)


@cuda.kernel
def overflows(dst, src):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        x = src[i] * np.float32(30)
        dst[i] = math.exp(x)  # here


@cuda.kernel
def softened(dst, src):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        x = src[i] * np.float32(30) - np.float32(120)
        dst[i] = math.exp(x)


@cuda.kernel
def passes_nan_on(dst, src):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        dst[i] = src[i] * 2 + 1  # what comes in as nan or inf is no birth


@cuda.kernel
def packed_by_arrival(out, count, src):
    i = cuda.grid(1)
    if i < src.shape[0] and src[i] > 2:
        at = cuda.atomic.add(count, 0, 1)
        out[at] = i  # here


@cuda.kernel
def packed_by_index(out, count, src):
    i = cuda.grid(1)
    if i < src.shape[0] and src[i] > 2:
        cuda.atomic.add(count, 0, 1)
        out[i] = i


def lines(n, dtype=np.float32):
    return lambda: (zeros(n, dtype=dtype), numbers(n, dtype=dtype))


def not_finite():
    x = numbers(200)
    x[3], x[5] = np.nan, np.inf
    return zeros(200), x


def packed():
    return zeros(256, dtype=np.int64), zeros(1, dtype=np.int64), numbers(256)


PAIRS = {
    "division": Pair(divided, divided_where_it_may_be, lines(200), None, "inf"),
    "root": Pair(root_of_negative, root_of_positive, lines(200), None, "nan"),
    "overflow": Pair(overflows, softened, lines(200), None, "inf"),
    "passed on": Pair(divided, passes_nan_on, lines(200), None, "inf", twin_arguments=not_finite),
    "arrival": Pair(packed_by_arrival, packed_by_index, packed, ((4,), (64,)), "order-dependent"),
}
