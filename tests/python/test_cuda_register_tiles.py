"""A thread's tile of registers on GPUs, as the optimiser asks for it: what can have one, its text, its results."""

import numpy as np
import pytest
import xcuda.core as cuda
from xcuda import _runtime
from xcuda.core.kernels import clone
from xcuda.core.signatures import types_from

NVRTC = next((row for row in _runtime.libraries() if row["name"] == "NVRTC"), None)
needs_nvrtc = pytest.mark.skipif(NVRTC is None or bool(NVRTC["problem"]), reason="NVRTC is not here")
GPU = next((d.label for d in cuda.devices() if d.kind == "cuda"), None)


@cuda.kernel
def product(A, B, C):
    i, j = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        t = 0.0
        for k in range(A.shape[1]):
            t += A[i, k] * B[k, j]
        C[i, j] = t


@cuda.kernel
def distances(X, Y, D):
    i, j = cuda.grid(2)
    if i < D.shape[0] and j < D.shape[1]:
        t = 0.0
        for k in range(Y.shape[0]):
            step = X[i, k] - Y[k, j]
            t += step * step
        D[i, j] = t


@cuda.kernel
def elementwise(a, b):
    i, j = cuda.grid(2)
    if i < b.shape[0] and j < b.shape[1]:
        b[i, j] = a[i, j] + 1


@cuda.kernel
def triangle(A, B, C):
    i, j = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        t = 0.0
        for k in range(i + 1):  # another length in each row
            t += A[i, k] * B[k, j]
        C[i, j] = t


@cuda.kernel
def gathered(A, B, C, order):
    i, j = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        t = 0.0
        for k in range(A.shape[1]):
            t += A[i, k] * B[k, order[j]]
        C[i, j] = t


def numbers(*shape, dtype=np.float32):
    return np.random.default_rng(7).integers(0, 6, shape).astype(dtype)


def three(n, k, m, dtype=np.float32):
    return numbers(n, k, dtype=dtype), numbers(k, m, dtype=dtype), np.zeros((n, m), dtype)


def with_rows(kernel, rows, **more):
    made = clone(kernel)
    _runtime.tune(made, rows=rows, **more)
    return made


def test_which_kernels_can_have_one():
    square = three(8, 8, 8)
    assert _runtime.layout(product, square)["most_rows"] == 8
    assert _runtime.layout(distances, square)["most_rows"] == 4  # two values a row
    assert _runtime.layout(elementwise, square[:2])["most_rows"] == 1
    assert _runtime.layout(triangle, square)["most_rows"] == 1
    assert _runtime.layout(gathered, (*square, np.arange(8)))["most_rows"] == 1


@needs_nvrtc
@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_120"])
@pytest.mark.parametrize("kernel", [product, distances], ids=["product", "distances"])
@pytest.mark.parametrize("rows", [2, 4, 8])
def test_it_compiles_without_spills(kernel, rows, target):
    made = with_rows(kernel, rows)
    found = _runtime.compile_for(made, types_from(three(8, 8, 8)), target, (32, 8, 1), True)
    assert found["local_bytes"] == 0
    rows = min(rows, _runtime.layout(kernel, three(8, 8, 8))["most_rows"])
    sums = [f"t_{r} = xc_each<f32x4>" for r in range(rows)]
    assert all(text in found["text"] for text in sums) and f"t_{rows} =" not in found["text"]


@needs_nvrtc
def test_without_it_the_text_has_none():
    found = _runtime.compile_for(clone(product), types_from(three(8, 8, 8)), "sm_90", (32, 8, 1), True)
    assert "f32x4" not in found["text"]


needs_gpu = pytest.mark.skipif(GPU is None, reason="there is no GPU here")


@needs_gpu
@pytest.mark.parametrize("rows", [2, 4, 8])
@pytest.mark.parametrize(
    "shape", [(64, 32, 128), (63, 31, 65), (1, 5, 3), (7, 1, 130), (200, 17, 4)], ids=str
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
def test_results_are_numpys(rows, shape, dtype):
    A, B, C = three(*shape, dtype=dtype)
    with cuda.Device(GPU):
        with_rows(product, rows)(A, B, C)
        np.testing.assert_array_equal(C, A @ B)
        D = np.zeros_like(C)
        with_rows(distances, rows)(A, B, D)
        np.testing.assert_array_equal(D, ((A[:, :, None] - B[None]) ** 2).sum(1))


@needs_gpu
def test_strided_arrays_and_blocks():
    A, B, C = three(48, 24, 40)
    wide = np.zeros((48, 80), np.float32)
    with cuda.Device(GPU):
        with_rows(product, 4, block=(16, 16, 1))(A[:, ::-1], B[::-1], wide[:, 1:41])
    np.testing.assert_array_equal(wide[:, 1:41], A @ B)
    assert not wide[:, 41:].any() and not wide[:, 0].any()


@needs_gpu
def test_an_index_out_of_range_is_told_as_ever():
    A, B, C = three(16, 24, 16)
    with cuda.Device(GPU), pytest.raises(IndexError, match="index 20 is out of range for axis 0 of B"):
        with_rows(product, 4)(A, B[:20], C)
