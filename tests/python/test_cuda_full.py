"""What fills a GPU's memory: tests/gpu/run runs it alone, as other processes have none meanwhile."""

import numpy as np
import pytest
from xcuda import core as cuda

if not cuda.is_available() or cuda.Device().kind != "cuda":
    pytest.skip("the current device is no GPU", allow_module_level=True)


@pytest.fixture(autouse=True)
def given_back():
    """The pool would hold it for this process's next arrays."""
    yield
    cuda.trim_memory()


def test_out_of_memory_tells_sizes_and_leaves_the_rest():
    keep = cuda.to_device(np.arange(10.0))
    total = cuda.Device().memory()["total"]
    with pytest.raises(MemoryError, match=r"can't hold [\d.]+ GiB more: arrays on it use"):
        cuda.zeros(total, "uint8")
    assert keep.copy_to_host()[9] == 9
    held = []
    with pytest.raises(MemoryError):
        for _ in range(1000):
            held.append(cuda.empty(total // 8, "uint8"))
    held.clear()
    assert cuda.empty(total // 8, "uint8").nbytes == total // 8
    assert keep.copy_to_host()[9] == 9
