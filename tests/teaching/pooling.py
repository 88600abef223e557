"""Pooling: each element becomes the sum of itself and the two before it, by way of shared memory."""

import numpy as np
from xcuda import core as cuda

SMALL = {"n": 1000}
BENCH = {"n": 4_000_000}
GPU = {"n": 1 << 26}
TPB = 256


@cuda.jit
def pooling(out, a):
    window = cuda.shared.array(TPB + 2, np.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if i < a.size:
        window[t + 2] = a[i]
    if t < 2:
        window[t] = a[i - 2] if i >= 2 else 0
    cuda.syncthreads()
    if i < out.size:
        out[i] = window[t] + window[t + 1] + window[t + 2]


def inputs(rng, n):
    return {"out": np.zeros(n, np.float32), "a": rng.random(n, np.float32)}


def launch(k, out, a):
    k.pooling[-(-a.size // TPB), TPB](out, a)


def reference(out, a):
    padded = np.concatenate([np.zeros(2, np.float32), a])
    return {"out": padded[:-2] + padded[1:-1] + padded[2:]}
