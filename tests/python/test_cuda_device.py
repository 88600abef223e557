"""What only a GPU shows: order of streams, large copies, faults that leave the context alive, memory that runs out."""

import os
import signal
import threading

import numpy as np
import pytest
from xcuda import core as cuda

if not cuda.is_available() or cuda.Device().kind != "cuda":
    pytest.skip("the current device is no GPU", allow_module_level=True)


@cuda.kernel
def double(out, a):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = a[i] * 2


@cuda.kernel
def spin(a, turns):
    for _ in range(turns):
        a[0] += 1


@cuda.kernel
def beyond(a):
    i = cuda.grid(1)
    a[i + 1_000_000] = 1


@pytest.mark.parametrize("mib", [1, 9, 40])
def test_large_copies_both_ways(mib):
    host = np.random.default_rng(mib).random(mib << 17)
    a = cuda.to_device(host)
    np.testing.assert_array_equal(a.copy_to_host(), host)
    out = np.zeros_like(host)
    assert a.copy_to_host(out) is out
    np.testing.assert_array_equal(out, host)


@pytest.mark.parametrize("mib", [0.01, 1, 5])
def test_host_arrays_on_a_busy_stream_are_copied_in_its_order(mib):
    stream = cuda.stream()
    counter = cuda.zeros(1, "int64")
    a = np.random.default_rng(1).random(int(mib * (1 << 17)))
    out = np.zeros_like(a)
    spin.compile("int64[::1], int64")
    double(np.zeros(1), np.zeros(1))
    with stream:
        spin[1, 1].async_call(counter, 2_000_000)
        double.async_call(out, a)
        double.async_call(out, out)
    stream.synchronize()
    np.testing.assert_array_equal(out, a * 4)
    assert counter.copy_to_host()[0] == 2_000_000


def test_streams_are_in_order_with_the_default_stream():
    a = cuda.zeros(1, "int64")
    stream = cuda.stream()
    spin[1, 1](a, 500_000)
    spin[1, 1, stream](a, 500_000)
    spin[1, 1](a, 1)
    assert a.copy_to_host()[0] == 1_000_001


def test_more_launches_than_the_driver_queues():
    a = cuda.zeros(1, "int64")
    for _ in range(5000):
        spin[1, 1](a, 1)
    cuda.synchronize()
    assert a.copy_to_host()[0] == 5000


def test_every_thread_may_fault_and_arrays_stay():
    keep = cuda.to_device(np.arange(1000.0))
    for _ in range(3):
        a = cuda.zeros(1000)
        beyond[4096, 256](a)
        with pytest.raises(
            IndexError, match=r"index \d+ is out of range for axis 0 of a with shape \(1000,\)"
        ):
            cuda.synchronize()
        assert not a.copy_to_host().any()
    np.testing.assert_array_equal(keep.copy_to_host(), np.arange(1000.0))
    out = cuda.zeros(1000)
    double(out, keep)
    np.testing.assert_array_equal(out.copy_to_host(), np.arange(1000.0) * 2)


def test_memory_is_counted():
    before = cuda.Device().memory()["used"]
    a = cuda.zeros(1 << 20, "uint8")
    assert cuda.Device().memory()["used"] - before >= 1 << 20
    del a
    cuda.synchronize()
    assert cuda.Device().memory()["used"] <= before


@cuda.kernel
def forever(a):
    while a[0] == 0:
        a[1] += 1


def test_a_small_copy_to_the_gpu_waits_for_no_kernel():
    """It would be ended by the interrupt that is sent where it waits."""
    a, values = cuda.zeros(2), np.arange(8192.0)  # 64 KiB
    forever.compile("float64[::1]")
    rescue = threading.Timer(20, os.kill, (os.getpid(), signal.SIGINT))
    forever[1, 1](a)
    rescue.start()
    copied = cuda.to_device(values)
    rescue.cancel()
    with pytest.raises(KeyboardInterrupt):
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        cuda.synchronize()
    cuda.synchronize()
    np.testing.assert_array_equal(copied.copy_to_host(), values)


@pytest.mark.parametrize("block", [1, 256])
def test_an_endless_kernel_stops_at_an_interrupt(block):
    a = cuda.zeros(2)
    keep = cuda.to_device(np.arange(10.0))
    forever.compile("float64[::1]")
    with pytest.raises(KeyboardInterrupt):
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        forever[100, block](a)
        cuda.synchronize()
    cuda.synchronize()
    assert keep.copy_to_host()[9] == 9


def test_too_large_a_block_for_the_kernels_registers():
    @cuda.kernel
    def simple(a):
        a[cuda.grid(1)] = 1

    with pytest.raises(ValueError, match="2048"):
        simple[1, 2048](cuda.zeros(2048))


def test_events_measure():
    begin, end = cuda.event(), cuda.event()
    a = cuda.zeros(1, "int64")
    spin[1, 1](a, 1)
    begin.record()
    spin[1, 1](a, 200_000)
    end.record()
    end.synchronize()
    assert cuda.event_elapsed_time(begin, end) > 0.1  # milliseconds


def test_arrays_of_cupy_and_torch_order():
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed here")
    a = cuda.to_device(np.arange(100.0))
    seen = cupy.asarray(a)
    np.testing.assert_array_equal(cupy.asnumpy(seen * 2), np.arange(100.0) * 2)
