"""Sum of an array, first variant: neighbours meet first, threads diverge."""

import numpy as np
from xcuda import core as cuda

SMALL = {"n": 3000}
BENCH = {"n": 4_000_000}
GPU = {"n": 1 << 26}
TPB = 256
RTOL = 1e-5


@cuda.jit
def reduce_interleaved(sums, a):
    part = cuda.shared.array(TPB, np.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = a[i] if i < a.size else 0
    cuda.syncthreads()
    step = 1
    while step < TPB:
        if t % (2 * step) == 0:
            part[t] += part[t + step]
        cuda.syncthreads()
        step *= 2
    if t == 0:
        sums[cuda.blockIdx.x] = part[0]


def inputs(rng, n):
    return {"sums": np.zeros(-(-n // TPB), np.float32), "a": rng.random(n, np.float32)}


def launch(k, sums, a):
    k.reduce_interleaved[sums.size, TPB](sums, a)


def reference(sums, a):
    return {"sums": np.add.reduceat(a.astype(np.float64), np.arange(0, a.size, TPB))}
