"""Rows that a block's threads share, fetched into shared memory, as the optimiser asks for it: which kernels can have them,
their text on three GPUs, and their results, of the same text run on the host's threads."""

import ctypes

import host_cuda
import host_gpu
import numpy as np
import pytest
import xcuda.core as cuda
from fake_cuda import need_nvrtc
from xcuda import _runtime
from xcuda.core.kernels import clone
from xcuda.core.signatures import types_from

GPU = next((d.label for d in cuda.devices() if d.kind == "cuda"), None)


@cuda.kernel
def product(C, A, B):
    i, j = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        t = 0.0
        for k in range(A.shape[1]):
            t += A[i, k] * B[k, j]
        C[i, j] = t


@cuda.kernel
def batches(C, A, B):
    i, j = cuda.grid(2)
    if i < C.shape[1] and j < C.shape[2]:
        for b in range(C.shape[0]):
            t = 0.0
            for k in range(1, A.shape[2]):
                t += A[b, i, k] * B[k - 1, j]
            C[b, i, j] = t


@cuda.kernel
def row_sums(y, A):
    i = cuda.grid(1)
    if i < y.size:
        t = 0.0
        for k in range(A.shape[1]):
            if A[i, k] == 3:
                continue
            t += A[i, k] * k
        y[i] = t


@cuda.kernel
def transpose(b, a):
    i, j = cuda.grid(2)
    if i < b.shape[0] and j < b.shape[1]:
        b[i, j] = a[j, i]


@cuda.kernel
def blurred(b, a):
    i, j = cuda.grid(2)
    if 0 < i < b.shape[0] - 1 and 0 < j < b.shape[1] - 1:
        t = 0.0
        for di in range(-1, 2):
            for dj in range(-1, 2):
                t += a[i + di, j + dj]
        b[i, j] = t


@cuda.kernel
def smoothed(b, a):
    i = cuda.grid(1)
    if 2 <= i < b.size - 2:
        b[i] = a[i - 2] + a[i - 1] + a[i] * 2 + a[i + 1] + a[i + 2]


@cuda.kernel
def pairs(D, X):
    i, j = cuda.grid(2)
    if i < D.shape[0] and j < D.shape[1]:
        t = 0.0
        for k in range(X.shape[1]):
            step = X[i, k] - X[j, k]
            t += step * step
        D[i, j] = t


STAGED = [product, batches, row_sums, transpose, blurred, smoothed, pairs]
named = pytest.mark.parametrize("kernel", STAGED, ids=lambda k: k.__name__)


def numbers(*shape, dtype=np.float32):
    return np.random.default_rng(7).integers(0, 6, shape).astype(dtype)


def sample(kernel, n, m, k, dtype=np.float32):
    """(arguments, what the first of them is then)."""
    out = np.zeros((n, m), dtype)
    if kernel is product:
        A, B = numbers(n, k, dtype=dtype), numbers(k, m, dtype=dtype)
        return (out, A, B), A @ B
    if kernel is batches:
        A, B = numbers(3, n, k, dtype=dtype), numbers(k, m, dtype=dtype)
        return (np.zeros((3, n, m), dtype), A, B), A[:, :, 1:] @ B[:-1]
    if kernel is row_sums:
        A = numbers(n, k, dtype=dtype)
        return (np.zeros(n, dtype), A), (np.where(A == 3, 0, A) * np.arange(k)).sum(1)
    if kernel is transpose:
        a = numbers(m, n, dtype=dtype)
        return (out, a), a.T
    if kernel is blurred:
        a = numbers(n, m, dtype=dtype)
        want = out.copy()
        for di in (-1, 0, 1):
            for dj in (-1, 0, 1):
                want[1:-1, 1:-1] += a[1 + di : n - 1 + di, 1 + dj : m - 1 + dj]
        return (out, a), want
    if kernel is smoothed:
        a = numbers(n, dtype=dtype)
        want = np.zeros(n, dtype)
        want[2:-2] = a[:-4] + a[1:-3] + 2 * a[2:-2] + a[3:-1] + a[4:]
        return (np.zeros(n, dtype), a), want
    X = numbers(max(n, m), k, dtype=dtype)
    return (out, X), ((X[:n, None] - X[None, :m]) ** 2).sum(2)


def staged(kernel, **changes):
    made = clone(kernel)
    _runtime.tune(made, **{"staged": 8, **changes})
    return made


