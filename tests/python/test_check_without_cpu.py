"""What debug, draw and verify say in a build with a GPU alone: they run kernels on the CPU device. Checks run on the GPU."""

from __future__ import annotations

import numpy as np
import pytest
from cpu_device import without_cpu
from xcuda import core as cuda

pytestmark = without_cpu


@cuda.kernel
def doubled(out, x):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = 2 * x[i]


USES = {
    "debug": cuda.debug,
    "draw": cuda.draw,
    "verify": lambda kernel, *arguments: cuda.verify(kernel, *arguments, expected={"out": np.ones(8)}),
}


@pytest.mark.parametrize("name", USES)
def test_it_says_so_and_launches_go_on(name):
    x, out = cuda.to_device(np.arange(8.0)), cuda.zeros(8)
    with pytest.raises(
        RuntimeError, match="this build has no CPU device, where kernels are .*XCUDA_CPU_DEVICE=ON"
    ):
        USES[name](doubled[1, 8], out, x)
    assert not out.copy_to_host().any()
    doubled[1, 8](out, x)
    np.testing.assert_array_equal(out.copy_to_host(), 2 * np.arange(8.0))


def test_checks_run_on_the_gpu():
    report = cuda.check(doubled[1, 8], cuda.zeros(8), cuda.to_device(np.arange(8.0)))
    assert len(report) == 0 and report.launches[0].device.startswith("cuda")
    with pytest.raises(RuntimeError, match="this build has no CPU device"):
        cuda.check(doubled[1, 8], cuda.zeros(8), cuda.to_device(np.arange(8.0)), on="cpu")


def test_wrong_calls_are_told_first():
    with pytest.raises(TypeError, match="check takes a kernel, or kernel"):
        cuda.check(len, 1)
    with pytest.raises(ValueError, match="orders is a whole number"):
        cuda.check(doubled, np.zeros(3), np.zeros(3), orders=0)
