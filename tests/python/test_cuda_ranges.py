"""NVTX spans round cells and kernels, for a profiler that looks on from outside; over the fake driver's NVTX."""

import os

import fake_cuda
import numpy as np
from fake_cuda import driver, on_fake, scale_kernel
from xcuda import _runtime, profiler
from xcuda import core as cuda


@on_fake(XCUDA_NVTX=fake_cuda.library())
def test_cells_and_kernels_are_spans():
    scale = scale_kernel()
    a = cuda.to_device(np.ones(100, np.float32))
    bound = scale[1, 128].bind(a, 3.0)
    profiler.cell_begin("...", 3)
    scale[1, 128](a, 2.0)
    bound()
    profiler.cell_end()
    assert driver.ranges() == ["+In [3]", "+scale", "-", "+scale", "-", "-"]


@on_fake(XCUDA_NVTX=fake_cuda.library())
def test_a_cell_that_was_broken_off_ends_its_span():
    cuda.zeros(1)
    profiler.cell_begin("...", 3)
    profiler.cell_begin("...", 4)
    profiler.cell_end(failed=True)
    profiler.cell_end()
    assert driver.ranges() == ["+In [3]", "-", "+In [4]", "-"]


@on_fake()
def test_nothing_listens_and_nothing_is_called():
    scale = scale_kernel()
    a = cuda.to_device(np.ones(100, np.float32))
    profiler.cell_begin("...", 3)
    scale[1, 128](a, 2.0)
    profiler.cell_end()
    assert not _runtime.ranges_wanted
    assert driver.ranges() == []


@on_fake(XCUDA_NVTX="0", NVTX_INJECTION64_PATH="/a/tool.so")
def test_spans_can_be_switched_off():
    assert not _runtime.ranges_wanted


@on_fake(NVTX_INJECTION64_PATH="/no/such/tool.so")
def test_a_tool_without_nvtxs_library_stops_nothing():
    assert os.environ["NVTX_INJECTION64_PATH"] and _runtime.ranges_wanted
    scale = scale_kernel()
    a = cuda.to_device(np.ones(100, np.float32))
    profiler.cell_begin("...", 3)
    scale[1, 128](a, 2.0)
    assert profiler.cell_end()["totals"]["launches"] == 1
