"""Memory that runs out, on whichever device: what is let go of, what is told, what stays; limits and statistics."""

import gc
import os
import re
import sys

import numpy as np
import pytest
from xcuda import core as cuda
from xcuda import numeric

MIB = 1 << 20


@pytest.fixture
def limit():
    """A device that may hold 64 MiB more than now."""
    device = cuda.Device()
    before = device.memory_limit
    gc.collect()
    cuda.synchronize()
    device.memory_limit = device.memory()["used"] + 64 * MIB
    yield device
    device.memory_limit = before


@cuda.kernel
def add_one(a):
    i = cuda.grid(1)
    if i < a.shape[0]:
        a[i] += 1


def test_a_limit_is_told_and_the_rest_stays(limit):
    weights = cuda.to_device(np.arange(5 * MIB, dtype=np.float64))
    layers = [cuda.zeros((3, MIB), "float32"), cuda.zeros(10, "int8")]
    with pytest.raises(cuda.DeviceMemoryError) as caught:
        cuda.zeros(9 * MIB)
    told = str(caught.value)
    assert re.search(
        r"may not hold 72.0 MiB more: arrays on it use \d+.\d MiB, and the limit that was set", told
    )
    assert re.search(
        r"The largest: weights \(40.0 MiB, float64, shape \(5242880,\), made at line \d+ of .*"
        r"test_core_memory_pressure.py\); layers\[0\] \(12.0 MiB, float32, shape \(3, 1048576\)",
        told,
    )
    assert told.endswith(
        "delete what is no longer needed (`del name`; cuda.memory_info() lists all), or do the work in parts"
    )
    assert isinstance(caught.value, MemoryError)
    del caught
    add_one(weights)
    np.testing.assert_array_equal(weights.copy_to_host(), np.arange(5 * MIB) + 1.0)
    assert not layers[0].copy_to_host().any()
    smaller = cuda.zeros(MIB)
    assert smaller.nbytes == 8 * MIB


def test_garbage_is_collected_before_memory_is_refused(limit):
    gc.collect()
    gc.disable()
    try:
        ring = [cuda.zeros(6 * MIB)]
        ring.append(ring)
        del ring
        again = cuda.zeros(6 * MIB)
    finally:
        gc.enable()
    assert again.nbytes == 48 * MIB


def test_what_a_failed_functions_variables_hold_is_let_go_of(limit):
    def work():
        held = cuda.zeros(6 * MIB)
        raise KeyError(held.shape)

    try:
        work()
    except KeyError as error:
        sys.last_value = error
    try:
        assert cuda.zeros(6 * MIB).nbytes == 48 * MIB
    finally:
        del sys.last_value


def test_a_failed_cell_gives_its_memory_back():
    shell_module = pytest.importorskip("IPython.core.interactiveshell")
    import xcuda.profiler

    def used():
        gc.collect()
        cuda.synchronize()
        return cuda.Device().memory()["used"]

    shell = shell_module.InteractiveShell.instance()
    before = used()
    xcuda.profiler.cell_begin("cell", 1)
    result = shell.run_cell(
        "from xcuda import core as cuda\n"
        "def work():\n    x = cuda.zeros(1 << 20)\n    parts = [cuda.zeros(1 << 20)]\n    return x + undefined\nwork()"
    )
    assert isinstance(result.error_in_exec, NameError)
    xcuda.profiler.cell_end(True)
    del result
    assert used() <= before
    shell_module.InteractiveShell.clear_instance()


def test_memory_info_lists_arrays_by_size():
    class Net:
        pass

    net = Net()
    net.weights = cuda.zeros((100, MIB // 100), "float32")
    table = {"a": cuda.zeros(MIB // 2, "int8")}
    view = net.weights[10:]
    info = cuda.memory_info()
    assert info.used >= net.weights.nbytes + table["a"].nbytes
    assert info.available > 0
    assert info.total >= info.used
    names = [a.name for a in info.arrays]
    assert names.index("net.weights") < names.index("table['a']")
    assert "view" not in names
    assert view.nbytes > 0
    row = info.arrays[names.index("net.weights")]
    assert (row.nbytes, row.shape, row.dtype) == (400 * (MIB // 100), (100, MIB // 100), "float32")
    assert "net.weights (4.0 MiB, float32" in str(info)


@pytest.mark.skipif(
    bool(os.environ.get("XCUDA_POOL_GUARD")) or "libasan" in os.environ.get("LD_PRELOAD", ""),
    reason="no block is kept where each is watched",
)
def test_trimming_gives_back_what_is_kept():
    array = cuda.zeros(8 * MIB)
    cuda.synchronize()
    del array
    cuda.synchronize()
    assert cuda.memory_info().pooled >= 8 * MIB
    assert cuda.trim_memory() >= 8 * MIB
    assert cuda.memory_info().pooled < 64 * MIB


@pytest.mark.parametrize("wrong", [-1, "2 GiB", 1.5])
def test_limits_are_whole_numbers(wrong):
    with pytest.raises((ValueError, AttributeError, TypeError)):
        cuda.Device().memory_limit = wrong
    assert cuda.Device().memory_limit is None


def test_lazy_arrays_are_told_with_the_line_that_asked_for_them(limit):
    held = [numeric.arange(MIB) * 2.0 + 1]  # here: it is computed two lines further
    copied = numeric.asarray(np.ones(MIB))
    total = float((held[0] + copied).sum())
    assert total == MIB * (MIB - 1) + 2.0 * MIB
    rows = {row.name: row for row in cuda.memory_info().arrays}
    first = test_lazy_arrays_are_told_with_the_line_that_asked_for_them.__code__.co_firstlineno
    here = "of .*test_core_memory_pressure.py"
    assert re.fullmatch(rf"line {first + 1} {here}", rows["held[0]"].where), rows
    assert re.fullmatch(rf"line {first + 2} {here}", rows["copied"].where), rows
    with pytest.raises(cuda.DeviceMemoryError) as caught:
        cuda.zeros(9 * MIB)
    assert re.search(
        rf"held\[0\] \(8.0 MiB, float64, shape \(1048576,\), made at line {first + 1} {here}\)",
        str(caught.value),
    )
