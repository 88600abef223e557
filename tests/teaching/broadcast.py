"""Broadcast: a column and a row make a matrix."""

import numpy as np
from xcuda import core as cuda

SMALL = {"n": 37, "m": 50}
BENCH = {"n": 2000, "m": 2000}
GPU = {"n": 8192, "m": 8192}


@cuda.jit
def broadcast(out, a, b):
    j, i = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = a[i, 0] + b[0, j]


def inputs(rng, n, m):
    return {
        "out": np.zeros((n, m), np.float32),
        "a": rng.random((n, 1), np.float32),
        "b": rng.random((1, m), np.float32),
    }


def launch(k, out, a, b):
    n, m = out.shape
    k.broadcast[(-(-m // 32), -(-n // 8)), (32, 8)](out, a, b)


def reference(out, a, b):
    return {"out": a + b}
