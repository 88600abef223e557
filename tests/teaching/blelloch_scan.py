"""Blelloch's scan, exclusive: up-sweep and down-sweep in shared memory; each block scans its own part."""

import numpy as np
from xcuda import core as cuda

SMALL = {"parts": 5}
BENCH = {"parts": 4000}
GPU = {"parts": 1 << 16}
TPB = 512
PART = 2 * TPB


@cuda.jit
def blelloch_scan(out, a):
    tree = cuda.shared.array(PART, np.int32)
    t = cuda.threadIdx.x
    first = cuda.blockIdx.x * PART
    tree[2 * t] = a[first + 2 * t]
    tree[2 * t + 1] = a[first + 2 * t + 1]
    offset = 1
    nodes = PART // 2
    while nodes > 0:
        cuda.syncthreads()
        if t < nodes:
            left = offset * (2 * t + 1) - 1
            right = offset * (2 * t + 2) - 1
            tree[right] += tree[left]
        offset *= 2
        nodes //= 2
    if t == 0:
        tree[PART - 1] = 0
    nodes = 1
    while nodes < PART:
        offset //= 2
        cuda.syncthreads()
        if t < nodes:
            left = offset * (2 * t + 1) - 1
            right = offset * (2 * t + 2) - 1
            held = tree[left]
            tree[left] = tree[right]
            tree[right] += held
        nodes *= 2
    cuda.syncthreads()
    out[first + 2 * t] = tree[2 * t]
    out[first + 2 * t + 1] = tree[2 * t + 1]


def inputs(rng, parts):
    a = rng.integers(0, 100, parts * PART, dtype=np.int32)
    return {"out": np.zeros_like(a), "a": a}


def launch(k, out, a):
    k.blelloch_scan[a.size // PART, TPB](out, a)


def reference(out, a):
    parts = a.reshape(-1, PART)
    return {"out": (np.cumsum(parts, axis=1) - parts).reshape(-1)}
