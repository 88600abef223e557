"""Bitonic sort in global memory: a launch for each step of the network."""

import numpy as np
from xcuda import core as cuda

SMALL = {"n": 1024}
BENCH = {"n": 1 << 17}
GPU = {"n": 1 << 24}


@cuda.jit
def bitonic_step(a, step, run):
    i = cuda.grid(1)
    other = i ^ step
    if other > i and other < a.size:
        ascending = i & run == 0
        x, y = a[i], a[other]
        if (x > y) == ascending:
            a[i], a[other] = y, x


def inputs(rng, n):
    return {"a": rng.random(n, np.float32)}


def launch(k, a):
    run = 2
    while run <= a.size:
        step = run // 2
        while step > 0:
            k.bitonic_step[-(-a.size // 256), 256](a, step, run)
            step //= 2
        run *= 2


def reference(a):
    return {"a": np.sort(a)}
