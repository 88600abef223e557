"""The same work as numba's users write it for the CPU: njit, prange, all cores."""

import math

import numpy as np
from numba import njit, prange


@njit(parallel=True)
def matmul(a, b, c):
    for i in prange(c.shape[0]):
        for j in range(c.shape[1]):
            t = np.float32(0)
            for k in range(a.shape[1]):
                t += a[i, k] * b[k, j]
            c[i, j] = t


@njit(parallel=True)
def saxpy(alpha, x, y, out):
    for i in prange(out.size):
        out[i] = alpha * x[i] + y[i]


@njit(parallel=True)
def fused(x, out):
    for i in prange(out.size):
        out[i] = math.sin(x[i]) * math.cos(x[i]) + math.exp(-x[i])


@njit(parallel=True)
def total(x):
    s = np.float32(0)
    for i in prange(x.size):
        s += x[i]
    return s
