"""Map: a function of each element."""

import numpy as np
from xcuda import core as cuda

SMALL = {"n": 1000}
BENCH = {"n": 4_000_000}
GPU = {"n": 1 << 26}
RTOL = 1e-6  # a fused multiply-add rounds once


@cuda.jit
def map_1d(out, a):
    i = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    if i < out.shape[0]:
        out[i] = 3 * a[i] + 10


def inputs(rng, n):
    return {"out": np.zeros(n, np.float32), "a": rng.random(n, np.float32)}


def launch(k, out, a):
    k.map_1d[-(-out.size // 256), 256](out, a)


def reference(out, a):
    return {"out": 3 * a + 10}
