"""Histogram: atomic additions to a block's bins in shared memory, then to the array."""

import numpy as np
from xcuda import core as cuda

SMALL = {"n": 5000}
BENCH = {"n": 4_000_000}
GPU = {"n": 1 << 27}
BINS, BLOCKS = 256, 1056


@cuda.jit
def histogram(bins, values):
    mine = cuda.shared.array(BINS, np.int32)
    t = cuda.threadIdx.x
    mine[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        cuda.atomic.add(mine, values[i], 1)
    cuda.syncthreads()
    cuda.atomic.add(bins, t, mine[t])


def inputs(rng, n):
    return {"bins": np.zeros(BINS, np.int32), "values": rng.integers(0, BINS, n, dtype=np.uint8)}


def launch(k, bins, values):
    blocks = min(BLOCKS, -(-values.size // BINS))
    k.histogram[blocks, BINS](bins, values)


def reference(bins, values):
    return {"bins": np.bincount(values, minlength=BINS)}
