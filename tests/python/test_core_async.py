"""Work on streams: async_call with and without await, order, errors that surface later, interrupts."""

import asyncio
import gc
import linecache
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
import xcuda.core as cuda
from xcuda import _runtime


@cuda.kernel
def double(a, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = a[i] * 2


@cuda.kernel
def beyond(a):
    i = cuda.grid(1)
    a[i + 1000] = 1


@cuda.kernel
def accumulate(a, n):
    i = cuda.grid(1)
    if i < a.shape[0]:
        for k in range(n):
            a[i] = a[i] * 1.0000001 + 1e-9


@cuda.kernel
def forever(a):
    while a[0] == 0:
        a[1] += 1


def test_the_articles_async_call():
    A = cuda.to_device(np.arange(1000.0))
    out = cuda.zeros(1000)

    async def main():
        stream = cuda.Stream()
        with stream:
            result = await double.async_call(A, out)
        assert result is out
        both = await asyncio.gather(double.async_call(A, out), double[4, 250].async_call(out, A))
        assert both[0] is out and both[1] is A

    asyncio.run(main())
    np.testing.assert_array_equal(out.copy_to_host(), np.arange(1000.0) * 2)


def test_what_is_awaited_is_what_was_written():
    @cuda.kernel
    def two(a, b, c):
        i = cuda.grid(1)
        if i < a.shape[0]:
            b[i] = a[i]
            c[i] = a[i]

    @cuda.kernel
    def none(a):
        i = cuda.grid(1)
        if i < a.shape[0]:
            b = a[i]

    a, b, c = np.ones(3), np.zeros(3), np.zeros(3)

    async def main():
        assert await none.async_call(a) is None
        result = await two.async_call(a, c=c, b=b)
        assert result[0] is b and result[1] is c

    asyncio.run(main())
    assert b.tolist() == c.tolist() == [1, 1, 1]


def test_without_await_it_runs_all_the_same():
    stream = cuda.stream()
    a, out = np.arange(100_000.0), np.zeros(100_000)
    with stream:
        launch = double.async_call(a, out)
        double.async_call(out, out)
    stream.synchronize()
    assert launch.done() and "launch of double, done" in repr(launch)
    np.testing.assert_array_equal(out, a * 4)


def test_memory_of_async_host_arrays_is_kept_until_done():
    stream = cuda.stream()
    out = np.zeros(1000)
    with stream:
        accumulate.async_call(np.zeros(200_000), 200)
        double.async_call(np.arange(1000.0), out)
        gc.collect()
    stream.synchronize()
    np.testing.assert_array_equal(out, np.arange(1000.0) * 2)
    assert _runtime.in_flight_count() == 0


def test_byte_swapped_arrays_come_back_after_an_await():
    out = np.zeros(4, ">f8")

    async def main():
        with cuda.stream():
            assert await double.async_call(np.arange(4.0), out) is out

    asyncio.run(main())
    assert out.tolist() == [0, 2, 4, 6]


def test_errors_surface_at_the_await_and_only_there():
    a = np.zeros(10)

    async def main():
        stream = cuda.stream()
        with stream:
            with pytest.raises(
                IndexError, match=r"index \d+ is out of range for axis 0 of a with shape"
            ) as raised:
                await beyond.async_call(a)
        assert "launched at line" in raised.value.__notes__[0]
        stream.synchronize()

    asyncio.run(main())
    assert not a.any()


def test_errors_surface_at_the_next_synchronize_with_the_launch_line():
    stream = cuda.stream()
    a = cuda.zeros(10)
    with stream:
        launched = beyond.async_call(a)
        line = sys._getframe().f_lineno - 1
        beyond.async_call(a)
    with pytest.raises(IndexError) as raised:
        stream.synchronize()
    assert raised.value.__notes__ == [f"launched at line {line} of {__file__}", "1 later launch failed too"]
    stream.synchronize()
    assert launched.done()
    assert not a.copy_to_host().any()


def test_errors_surface_when_the_array_is_read():
    a = cuda.zeros(10)
    stream = cuda.stream()
    beyond_on_stream = beyond[1, 1, stream]
    try:
        beyond_on_stream(a)
        with pytest.raises(IndexError):
            stream.synchronize()
            a.copy_to_host()
    finally:
        cuda.get_current_device()
    assert not a.copy_to_host().any()


def test_the_device_stays_usable_after_an_error():
    a, out = np.arange(10.0), np.zeros(10)
    with pytest.raises(IndexError):
        beyond(out)
    double(a, out)
    np.testing.assert_array_equal(out, a * 2)


def test_the_traceback_shows_the_kernels_line():
    with pytest.raises(IndexError) as raised:
        beyond[1, 1](np.zeros(10))
    frames = []
    tb = raised.tb
    while tb:
        frames.append((tb.tb_frame.f_code.co_filename, tb.tb_frame.f_code.co_name, tb.tb_lineno))
        tb = tb.tb_next
    file, name, line = frames[-1]
    assert (file, name) == (__file__, "beyond") and "a[i + 1000] = 1" in linecache.getline(file, line)
    assert len(frames) == 2  # this test, then the kernel


def test_work_on_streams_stays_in_order():
    stream, other = cuda.stream(), cuda.stream()
    a = cuda.zeros(50_000)

    @cuda.kernel
    def step(a, n):
        i = cuda.grid(1)
        if i < a.shape[0]:
            a[i] = a[i] * 2 + n

    for n in range(20):
        step[200, 256, stream](a, n)
    reached = stream.record()
    other.wait(reached)
    step[200, 256, other](a, 5)
    expected = 0.0
    for n in [*range(20), 5]:
        expected = expected * 2 + n
    assert (a.copy_to_host() == expected).all()


def test_a_thread_may_launch_while_another_waits():
    a, b = np.zeros(300_000), np.zeros(10)
    stream = cuda.stream()
    with stream:
        accumulate.async_call(a, 100)
    thread = threading.Thread(target=stream.synchronize)
    thread.start()
    for _ in range(10):
        double(np.ones(10), b)
    thread.join()
    assert (b == 2).all()


def test_many_threads_launch_at_once():
    failures = []

    def work(seed):
        a = np.random.default_rng(seed).random(1000)
        out = np.zeros(1000)
        for _ in range(20):
            double(a, out)
            if not (out == a * 2).all():
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures


@pytest.mark.parametrize("how", ["plain", "stream"])
def test_a_runaway_kernel_is_interrupted(how):
    a = np.zeros(2)
    double(np.ones(2), np.zeros(2))
    forever.compile("float64[::1]")
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        if how == "plain":
            forever[1, 1](a)
        else:
            stream = cuda.stream()
            with stream:
                forever[1, 1].async_call(a)
            stream.synchronize()
    out = np.zeros(2)
    double(np.ones(2), out)
    assert out.tolist() == [2, 2]


def test_a_process_may_end_with_work_in_flight():
    code = """
import numpy as np
import xcuda.core as cuda

@cuda.kernel
def accumulate(a, n):
    i = cuda.grid(1)
    if i < a.shape[0]:
        for k in range(n):
            a[i] = a[i] * 1.0000001 + 1e-9

a = cuda.zeros(100_000)
with cuda.stream():
    accumulate.async_call(a, 50)
print("bye")
"""
    import tempfile

    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(code)
        script.flush()
        done = subprocess.run([sys.executable, script.name], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "bye\n", "")
