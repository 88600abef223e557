"""Blocks: a fixed grid walks over an array of any length (a grid-stride loop)."""

import numpy as np
from xcuda import core as cuda

SMALL = {"n": 30_000}
BENCH = {"n": 4_000_000}
GPU = {"n": 1 << 26}
BLOCKS, THREADS = 1056, 256
RTOL = 1e-6  # a fused multiply-add rounds once


@cuda.jit
def blocks(out, a):
    start = cuda.grid(1)
    stride = cuda.gridsize(1)
    for i in range(start, out.size, stride):
        out[i] = a[i] * a[i] + 10


def inputs(rng, n):
    return {"out": np.zeros(n, np.float32), "a": rng.random(n, np.float32)}


def launch(k, out, a):
    k.blocks[BLOCKS, THREADS](out, a)


def reference(out, a):
    return {"out": a * a + 10}
