"""The GPU's pool over the fake driver: out of memory, trimming, the driver's own failures."""

import ctypes

import numpy as np
import pytest
from fake_cuda import driver, on_fake
from xcuda import core as cuda

MIB = 1 << 20


@on_fake("memory=0x6400000")  # 100 MiB
def test_out_of_memory_lists_what_is_held_and_the_next_one_fits():
    keep = cuda.to_device(np.arange(5 * MIB, dtype=np.float64))
    with pytest.raises(
        cuda.DeviceMemoryError, match=r"Fake GPU can't hold 80.0 MiB more: arrays on it use 40.0 MiB"
    ):
        cuda.empty(10 * MIB)
    with pytest.raises(cuda.DeviceMemoryError, match=r"The largest: keep \(40.0 MiB, float64"):
        cuda.empty(10 * MIB)
    assert cuda.empty(6 * MIB).nbytes == 48 * MIB
    np.testing.assert_array_equal(keep.copy_to_host(), np.arange(5 * MIB))


@on_fake("memory=0x6400000")
def test_what_was_freed_on_a_busy_stream_is_waited_for():
    stream = cuda.stream()
    with stream:
        first = cuda.zeros(10 * MIB)
        del first
        second = cuda.zeros(10 * MIB)
    assert second.nbytes == 80 * MIB
    stream.synchronize()
    assert cuda.memory_info().used == 80 * MIB


@on_fake("memory=0x6400000")
def test_what_the_pool_keeps_is_given_back_for_another():
    a = cuda.zeros(10 * MIB)
    del a
    cuda.synchronize()
    info = cuda.memory_info()
    assert (info.used, info.pooled, info.available) == (0, 80 * MIB, 100 * MIB)
    assert cuda.trim_memory() == 80 * MIB
    info = cuda.memory_info()
    assert (info.pooled, info.available, info.total) == (0, 100 * MIB, 100 * MIB)


@on_fake()
def test_room_for_local_arrays_is_given_back():
    cuda.zeros(1)
    stack, context = ctypes.c_size_t(), ctypes.c_void_p()
    driver.c.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
    driver.c.cuCtxSetCurrent(context)
    assert driver.c.cuCtxSetLimit(0, ctypes.c_size_t(1 << 16)) == 0  # as a launch with such an array does
    cuda.trim_memory()
    assert driver.c.cuCtxGetLimit(ctypes.byref(stack), 0) == 0
    assert stack.value == 1024
    calls = driver.get("calls:cuCtxSetLimit")
    cuda.trim_memory()
    assert driver.get("calls:cuCtxSetLimit") == calls


@on_fake("memory=0x6400000 fail=cuMemAllocFromPoolAsync:2:0:1")
def test_one_refusal_is_tried_again():
    assert cuda.empty(MIB).nbytes == 8 * MIB
    assert driver.get("calls:cuMemAllocFromPoolAsync") == 2
    assert driver.get("calls:cuMemPoolTrimTo") == 1


@on_fake("memory=0x6400000", XCUDA_MEMORY_LIMIT="16M")
def test_a_limit_from_the_environment():
    assert cuda.Device().memory_limit == 16 * MIB
    with pytest.raises(
        cuda.DeviceMemoryError, match="may not hold 24.0 MiB more: .* limit that was set is 16.0 MiB"
    ):
        cuda.zeros(3 * MIB)
    cuda.Device().memory_limit = None
    assert cuda.zeros(3 * MIB).nbytes == 24 * MIB


@on_fake("memory=0x6400000 others=0x5a00000")  # 90 of 100 MiB
def test_what_other_processes_hold_is_not_there():
    assert cuda.memory_info().available == 10 * MIB
    with pytest.raises(MemoryError, match=r"10.0 MiB of its 100.0 MiB are free"):
        cuda.zeros(2 * MIB)


@on_fake("fail=cuMemPoolCreate:801:0:100")
def test_a_device_without_pools_says_so():
    with pytest.raises(RuntimeError, match="making the memory pool: the CUDA driver says"):
        cuda.zeros(1)


@on_fake()
def test_small_blocks_are_kept_for_the_next_arrays():
    first = cuda.empty(1000)
    del first
    asked = driver.get("calls:cuMemAllocFromPoolAsync"), driver.get("calls:cuMemFreeAsync")
    second = cuda.empty(990)
    assert driver.get("used") == 8192
    del second
    assert (driver.get("calls:cuMemAllocFromPoolAsync"), driver.get("calls:cuMemFreeAsync")) == asked
    info = cuda.memory_info()
    assert (info.used, info.high_water) == (0, 8000)
    with cuda.stream():  # in another order: its own memory
        cuda.empty(1000)
    assert driver.get("calls:cuMemAllocFromPoolAsync") == asked[0] + 1
    held = driver.get("used")
    cuda.trim_memory()
    assert held > 0 and driver.get("used") == 0


@on_fake("memory=0x6400000")
def test_what_is_kept_goes_where_there_is_no_room():
    few = [cuda.empty(MIB) for _ in range(12)]
    del few
    assert driver.get("used") == 96 * MIB
    assert cuda.empty(10 * MIB).nbytes == 80 * MIB


@on_fake("memory=0x40000000")
def test_no_more_is_kept_than_a_share():
    several = [cuda.empty(3 * MIB) for _ in range(15)]  # 360 MiB
    del several
    cuda.synchronize()
    assert driver.get("used") <= 256 * MIB
    assert cuda.memory_info().used == 0


@on_fake("memory=0x200000000")  # 8 GiB
def test_large_blocks_are_kept_too_for_what_nearly_fills_them():
    first = cuda.empty(64 * MIB)  # 512 MiB
    del first
    asked = driver.get("calls:cuMemAllocFromPoolAsync"), driver.get("calls:cuMemFreeAsync")
    for elements in (64 * MIB, 60 * MIB, 57 * MIB):
        cuda.empty(elements)
    assert (driver.get("calls:cuMemAllocFromPoolAsync"), driver.get("calls:cuMemFreeAsync")) == asked
    cuda.empty(40 * MIB)  # much less than that
    assert driver.get("calls:cuMemAllocFromPoolAsync") == asked[0] + 1
    assert cuda.memory_info().used == 0
    cuda.empty(200 * MIB)  # more than is kept at once
    cuda.synchronize()
    assert driver.get("used") <= 1024 * MIB
