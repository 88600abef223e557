"""Shortest paths between all pairs: a launch for each city that a path may lead over."""

import numpy as np
from xcuda import core as cuda

SMALL = {"n": 50}
BENCH = {"n": 400}
GPU = {"n": 4096}


@cuda.jit
def floyd_warshall(d, k):
    j, i = cuda.grid(2)
    if i < d.shape[0] and j < d.shape[1]:
        d[i, j] = min(d[i, j], d[i, k] + d[k, j])


def inputs(rng, n):
    d = rng.integers(1, 1000, (n, n)).astype(np.float32)
    d[rng.random((n, n)) < 0.7] = np.inf
    np.fill_diagonal(d, 0)
    return {"d": d}


def launch(k, d):
    n = d.shape[0]
    for over in range(n):
        k.floyd_warshall[(-(-n // 32), -(-n // 8)), (32, 8)](d, over)


def reference(d):
    for k in range(d.shape[0]):
        d = np.minimum(d, d[:, k, None] + d[k])
    return {"d": d}
