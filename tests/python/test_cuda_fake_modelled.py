"""Modelled figures of launches whose shape is ours on a GPU: those of the kernel as written, however threads share its elements."""

import numpy as np
from fake_cuda import need_nvrtc, on_fake
from xcuda import core as cuda
from xcuda import profiler


@cuda.kernel
def add_scaled(y, x, a):
    i = cuda.grid(1)
    if i < y.shape[0]:
        y[i] = a * x[i] + y[i]


@cuda.kernel
def matrix_multiply(A, B, C):
    i, j = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        total = 0.0
        for k in range(A.shape[1]):
            total += A[i, k] * B[k, j]
        C[i, j] = total


@cuda.kernel
def halved(out, a):
    i, j, k = cuda.grid(3)
    if i < out.shape[0] and j < out.shape[1] and k < out.shape[2]:
        out[i, j, k] = a[i, j, k] * np.float32(0.5)


def row_of(kernel, *arrays):
    with profiler.profile() as p:
        kernel(*arrays)
    return p.report.kernels[0]


@on_fake()
def test_each_element_counts_once():
    need_nvrtc()
    for n in (1 << 20, 1000003, 7, 1):
        x, y = cuda.zeros(n, "f4"), cuda.zeros(n, "f4")
        row = row_of(add_scaled, y, x, np.float32(2))
        assert row["flops"]["value"] == 2 * n
        assert (row["bytes_read"]["value"], row["bytes_written"]["value"]) == (8 * n, 4 * n)


@on_fake()
def test_axes_of_any_lengths():
    need_nvrtc()
    for m, k, n in ((512, 384, 256), (256, 3, 512), (1, 10, 1000), (1000, 10, 1), (70, 33, 129)):
        A, B, C = cuda.zeros((m, k), "f4"), cuda.zeros((k, n), "f4"), cuda.zeros((m, n), "f4")
        row = row_of(matrix_multiply, A, B, C)
        assert row["flops"]["value"] == 2 * m * k * n
    for shape in ((4, 30, 200), (200, 30, 4), (5, 1, 1)):
        a, out = cuda.zeros(shape, "f4"), cuda.zeros(shape, "f4")
        row = row_of(halved, out, a)
        assert row["bytes_written"]["value"] == 4 * a.size


@on_fake()
def test_a_shape_of_ones_own_counts_its_threads():
    need_nvrtc()
    x, y = cuda.zeros(1000, "f4"), cuda.zeros(1000, "f4")
    with profiler.profile() as p:
        add_scaled[2, 128](y, x, np.float32(2))
    assert p.report.kernels[0]["flops"]["value"] == 2 * 256
