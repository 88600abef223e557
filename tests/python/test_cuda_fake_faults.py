"""Faults that end a GPU for the process, over the fake driver: what is told, that nothing hangs, that the rest goes on."""

import asyncio
import re
import threading
import time

import numpy as np
import pytest
from fake_cuda import driver, need_nvrtc, on_fake
from xcuda import core as cuda

# Illegal address, timeout, assertion, and 714 to 719: stack, instruction, alignment, address space, counter, failure.
ENDING = {
    700: "CUDA_ERROR_ILLEGAL_ADDRESS",
    702: "CUDA_ERROR_LAUNCH_TIMEOUT",
    710: "CUDA_ERROR_ASSERT",
    714: "CUDA_ERROR_HARDWARE_STACK_ERROR",
    715: "CUDA_ERROR_ILLEGAL_INSTRUCTION",
    716: "CUDA_ERROR_MISALIGNED_ADDRESS",
    717: "CUDA_ERROR_INVALID_ADDRESS_SPACE",
    718: "CUDA_ERROR_INVALID_PC",
    719: "CUDA_ERROR_LAUNCH_FAILED",
}


def made_kernel():
    need_nvrtc()

    @cuda.kernel(checked=False)
    def smash(a):
        a[cuda.grid(1)] = 1

    return smash


@pytest.mark.parametrize("error", ENDING)
@on_fake()
def test_the_sentence_says_all_and_every_later_use_says_it_again(error):
    smash = made_kernel()
    weights = cuda.to_device(np.arange(1000.0))
    others = [cuda.zeros(n, "int8") for n in range(1, 8)]
    driver.set(break_at_launch=error)
    with pytest.raises(cuda.DeviceLostError) as caught:
        smash[1, 32](weights)
        cuda.synchronize()
    told = str(caught.value)
    assert re.match(rf"cuda:0 is lost: .*, the CUDA driver answered {ENDING[error]} \({error}: .+\)", told)
    assert re.search(r", with smash \(launched at line \d+ of .*test_cuda_fake_faults.py\) under way; ", told)
    assert "the arrays on it are gone: weights (7.8 KiB), others[6] (7 bytes), others[5] (6 bytes), " in told
    assert " and 3 more; the driver keeps the GPU from this process until it ends: " in told
    assert "restart the notebook's kernel to use it again" in told
    assert isinstance(caught.value, RuntimeError)
    stream_object = cuda.Device("cuda:0")
    for use in (
        weights.copy_to_host,
        lambda: weights[3],
        lambda: weights.__cuda_array_interface__,
        lambda: weights.__dlpack__(),
        lambda: weights.copy_to_device(1.0),
        lambda: weights.copy(),
        lambda: smash[1, 32](weights),
        lambda: smash[1, 32](np.zeros(10)),
        lambda: cuda.zeros(10),
        lambda: cuda.to_device(np.zeros(10)),
        cuda.stream,
        cuda.event,
        cuda.synchronize,
        cuda.memory_info,
        cuda.trim_memory,
        stream_object.synchronize,
    ):
        with pytest.raises(cuda.DeviceLostError) as again:
            use()
        assert str(again.value) == told
    assert (weights.shape, weights.nbytes, len(others)) == ((1000,), 8000, 7)
    assert "1000 float64" in repr(weights)
    assert driver.get("launches") <= 1
    assert driver.get("resets") == 0


@on_fake()
def test_who_can_have_done_it_is_named_before_what_ran_beside_it():
    smash = made_kernel()

    @cuda.kernel
    def double(out, a):
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i] = a[i] * 2

    a, out, stream = cuda.zeros(10), cuda.zeros(10), cuda.stream()
    with stream:
        for _ in range(2):
            double(out, a)
    while driver.get("launches") < 2:  # over, though nobody has looked: smash is the next
        time.sleep(0.001)
    driver.set(break_at_launch=719)
    with pytest.raises(cuda.DeviceLostError) as caught:
        smash[1, 32](a)
        cuda.synchronize()
    site = r"\(launched at line \d+ of .*test_cuda_fake_faults.py\)"
    assert re.search(
        rf", with smash {site} under way, which runs without checks, and besides double {site}; the arrays",
        str(caught.value),
    )


@on_fake(device="")
def test_the_cpu_device_becomes_the_default_where_none_was_chosen():
    if "cpu" not in [device.label for device in cuda.devices()]:
        pytest.skip("no CPU device is built")
    smash = made_kernel()
    lost = cuda.zeros(10)
    assert lost.device.label == "cuda:0"
    driver.break_context(700)
    with pytest.raises(cuda.DeviceLostError, match=r"`with cuda.Device\(\"cpu\"\):`\), which is the default"):
        cuda.synchronize()
    assert cuda.Device().label == "cpu"
    a = cuda.zeros(40)
    smash[1, 32](a)
    cuda.synchronize()
    assert a.copy_to_host().sum() == 32
    with pytest.raises(cuda.DeviceLostError):
        smash[1, 10](lost)
    with cuda.Device("cuda:0"), pytest.raises(cuda.DeviceLostError):
        cuda.zeros(10)