def found_for(kernel, values, block, target="sm_90", **changes):
    need_nvrtc()
    return _runtime.compile_for(staged(kernel, **changes), types_from(values), target, block, True)


def block_of(kernel):
    return (
        (64, 1, 1) if len(_runtime.layout(kernel, sample(kernel, 9, 9, 9)[0])["domain"]) == 1 else (8, 4, 1)
    )


def on_the_host(kernel, values, block, **changes):
    """Runs the staged text over arrays of the host; the kind of the first fault, and how often threads met."""
    host_cuda.need_compiler()
    found = found_for(kernel, values, block, **changes)
    layout = _runtime.layout(staged(kernel, **changes), values)
    lengths = [1, 1, 1]
    for axis, n in enumerate(layout["domain"]):
        lengths[layout["order"][axis]] = n
    lengths[0] = -(-lengths[0] // layout["elements"])
    lengths[layout["row_axis"]] = -(-lengths[layout["row_axis"]] // layout["rows"])
    grid = [-(-n // b) for n, b in zip(lengths, block, strict=True)]
    counting = found["full_text"].replace("__syncthreads();", "__syncthreads(), ++host_meetings;")
    library = host_gpu.library('extern "C" { int host_meetings; }\n' + counting, found["entry"])
    meetings = ctypes.c_int.in_dll(library, "host_meetings")
    meetings.value = 0
    fault = (ctypes.c_char * 256)()
    shape = [(ctypes.c_uint * 3)(*n) for n in (grid, block)]
    kind = library.host_run(host_cuda.packed(values), fault, *shape)
    return kind, meetings.value


@named
def test_which_kernels_can_have_them(kernel):
    values, _ = sample(kernel, 33, 35, 37)
    assert _runtime.layout(kernel, values)["staged"]
    text = found_for(kernel, values, block_of(kernel))["text"]
    assert "__shared__" in text and "__syncthreads" in text and "xc_apart" in text
    _runtime.tune(plain := clone(kernel))
    text = _runtime.compile_for(plain, types_from(values), "sm_90", block_of(kernel), True)["text"]
    assert "__shared__" not in text


@named
@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_120"])
def test_they_compile_without_spills(kernel, target):
    values, _ = sample(kernel, 33, 35, 37)
    for turns in (8, 16, 32):
        found = found_for(
            kernel, values, (256, 1, 1) if block_of(kernel)[1] == 1 else (32, 8, 1), target, staged=turns
        )
        assert found["local_bytes"] == 0 and 0 < found["shared_bytes"] <= 48 * 1024


@named
@pytest.mark.parametrize("shape", [(24, 32, 24), (21, 37, 19), (5, 3, 2)], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_results_are_numpys(kernel, shape, dtype):
    values, want = sample(kernel, *shape, dtype=dtype)
    if kernel in (row_sums, smoothed):  # of a few blocks
        values, want = sample(kernel, 32 * shape[0], *shape[1:], dtype=dtype)
    fault, meetings = on_the_host(kernel, values, block_of(kernel))
    np.testing.assert_array_equal(values[0], want)
    assert fault == 0 and (meetings > 0 or shape == (5, 3, 2))


@pytest.mark.parametrize("elements", [None, 2, 8])
@pytest.mark.parametrize("shape", [(40, 64, 24), (37, 75, 19)], ids=str)
def test_tiles_of_registers_read_them(shape, elements):
    values, want = sample(product, *shape)
    fault, meetings = on_the_host(product, values, (4, 4, 1), rows=4, elements=elements)
    np.testing.assert_array_equal(values[0], want)
    assert fault == 0 and meetings > 0


def test_vectors_read_them():
    values, want = sample(smoothed, 1000, 1, 1)
    fault, meetings = on_the_host(smoothed, values, (32, 1, 1), elements=2)
    np.testing.assert_array_equal(values[0], want)
    assert fault == 0 and meetings > 0


def test_strided_arrays():
    (C, A, B), want = sample(product, 24, 32, 24)
    wide = np.zeros((24, 70), np.float32)
    values = (wide[:, 1:65:2], np.asfortranarray(A)[:, ::-1], np.repeat(B, 2, 0)[::-2])
    fault, meetings = on_the_host(product, values, (8, 4, 1))
    np.testing.assert_array_equal(values[0], want)
    assert fault == 0 and meetings > 0 and not wide[:, ::2].any()


@pytest.mark.parametrize("step", [1, -1])
def test_an_array_that_is_written_elsewhere_is_not_staged(step):
    """Each thread reads its own row, and writes into it: staged rows would be those of before."""

    @cuda.kernel
    def running(out, A):
        i = cuda.grid(1)
        if i < out.shape[0]:
            for k in range(A.shape[1] - 1):
                out[i, k + 1] = A[i, k] + 1

    values, _ = sample(row_sums, 128, 1, 40)
    A = values[1][::step]
    assert _runtime.layout(running, (A.copy(), A))["staged"]
    fault, meetings = on_the_host(running, (A, A), (64, 1, 1))
    assert fault == 0 and meetings == 0
    np.testing.assert_array_equal(A, A[:, :1] + np.arange(40))
    out = np.zeros_like(A)
    fault, meetings = on_the_host(running, (out, A), (64, 1, 1))
    assert fault == 0 and meetings > 0
    np.testing.assert_array_equal(out[:, 1:], A[:, :-1] + 1)


def test_a_tile_beyond_its_array_is_told_as_ever():
    (C, A, B), _ = sample(product, 24, 32, 24)
    fault, meetings = on_the_host(product, (C, A, B[:20]), (8, 4, 1))
    assert fault == 1 and meetings == 0  # an index


@cuda.kernel
def in_place(C, B):
    i, j = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        for k in range(C.shape[1]):
            C[i, j] += C[i, k] * B[k, 0]


@cuda.kernel
def gathered(C, A, order):
    i, j = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        t = 0.0
        for k in range(A.shape[1]):
            t += A[order[i], k]
        C[i, j] = t


@cuda.kernel
def triangle(C, A, B):
    i, j = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        t = 0.0
        for k in range(i + 1):  # threads of a block would come to other barriers
            t += A[i, k] * B[k, j]
        C[i, j] = t


@cuda.kernel
def stopped(C, A, B):
    i, j = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        t = 0.0
        for k in range(A.shape[1]):
            if A[i, k] > 4:
                break
            t += A[i, k] * B[k, j]
        C[i, j] = t


@cuda.kernel
def under_a_branch(C, A, B):
    i, j = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        t = 0.0
        if C[i, j] > 2:
            for k in range(A.shape[1]):
                t += A[i, k] * B[k, j]
        C[i, j] = t


@cuda.kernel
def read_after(C, A, B):
    i, j = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        k = 0
        t = 0.0
        for k in range(A.shape[1]):
            t += A[i, k] * B[k, j]
        C[i, j] = t + k


@cuda.kernel
def meeting(C, A):
    i, j = cuda.grid(2)
    for k in range(A.shape[1]):
        cuda.syncthreads()
        C[i, j] += A[i, k]


@cuda.kernel
def once(b, a):
    i, j = cuda.grid(2)
    if i < b.shape[0] and j < b.shape[1]:
        b[i, j] = a[i, j] + 1


@pytest.mark.parametrize(
    "kernel",
    [in_place, gathered, triangle, stopped, under_a_branch, read_after, meeting, once],
    ids=lambda k: k.__name__,
)
def test_what_has_none(kernel):
    A = numbers(16, 16)
    values = (np.zeros_like(A), A, np.arange(16) if kernel is gathered else A)
    values = values[: len(kernel.__signature__.parameters)]
    need_nvrtc()
    made = staged(kernel)
    for turns in (8, 32):
        _runtime.tune(made := clone(kernel), staged=turns)
        text = _runtime.compile_for(made, types_from(values), "sm_90", (8, 4, 1), True)["text"]
        assert "_rows[" not in text


def test_a_launch_of_another_block_has_a_text_of_its_own():
    """Blocks of which nothing is known: the kernel as it is."""
    need_nvrtc()
    values, _ = sample(product, 8, 8, 8)
    text = _runtime.compile_for(staged(product), types_from(values), "sm_90", None, True)["text"]
    assert "__shared__" not in text


@pytest.mark.skipif(GPU is None, reason="there is no GPU here")
@named
@pytest.mark.parametrize("turns", [8, 16, 32])
def test_results_on_a_gpu(kernel, turns):
    for shape in ((130, 260, 70), (64, 64, 64), (5, 3, 2)):
        values, want = sample(kernel, *shape)
        with cuda.Device(GPU):
            staged(kernel, staged=turns)(*values)
        np.testing.assert_array_equal(values[0], want)
