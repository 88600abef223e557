"""The kernels of the CUDA parts' tests, compiled by NVRTC for GPUs that need not be here."""

import importlib

import pytest
from test_cuda_compile import recorded
from xcuda import _runtime

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
