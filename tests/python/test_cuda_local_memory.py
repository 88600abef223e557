"""What the driver keeps for local arrays, on a real GPU: tests/gpu/run runs it alone, since other processes take memory too."""

import numpy as np
import pytest
from xcuda import core as cuda

if not cuda.is_available() or cuda.Device().kind != "cuda":
    pytest.skip("the current device is no GPU", allow_module_level=True)

LENGTH = 4096


@cuda.kernel
def turned(out, order):
    own = cuda.local.array(LENGTH, np.float64)
    i = cuda.grid(1)
    if i < out.shape[0]:
        for j in range(LENGTH):
            own[(j * order[j]) % LENGTH] = j + i
        total = 0.0
        for j in range(LENGTH):
            total += own[j]
        out[i] = total


def test_trimming_gives_it_back_and_the_kernel_still_runs():
    out, order = cuda.zeros(64), cuda.to_device(np.ones(LENGTH, np.int64))
    cuda.trim_memory()
    free = cuda.memory_info().available
    want = sum(range(LENGTH)) + np.arange(64.0) * LENGTH
    for _ in range(2):
        turned(out, order)
        np.testing.assert_array_equal(out.copy_to_host(), want)
        held = free - cuda.memory_info().available
        cuda.trim_memory()
        assert free - cuda.memory_info().available < max(held // 4, 1 << 20)
