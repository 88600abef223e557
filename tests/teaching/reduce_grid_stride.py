"""Sum of an array, third variant: a fixed grid, each thread adds many elements before the tree."""

import numpy as np
from xcuda import core as cuda

SMALL = {"n": 5000}
BENCH = {"n": 4_000_000}
GPU = {"n": 1 << 27}
TPB, BLOCKS = 256, 1056
RTOL = 1e-4


@cuda.jit
def reduce_grid_stride(out, a):
    part = cuda.shared.array(TPB, np.float32)
    t = cuda.threadIdx.x
    total = 0.0
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        total += a[i]
    part[t] = total
    cuda.syncthreads()
    step = TPB // 2
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        cuda.atomic.add(out, 0, part[0])


def inputs(rng, n):
    return {"out": np.zeros(1, np.float32), "a": rng.random(n, np.float32)}


def launch(k, out, a):
    k.reduce_grid_stride[BLOCKS, TPB](out, a)


def reference(out, a):
    return {"out": np.array([a.sum(dtype=np.float64)])}
