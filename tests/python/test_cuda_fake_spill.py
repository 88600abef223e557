"""Arrays of a full GPU that move to host memory under their addresses, over the fake driver."""

import numpy as np
import pytest
from fake_cuda import driver, need_nvrtc, on_fake
from xcuda import core as cuda

MIB = 1 << 20
SMALL_GPU = f"memory={64 * MIB}"


def filled(value, mib=12):
    return cuda.to_device(np.full(mib * MIB, value, np.uint8))


def on_host(array):
    return driver.get(f"on_host:{array._address}") == 1


def spilled():
    return cuda.Device().memory()["spilled"]


def holds(array, value):
    return bool((array.copy_to_host() == value).all())


@on_fake(SMALL_GPU)
def test_a_full_gpu_moves_the_arrays_used_longest_ago():
    cuda.Device().spill_limit = 1024 * MIB
    arrays = [filled(n) for n in range(5)]
    assert spilled() == 0 and not any(map(on_host, arrays))
    addresses = [a._address for a in arrays]
    arrays += [filled(5), filled(6)]
    assert spilled() == 2 * 12 * MIB
    assert [on_host(a) for a in arrays] == [True, True, False, False, False, False, False]
    assert addresses == [a._address for a in arrays[:5]]
    assert all(holds(a, n) for n, a in enumerate(arrays))
    m = cuda.Device().memory()
    assert m["used"] == 5 * 12 * MIB and m["spill_limit"] == 1024 * MIB
    assert "24.0 MiB moved to host memory" in str(cuda.memory_info())


@on_fake(SMALL_GPU)
def test_a_launch_is_a_use():
    need_nvrtc()

    @cuda.kernel
    def touch(a):
        a[0] = 1

    cuda.Device().spill_limit = 1024 * MIB
    arrays = [filled(n) for n in range(5)]
    touch[1, 1](arrays[0])
    arrays.append(filled(5))
    assert [on_host(a) for a in arrays] == [False, True, False, False, False, False]


@on_fake(SMALL_GPU)
def test_arrays_come_back_when_there_is_room():
    cuda.Device().spill_limit = 1024 * MIB
    arrays = [filled(n) for n in range(6)]
    assert on_host(arrays[0])
    cuda.synchronize()
    assert on_host(arrays[0])  # there is no room yet
    del arrays[2:5]
    cuda.trim_memory()
    cuda.synchronize()
    assert spilled() == 0 and not on_host(arrays[0])
    assert holds(arrays[0], 0) and holds(arrays[1], 1) and holds(arrays[2], 5)


@on_fake(SMALL_GPU)
def test_no_more_moves_than_was_allowed():
    cuda.Device().spill_limit = 25 * MIB
    arrays = [filled(n) for n in range(7)]
    with pytest.raises(
        cuda.DeviceMemoryError,
        match=r"can't hold 12.0 MiB more: .*; 24.0 MiB of them moved to host memory, where at most 25.0 MiB may be",
    ):
        filled(8)
    assert all(holds(a, n) for n, a in enumerate(arrays))
    del arrays[0]  # one that had moved
    cuda.synchronize()
    arrays.append(filled(8))
    assert spilled() == 24 * MIB and holds(arrays[-1], 8)


@on_fake(SMALL_GPU)
def test_a_limit_of_memory_counts_too_and_small_arrays_make_room():
    device = cuda.Device()
    device.spill_limit = 1024 * MIB
    device.memory_limit = 25 * MIB
    arrays = [filled(n) for n in range(4)]
    assert spilled() == 24 * MIB and device.memory()["used"] == 24 * MIB
    small = [filled(9, 1) for _ in range(2)]  # of the pool; one more large one must go
    assert spilled() == 36 * MIB
    assert all(holds(a, n) for n, a in enumerate(arrays)) and all(holds(a, 9) for a in small)


@on_fake(SMALL_GPU)
def test_what_another_library_has_stays():
    cuda.Device().spill_limit = 1024 * MIB
    arrays = [filled(n) for n in range(5)]
    assert arrays[0].__cuda_array_interface__["data"][0] == arrays[0]._address
    arrays += [filled(5), filled(6)]
    assert [on_host(a) for a in arrays[:3]] == [False, True, True]


@on_fake(SMALL_GPU)
def test_memory_is_used_again_and_given_back():
    cuda.Device().spill_limit = 1024 * MIB
    a = filled(1)
    at = a._address
    del a
    b = filled(2)
    assert b._address == at and holds(b, 2)
    del b
    cuda.trim_memory()
    m = cuda.Device().memory()
    assert (m["used"], m["spilled"], m["pooled"]) == (0, 0, 0)
    assert driver.get("calls:cuMemAddressFree") == driver.get("calls:cuMemAddressReserve") == 1


@on_fake(SMALL_GPU)
def test_off_is_as_before():
    device = cuda.Device()
    device.spill_limit = 1024 * MIB
    kept = filled(1)
    device.spill_limit = None
    assert device.spill_limit is None
    before = driver.get("calls:cuMemMap")
    arrays = [filled(n) for n in range(4)]
    assert driver.get("calls:cuMemMap") == before
    with pytest.raises(cuda.DeviceMemoryError, match="of its 64.0 MiB are free\\. The largest"):
        filled(9)
    assert holds(kept, 1) and all(holds(a, n) for n, a in enumerate(arrays))


@pytest.mark.parametrize("function", ["cuMemAddressReserve", "cuMemcpyAsync", "cuMemMap", "cuMemSetAccess"])
@on_fake(SMALL_GPU)
def test_a_move_that_fails_leaves_the_array_where_it_is(function):
    cuda.Device().spill_limit = 1024 * MIB
    arrays = [filled(n) for n in range(5)]
    driver.fail(function, 2, times=1, after=0 if function in ("cuMemAddressReserve", "cuMemcpyAsync") else 1)
    with pytest.raises(cuda.DeviceMemoryError):
        filled(5)
    assert spilled() == 0 and all(holds(a, n) for n, a in enumerate(arrays))
    arrays.append(filled(5))
    assert spilled() == 12 * MIB and all(holds(a, n) for n, a in enumerate(arrays))


@on_fake(SMALL_GPU)
def test_a_machine_that_maps_no_host_memory_is_told():
    cuda.zeros(1)
    driver.fail("cuMemCreate", 801, times=2)
    with pytest.raises(RuntimeError, match="can't move to host memory: the CUDA driver maps none"):
        cuda.Device().spill_limit = MIB
    assert cuda.Device().spill_limit is None


@on_fake(SMALL_GPU, device="cpu")
def test_the_cpu_device_has_nowhere_else():
    with pytest.raises(ValueError, match="the CPU device's arrays are in host memory already"):
        cuda.Device("cpu").spill_limit = MIB
    with pytest.raises(ValueError, match="a number of bytes, or None; not -1"):
        cuda.Device("cuda:0").spill_limit = -1
    assert cuda.Device("cpu").spill_limit is None
