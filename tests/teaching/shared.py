"""Shared memory: each block turns its part of the array round."""

import numpy as np
from xcuda import core as cuda

SMALL = {"n": 1000}
BENCH = {"n": 4_000_000}
GPU = {"n": 1 << 26}
TPB = 256


@cuda.jit
def shared(out, a):
    part = cuda.shared.array(TPB, np.float32)
    t = cuda.threadIdx.x
    first = cuda.blockIdx.x * TPB
    i = first + t
    length = min(TPB, a.size - first)
    if i < a.size:
        part[t] = a[i]
    cuda.syncthreads()
    if i < a.size:
        out[i] = part[length - 1 - t] + 10


def inputs(rng, n):
    return {"out": np.zeros(n, np.float32), "a": rng.random(n, np.float32)}


def launch(k, out, a):
    k.shared[-(-a.size // TPB), TPB](out, a)


def reference(out, a):
    parts = [a[i : i + TPB][::-1] for i in range(0, a.size, TPB)]
    return {"out": np.concatenate(parts) + 10}
