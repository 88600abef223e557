"""Vector addition: one element a thread."""

import numpy as np
from xcuda import core as cuda

SMALL = {"n": 1000}
BENCH = {"n": 4_000_000}
GPU = {"n": 1 << 26}


@cuda.jit
def vector_add(c, a, b):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


def inputs(rng, n):
    return {"c": np.zeros(n, np.float32), "a": rng.random(n, np.float32), "b": rng.random(n, np.float32)}


def launch(k, c, a, b):
    k.vector_add[-(-c.size // 256), 256](c, a, b)


def reference(c, a, b):
    return {"c": a + b}
