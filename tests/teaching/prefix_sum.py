"""Prefix sum of a long array: blocks by Hillis and Steele, then the sums of the blocks, then both together."""

import numpy as np
from xcuda import core as cuda

SMALL = {"n": 5000}
BENCH = {"n": 4_000_000}
GPU = {"n": 1 << 26}
TPB = 512


@cuda.jit
def scan_blocks(out, sums, a):
    part = cuda.shared.array(TPB, np.int32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = a[i] if i < a.size else 0
    cuda.syncthreads()
    step = 1
    while step < TPB:
        value = part[t]
        if t >= step:
            value += part[t - step]
        cuda.syncthreads()
        part[t] = value
        cuda.syncthreads()
        step *= 2
    if i < a.size:
        out[i] = part[t]
    if t == TPB - 1:
        sums[cuda.blockIdx.x] = part[t]


@cuda.jit
def add_offsets(out, offsets):
    i = cuda.grid(1)
    if cuda.blockIdx.x > 0 and i < out.size:
        out[i] += offsets[cuda.blockIdx.x - 1]


def inputs(rng, n):
    blocks = -(-n // TPB)
    groups = -(-blocks // TPB)
    return {
        "out": np.zeros(n, np.int32),
        "a": rng.integers(0, 10, n, dtype=np.int32),
        "sums": np.zeros(blocks, np.int32),
        "group_sums": np.zeros(groups, np.int32),
        "total": np.zeros(1, np.int32),
    }


def launch(k, out, a, sums, group_sums, total):
    k.scan_blocks[sums.size, TPB](out, sums, a)
    k.scan_blocks[group_sums.size, TPB](sums, group_sums, sums)
    k.scan_blocks[1, TPB](group_sums, total, group_sums)
    k.add_offsets[group_sums.size, TPB](sums, group_sums)
    k.add_offsets[sums.size, TPB](out, sums)


def reference(out, a, sums, group_sums, total):
    return {"out": np.cumsum(a, dtype=np.int32), "total": a.sum(keepdims=True)}
