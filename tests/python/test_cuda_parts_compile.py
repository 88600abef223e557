"""The kernels of the CUDA parts' tests, compiled by NVRTC for GPUs that need not be here."""

import importlib

import numpy as np
import pytest
from test_cuda_compile import recorded
from xcuda import _runtime, core

MODULES = [
    *("test_cuda_warps", "test_cuda_random", "test_cuda_atomics", "test_cuda_intrinsics", "test_cuda_print"),
    "test_cuda_grid",
]
CASES = {
    f"{module[5:]}: {name}": case
    for module in MODULES
    for name, case in recorded(importlib.import_module(module)).items()
}


def test_the_kernels_were_found():
    assert len(CASES) > 100


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_120"])
@pytest.mark.parametrize("name", CASES)
def test_compiles(name, target):
    kernel, types = CASES[name]
    made = _runtime.compile_for(kernel, types, target, None)
    assert made["target"] == target and 0 < made["registers"] <= 255


def larger(a, b):
    return a if a > b else b


def product(a, b):
    return a * b


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_120"])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "float32", "float64", "complex128"])
def test_reductions_compile(dtype, target):
    reduction = core.reduce(product if dtype == "complex128" else larger)
    made = reduction.kernel(dtype).compile(f"{dtype}[::1], {dtype}[::1], int64", target=target)
    assert made["target"] == target and 0 < made["registers"] <= 255
    assert made["shared_bytes"] >= 256 * np.dtype(dtype).itemsize