@on_fake()
def test_a_device_that_was_chosen_stays_and_the_cpu_device_works():
    if "cpu" not in [device.label for device in cuda.devices()]:
        pytest.skip("no CPU device is built")
    smash = made_kernel()
    cuda.zeros(10)
    driver.break_context(719)
    with pytest.raises(cuda.DeviceLostError) as caught:
        cuda.synchronize()
    assert str(caught.value).endswith('(`with cuda.Device("cpu"):`)')
    assert cuda.Device().label == "cuda:0"
    with cuda.Device("cpu"):
        a = cuda.zeros(40)
        smash[1, 32](a)
        assert a.copy_to_host().sum() == 32


@on_fake()
def test_every_way_to_meet_it_loses_the_gpu():
    smash = made_kernel()
    stream, event, array = cuda.stream(), cuda.event(), cuda.zeros(10)
    event.record(stream)
    smash[1, 1](array)
    cuda.synchronize()
    driver.break_context(700)
    for use in (event.query, event.synchronize, stream.query, stream.synchronize, event.record):
        with pytest.raises(cuda.DeviceLostError, match="ILLEGAL_ADDRESS"):
            use()


@pytest.mark.parametrize(
    "function", ["cuLaunchKernel", "cuMemcpyHtoDAsync", "cuMemAllocFromPoolAsync", "cuEventRecord"]
)
@on_fake()
def test_one_call_that_answers_so_is_enough(function):
    smash = made_kernel()
    array, event = cuda.zeros(10), cuda.event()
    smash[1, 1](array)
    cuda.synchronize()
    driver.fail(function, 700)
    uses = {
        "cuLaunchKernel": lambda: smash[1, 1](array),
        "cuMemcpyHtoDAsync": lambda: array.copy_to_device(np.ones(10)),
        "cuMemAllocFromPoolAsync": lambda: cuda.zeros(10),
        "cuEventRecord": event.record,
    }
    for use in (uses[function], cuda.synchronize):
        with pytest.raises(cuda.DeviceLostError, match="700"):
            use()


@on_fake()
def test_awaits_and_callbacks_are_answered():
    smash = made_kernel()
    heard = threading.Event()
    statuses = []

    async def work():
        a, stream = cuda.zeros(100), cuda.stream()
        driver.set(break_at_launch=700, hold=1)
        launch = smash[1, 32, stream].async_call(a)
        done = asyncio.ensure_future(stream.async_done())
        stream.add_callback(lambda s, status, arg: (statuses.append((status, arg)), heard.set()), "mine")
        await asyncio.sleep(0.05)
        driver.set(hold=0)
        with pytest.raises(cuda.DeviceLostError, match="with smash .* under way"):
            await launch
        with pytest.raises(cuda.DeviceLostError):
            await done
        with pytest.raises(cuda.DeviceLostError):
            await smash[1, 32].async_call(a)

    asyncio.run(asyncio.wait_for(work(), 120))
    assert heard.wait(120)
    assert statuses == [(700, "mine")]


@on_fake()
def test_many_launches_under_way_are_let_go_of():
    smash = made_kernel()
    streams = [cuda.stream() for _ in range(3)]
    a = cuda.zeros(100)
    driver.set(break_at_launch=700, hold=1)
    for stream in streams:
        for _ in range(40):
            smash[1, 32, stream](a)
    threading.Timer(0.2, lambda: driver.set(hold=0)).start()
    with pytest.raises(cuda.DeviceLostError) as caught, streams[0]:
        a.copy_to_device(np.ones(100))
        cuda.synchronize()
    assert str(caught.value).count("smash (launched at line") == 1
    from xcuda import _runtime

    assert _runtime.in_flight_count() == 0
    del a, streams, stream


@on_fake()
def test_a_graph_of_launches():
    smash = made_kernel()
    a = cuda.zeros(100)
    with cuda.graph() as graph:
        smash[1, 32](a)
        smash[1, 32](a)
    driver.set(break_at_launch=700)
    graph.launch()
    with pytest.raises(cuda.DeviceLostError, match="with a graph .* under way"):
        cuda.synchronize()
    with pytest.raises(cuda.DeviceLostError):
        graph.launch()


@on_fake("devices=2")
def test_the_other_gpu_keeps_its_arrays():
    with cuda.Device("cuda:1"):
        kept = cuda.to_device(np.arange(10.0))
    lost = cuda.zeros(10)
    driver.break_context(700, device=0)
    with pytest.raises(cuda.DeviceLostError, match="cuda:0 is lost"):
        lost.copy_to_host()
    np.testing.assert_array_equal(kept.copy_to_host(), np.arange(10.0))


@on_fake()
def test_another_librarys_fault_before_the_first_use():
    driver.fail("cuDevicePrimaryCtxRetain", 719, times=100)
    for _ in range(2):
        with pytest.raises(cuda.DeviceLostError, match="cuda:0 is lost: making a context .*LAUNCH_FAILED"):
            cuda.zeros(10)


@on_fake()
def test_errors_that_pass_lose_nothing():
    a = cuda.zeros(10)
    driver.fail("cuMemcpyDtoHAsync", 999)
    with pytest.raises(RuntimeError) as caught:
        a.copy_to_host()
    assert not isinstance(caught.value, cuda.DeviceLostError)
    assert not a.copy_to_host().any()
