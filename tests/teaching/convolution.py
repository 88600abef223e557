"""1-D convolution: a block's elements and the few that follow them lie in shared memory, and so do the weights."""

import numpy as np
from xcuda import core as cuda

SMALL = {"n": 1000}
BENCH = {"n": 4_000_000}
GPU = {"n": 1 << 26}
TPB, TAPS = 256, 16
RTOL = 1e-5


@cuda.jit
def convolution(out, a, weights):
    tile = cuda.shared.array(TPB + TAPS, np.float32)
    taps = cuda.shared.array(TAPS, np.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[i] if i < a.size else 0
    if t < TAPS:
        taps[t] = weights[t]
        tile[TPB + t] = a[i + TPB] if i + TPB < a.size else 0
    cuda.syncthreads()
    total = 0.0
    for k in range(TAPS):
        total += tile[t + k] * taps[k]
    if i < out.size:
        out[i] = total


def inputs(rng, n):
    return {
        "out": np.zeros(n, np.float32),
        "a": rng.random(n, np.float32),
        "weights": rng.random(TAPS, np.float32),
    }


def launch(k, out, a, weights):
    k.convolution[-(-a.size // TPB), TPB](out, a, weights)


def reference(out, a, weights):
    padded = np.concatenate([a, np.zeros(TAPS - 1, np.float32)])
    return {"out": np.correlate(padded, weights, "valid")}
