"""Arrays of a full GPU that move to host memory, on a real one: kernels, graphs and other streams go on with them."""

import numpy as np
import pytest
from xcuda import core as cuda
from xcuda import numeric

MIB = 1 << 20

if not cuda.is_available() or cuda.Device().kind != "cuda":
    pytest.skip("the current device is no GPU", allow_module_level=True)


@cuda.kernel
def add(a, n):
    i = cuda.grid(1)
    if i < a.shape[0]:
        a[i] += n


@cuda.kernel
def count(total, a):
    i = cuda.grid(1)
    if i < a.shape[0]:
        cuda.atomic.add(total, int(a[i]) % 8, 1)


@pytest.fixture
def device():
    """A GPU that may hold 256 MiB more than now; what is beyond that moves."""
    device = cuda.Device()
    try:
        device.spill_limit = 1024 * MIB
    except RuntimeError as error:
        pytest.skip(str(error))
    cuda.trim_memory()
    limit = device.memory_limit
    device.memory_limit = device.memory()["used"] + 256 * MIB
    yield device
    device.memory_limit, device.spill_limit = limit, None
    cuda.trim_memory()


def made(number):
    return cuda.to_device(np.full(8 * MIB, number, np.float64))  # 64 MiB


def holds(array, value):
    return bool((array.copy_to_host() == value).all())


def test_kernels_go_on_with_arrays_that_moved(device):
    arrays = [made(n) for n in range(7)]
    assert device.memory()["spilled"] >= 3 * 64 * MIB
    for array in arrays:
        add(array, 10)
    assert all(holds(a, n + 10) for n, a in enumerate(arrays))
    totals = cuda.zeros(8, np.int64)
    for array in arrays:
        count(totals, array)
    counted = np.bincount((np.arange(7) + 10) % 8, minlength=8) * 8 * MIB
    np.testing.assert_array_equal(totals.copy_to_host(), counted)


def test_streams_and_graphs_go_on(device):
    first, stream = made(0), cuda.stream()
    with cuda.graph() as graph:
        for _ in range(3):
            add(first, 1)
    graph()
    with stream:
        for _ in range(100):
            add(first, 1)
        others = [made(n) for n in range(6)]  # they move `first`, once the stream's work is done
    assert device.memory()["spilled"] > 0
    graph()
    cuda.synchronize()
    assert holds(first, 106) and all(holds(a, n) for n, a in enumerate(others))


def test_they_come_back(device):
    arrays = [made(n) for n in range(6)]
    assert device.memory()["spilled"] > 0
    del arrays[1:5]
    cuda.synchronize()
    assert device.memory()["spilled"] == 0
    assert holds(arrays[0], 0) and holds(arrays[1], 5)


def test_lazy_arrays_move_too(device):
    arrays = [numeric.full(8 * MIB, float(n)) + 1 for n in range(7)]
    assert [float(a.sum()) for a in arrays] == [(n + 1) * 8.0 * MIB for n in range(7)]
    assert device.memory()["spilled"] > 0
    total = sum(arrays[1:], arrays[0])
    assert float(total.max()) == float(total.min()) == 28


def test_what_another_library_has_stays(device):
    torch = pytest.importorskip("torch")
    held = made(3)
    seen = torch.as_tensor(held, device="cuda")
    others = [made(n) for n in range(6)]
    seen += 1
    torch.cuda.synchronize()
    assert holds(held, 4) and all(holds(a, n) for n, a in enumerate(others))
