"""Matrix product by tiles in shared memory."""

import numpy as np
from xcuda import core as cuda

SMALL = {"n": 33, "k": 20, "m": 47}
BENCH = {"n": 512, "k": 512, "m": 512}
GPU = {"n": 2048, "k": 2048, "m": 2048}
TILE = 16
RTOL = 1e-4


@cuda.jit
def matmul_tiled(C, A, B):
    a = cuda.shared.array((TILE, TILE), np.float32)
    b = cuda.shared.array((TILE, TILE), np.float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    j, i = cuda.grid(2)
    total = 0.0
    for t in range((A.shape[1] + TILE - 1) // TILE):
        a[ty, tx] = A[i, t * TILE + tx] if i < A.shape[0] and t * TILE + tx < A.shape[1] else 0
        b[ty, tx] = B[t * TILE + ty, j] if t * TILE + ty < B.shape[0] and j < B.shape[1] else 0
        cuda.syncthreads()
        for k in range(TILE):
            total += a[ty, k] * b[k, tx]
        cuda.syncthreads()
    if i < C.shape[0] and j < C.shape[1]:
        C[i, j] = total


def inputs(rng, n, k, m):
    return {
        "C": np.zeros((n, m), np.float32),
        "A": rng.random((n, k), np.float32),
        "B": rng.random((k, m), np.float32),
    }


def launch(k, C, A, B):
    n, m = C.shape
    k.matmul_tiled[(-(-m // TILE), -(-n // TILE)), (TILE, TILE)](C, A, B)


def reference(C, A, B):
    return {"C": A @ B}
