"""The C++ made for a few kernels, pinned: a change of a pass or of the emitter shows as a diff to review.

XCUDA_UPDATE_GOLDEN=1 writes the files anew.
"""

import difflib
import os
from pathlib import Path

import pytest
from frontend_source import make, types_of
from xcuda import _runtime
from xcuda.core.source import capture

GOLDEN = Path(__file__).parent / "golden"

MATMUL = """
def matrix_multiply(A, B, C):
    i, j = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        temp = 0.0
        for k in range(A.shape[1]):
            temp += A[i, k] * B[k, j]
        C[i, j] = temp
"""

SAXPY = """
def saxpy(y, x, a):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = a * x[i] + y[i]
"""

BLOCK_SUM = """
def block_sum(out, x):
    s = cuda.shared.array(64, cuda.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = x[i] if i < x.size else 0.0
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if t < half:
            s[t] += s[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]
"""

HISTOGRAM = """
def histogram(bins, image):
    i = cuda.grid(1)
    if i < image.size:
        cuda.atomic.add(bins, image[i], 1)
"""

EARLY_BARRIER = """
def early(out, x, n):
    s = cuda.shared.array(32, cuda.float32)
    t = cuda.threadIdx.x
    if t >= n:
        return
    s[t] = x[t]
    cuda.syncthreads()
    out[t] = s[n - 1 - t]
"""

F2, F1 = "float32[2], float32[2], float32[2]", "float32[1], float32[1]"
CASES = {
    "matmul_cpu_tiles": (MATMUL, F2, "cpu", None),
    "matmul_cuda_automatic": (MATMUL, F2, "cuda", None),
    "matmul_cuda_explicit": (MATMUL, F2, "cuda", (16, 16, 1)),
    "saxpy_cpu_tiles": (SAXPY, F1 + ", float32", "cpu", None),
    "saxpy_cuda_vectors": (SAXPY, F1 + ", float32", "cuda", None),
    "block_sum_cpu_regions": (BLOCK_SUM, F1, "cpu", (64, 1, 1)),
    "block_sum_cuda": (BLOCK_SUM, F1, "cuda", (64, 1, 1)),
    "histogram_cpu_threads": (HISTOGRAM, "int32[1], uint8[1]", "cpu", None),
    "early_cpu_fibers": (EARLY_BARRIER, F1 + ", weak int64", "cpu", (32, 1, 1)),
}


@pytest.mark.parametrize("name", CASES)
def test_emitted_text_is_the_reviewed_one(name):
    source, types, target, block = CASES[name]
    c = capture(make(source))
    text = _runtime.emit_text(c.name, "cell", c.ast_json, c.names_json, types_of(types), True, target, block)
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("XCUDA_UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    expected = path.read_text()
    diff = "\n".join(
        difflib.unified_diff(expected.splitlines(), text.splitlines(), "reviewed", "now", lineterm="")
    )
    assert text == expected, f"{path.name} differs; if it should, run with XCUDA_UPDATE_GOLDEN=1\n{diff}"


def kinds(name):
    return (GOLDEN / f"{name}.txt").read_text()


def test_golden_texts_hold_what_their_names_say():
    assert "_tiles(" in kinds("matmul_cpu_tiles") and "temp_7_1" in kinds("matmul_cpu_tiles")
    assert "blockIdx.x * blockDim.x + threadIdx.x) < (i32)C_n1" in kinds("matmul_cuda_automatic")
    assert "blockIdx.x * blockDim.x + threadIdx.x) < (i32)C_n0" in kinds("matmul_cuda_explicit")
    assert "xc_vstore" in kinds("saxpy_cuda_vectors") and "__syncthreads" in kinds("block_sum_cuda")
    assert "W->barrier" not in kinds("block_sum_cpu_regions") and "W->barrier" in kinds("early_cpu_fibers")
    assert "_tiles(" not in kinds("histogram_cpu_threads")
