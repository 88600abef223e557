"""The CUDA device's host side over the fake driver: memory, copies, streams, events, launches."""

import numpy as np
import pytest
from fake_cuda import driver, need_nvrtc, on_fake, scale_kernel
from xcuda import _runtime
from xcuda import core as cuda


@on_fake("devices=2 memory=0x10000000 architecture=86")
def test_devices_are_what_the_driver_says():
    assert _runtime.device_labels()[:2] == ["cuda:0", "cuda:1"]
    device = cuda.Device()
    assert (device.kind, device.name, device.compute_capability) == ("cuda", "Fake GPU", (8, 6))
    assert device.memory()["total"] == 1 << 28
    row = _runtime.libraries()[0]
    assert (row["version"], row["from"]) == ("CUDA 13.0", "XCUDA_DRIVER")


@pytest.mark.parametrize("elements", [0, 1, 1000, 3 << 20])
@on_fake()
def test_copies_both_ways(elements):
    host = np.arange(elements, dtype=np.float64)
    a = cuda.to_device(host)
    np.testing.assert_array_equal(a.copy_to_host(), host)
    stream = cuda.stream()
    with stream:
        b = cuda.to_device(host[::-1].copy())
        out = np.empty_like(host)
        b.copy_to_host(out)
    stream.synchronize()
    np.testing.assert_array_equal(out, host[::-1])


@on_fake()
def test_a_launch_gives_what_the_kernel_wants():
    scale = scale_kernel()

    a = cuda.to_device(np.ones(1000, np.float32))
    seen = []
    driver.on_launch(lambda name, grid, block, parameters: seen.append((grid, block, len(parameters))))
    scale[4, 256](a, 2.5)
    cuda.synchronize()
    ((name, grid, block, shared, parameters),) = driver.launches()
    assert "scale" in name
    assert (grid, block, shared) == ((4, 1, 1), (256, 1, 1), 0)
    assert seen == [((4, 1, 1), (256, 1, 1), len(parameters))]
    address = a.__cuda_array_interface__["data"][0].to_bytes(8, "little")
    assert address in parameters
    assert np.float32(2.5).tobytes() in parameters or np.float64(2.5).tobytes() in parameters


@on_fake("fault_kind=1 fault_index=1000 fault_length=1000 fault_site=0")
def test_a_kernels_fault_is_told_and_the_next_one_runs():
    need_nvrtc()

    @cuda.kernel
    def beyond(a):
        a[cuda.grid(1)] = 1

    a = cuda.zeros(1000)
    beyond[4, 256](a)
    with pytest.raises(IndexError, match=r"index 1000 is out of range .* with shape \(1000,\)"):
        cuda.synchronize()
    beyond[1, 256](a)
    cuda.synchronize()
    assert driver.get("launches") == 2


@on_fake()
def test_events_and_streams_keep_order_and_are_given_back():
    cuda.synchronize()
    before = driver.get("streams")
    stream, event = cuda.stream(), cuda.event()
    driver.set(hold=1)
    with stream:
        a = cuda.zeros(10)
        event.record()
    assert not event.query()
    assert not stream.query()
    driver.set(hold=0)
    event.synchronize()
    assert event.query()
    assert not a.copy_to_host().any()
    del a, stream, event
    cuda.synchronize()
    assert driver.get("streams") == before


@on_fake("init=100")
def test_no_gpu_leaves_the_cpu_device():
    assert not any(label.startswith("cuda") for label in _runtime.device_labels())
    assert "the NVIDIA driver shows no GPU" in _runtime.libraries()[0]["problem"]


@on_fake("version=11080")
def test_an_old_driver_is_told():
    assert not any(label.startswith("cuda") for label in _runtime.device_labels())
    problem = _runtime.libraries()[0]["problem"]
    assert problem == "the NVIDIA driver is for CUDA 11.8: 12.0 or later is needed"
