"""The same work as xcuda's users write it."""

import math

from xcuda import core as cuda


@cuda.kernel
def matrix_multiply(A, B, C):
    i, j = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        t = 0.0
        for k in range(A.shape[1]):
            t += A[i, k] * B[k, j]
        C[i, j] = t


@cuda.kernel
def tiled_multiply(A, B, C):
    s = cuda.shared.array((16, 16), dtype="float32")
    t = cuda.shared.array((16, 16), dtype="float32")
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    j, i = cuda.grid(2)
    total = 0.0
    for m in range(A.shape[1] // 16):
        s[y, x] = A[i, m * 16 + x]
        t[y, x] = B[m * 16 + y, j]
        cuda.syncthreads()
        for k in range(16):
            total += s[y, k] * t[k, x]
        cuda.syncthreads()
    C[i, j] = total


@cuda.kernel
def block_sum(x, partial):
    s = cuda.shared.array(256, dtype="float32")
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = x[i] if i < x.size else 0.0
    cuda.syncthreads()
    half = 128
    while half > 0:
        if t < half:
            s[t] += s[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        partial[cuda.blockIdx.x] = s[0]


@cuda.kernel
def saxpy(alpha, x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = alpha * x[i] + y[i]


@cuda.kernel
def fused(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = math.sin(x[i]) * math.cos(x[i]) + math.exp(-x[i])


def caller(kernel, grid, block, *arguments):
    """A call that launches and waits."""
    launch = kernel[grid, block]

    def call():
        launch(*arguments)
        cuda.synchronize()

    return call
