"""Sums along an axis: one block a row."""

import numpy as np
from xcuda import core as cuda

SMALL = {"rows": 9, "columns": 700}
BENCH = {"rows": 2000, "columns": 2000}
GPU = {"rows": 16384, "columns": 4096}
TPB = 256
RTOL = 1e-5


@cuda.jit
def axis_sum(out, a):
    part = cuda.shared.array(TPB, np.float32)
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    total = 0.0
    for j in range(t, a.shape[1], TPB):
        total += a[row, j]
    part[t] = total
    cuda.syncthreads()
    step = TPB // 2
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        out[row] = part[0]


def inputs(rng, rows, columns):
    return {"out": np.zeros(rows, np.float32), "a": rng.random((rows, columns), np.float32)}


def launch(k, out, a):
    k.axis_sum[out.size, TPB](out, a)


def reference(out, a):
    return {"out": a.sum(axis=1)}
