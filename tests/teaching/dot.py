"""Dot product: a tree in shared memory for each block, blocks joined by an atomic addition."""

import numpy as np
from xcuda import core as cuda

SMALL = {"n": 3000}
BENCH = {"n": 4_000_000}
GPU = {"n": 1 << 26}
TPB = 256
RTOL = 1e-4


@cuda.jit
def dot(out, a, b):
    products = cuda.shared.array(TPB, np.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    products[t] = a[i] * b[i] if i < a.size else 0
    cuda.syncthreads()
    step = TPB // 2
    while step > 0:
        if t < step:
            products[t] += products[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        cuda.atomic.add(out, 0, products[0])


def inputs(rng, n):
    return {"out": np.zeros(1, np.float32), "a": rng.random(n, np.float32), "b": rng.random(n, np.float32)}


def launch(k, out, a, b):
    k.dot[-(-a.size // TPB), TPB](out, a, b)


def reference(out, a, b):
    return {"out": np.array([np.dot(a.astype(np.float64), b)])}
