"""profiler.benchmark: what it counts, what it leaves out, and what it says of both."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest
import xcuda.core as cuda
from jupyterlab_sanitizer import sanitized
from test_magics_render import Structure
from xcuda import profiler
from xcuda.magics.render import render_benchmark
from xcuda.profiler import caches
from xcuda.profiler.caches import Sweep, last_level_cache
from xcuda.profiler.timing import Spread


@cuda.kernel
def scale(x, by):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = x[i] * by


@pytest.fixture(autouse=True)
def small_sweeps(monkeypatch):
    """What is swept through the caches is not what these tests are about."""
    monkeypatch.setattr(caches, "MOST", caches.LEAST)


def on_device(n=100_000):
    return cuda.to_device(np.ones(n, np.float32))


def test_a_kernel_on_device_arrays_has_device_and_host_time():
    timed = profiler.benchmark(scale, on_device(), np.float32(1), budget=0.05)
    assert timed.launches == 1 and timed.copied == 0
    assert timed.warm.calls >= 5 and timed.cold.calls >= 5
    for timing in (timed.warm, timed.cold):
        for total, device, host in zip(
            timing.total.samples, timing.device.samples, timing.host.samples, strict=True
        ):
            assert 0 < device <= total * 1.001
            assert host == pytest.approx(max(total - device, 0))
        assert all(r <= t for r, t in zip(timing.returned.samples, timing.total.samples, strict=True))
    assert timed.median == timed.warm.total.median > 0
    assert timed.name == "scale" and timed.device_label == cuda.Device().label


def test_the_device_time_is_the_kernels_and_the_host_time_is_the_rest():
    x = on_device(1000)

    def slow_host():
        time.sleep(0.01)
        scale(x, np.float32(1))

    timed = profiler.benchmark(slow_host, calls=3, cold=False)
    assert timed.warm.host.min > 0.009
    assert timed.cold is None


def test_work_that_outlives_the_call_is_waited_for():
    x = on_device(4_000_000)
    stream = cuda.Stream()

    def starts():
        with stream:
            scale.async_call(x, np.float32(1))

    timed = profiler.benchmark(starts, calls=5, cold=False)
    assert timed.warm.device is not None
    assert all(t >= d for t, d in zip(timed.warm.total.samples, timed.warm.device.samples, strict=True))


def test_host_arrays_copies_are_told():
    if cuda.Device().kind == "cpu":
        pytest.skip("the CPU device reads host arrays where they are")
    timed = profiler.benchmark(scale, np.ones(1000, np.float32), np.float32(1), calls=3, cold=False)
    assert timed.copied == 8000


def test_the_number_of_calls_and_keywords_are_the_users():
    counted = []
    profiler.benchmark(lambda *, by: counted.append(by), by=7, calls=4, cold=False)
    assert set(counted) == {7}
    assert len(counted) >= 4 + 3 + 1  # counted, warming up, the first


def test_the_first_call_and_its_compile_are_apart():
    @cuda.kernel
    def fresh(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = x[i] + 0.25

    timed = profiler.benchmark(fresh, on_device(10), calls=3, cold=False)
    assert timed.compiled == 1
    assert timed.first_call > timed.warm.total.median
    assert "with 1 kernel compiled" in repr(timed)


def test_a_function_without_a_device_says_so():
    timed = profiler.benchmark(sum, [1, 2, 3], calls=5, cold=False)
    assert timed.warm.device is None and timed.warm.host is None
    assert "no device time: it launches nothing on a device" in repr(timed)


def test_what_was_measured_is_said():
    text = repr(profiler.benchmark(scale, on_device(), np.float32(1), budget=0.02))
    assert re.match(r"scale: [\d.]+ [nµm]?s a call on ", text)
    assert re.search(r"\n  warm .*device .*host .*\d+ calls\n  cold ", text)
    assert "a call starts 1 launch" in text
    assert re.search(r"cold: \d+ MiB swept through the caches before each call", text)


def test_caches_that_are_larger_than_the_sweep_are_told():
    whole = Sweep(None, None, 64 << 20, 32 << 20)
    partly = Sweep(None, None, 64 << 20, 260 << 20)
    unknown = Sweep(None, None, 64 << 20, None)
    assert whole.whole and whole.told == "64 MiB swept through the caches before each call"
    assert "the last-level cache holds 260 MiB, so data may be left in it" in partly.told
    assert "how large those are is not known" in unknown.told


def test_the_largest_cache_is_the_last_level(tmp_path):
    for index, size in enumerate(("48K", "2048K", "491520K")):
        (tmp_path / f"index{index}").mkdir()
        (tmp_path / f"index{index}" / "size").write_text(size + "\n")
    assert last_level_cache(str(tmp_path)) == 480 << 20
    assert last_level_cache(str(tmp_path / "none")) is None


def test_the_sweep_walks_through_all_of_its_buffer():
    from xcuda.profiler.caches import sweep

    empty = sweep()
    empty()
    empty()
    assert empty.buffer[:1].copy_to_host()[0] == 2 == empty.buffer[-1:].copy_to_host()[0]
    assert empty.buffer.nbytes == empty.bytes


def test_medians_and_quartiles():
    spread = Spread((4.0, 1.0, 2.0, 3.0, 100.0))
    assert (spread.min, spread.low, spread.median, spread.high, spread.max) == (1, 2, 3, 4, 100)
    assert Spread((5.0,)).low == Spread((5.0,)).high == 5


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        ({"calls": 0}, ValueError, "calls is how often the function is called, 1 or more, not 0"),
        ({"budget": 0}, ValueError, "budget is in seconds, above 0, not 0"),
        ({"budget": float("nan")}, ValueError, "budget is in seconds"),
    ],
)
def test_refusals(options, error, sentence):
    with pytest.raises(error, match=sentence):
        profiler.benchmark(sum, [1], **options)


def test_only_functions_and_their_own_errors():
    with pytest.raises(TypeError, match="benchmark takes a function and its arguments, not int"):
        profiler.benchmark(3)
    with pytest.raises(ZeroDivisionError):
        profiler.benchmark(lambda: 1 / 0)


def test_its_html_survives_the_sanitizer():
    page = render_benchmark(profiler.benchmark(scale, on_device(), np.float32(1), calls=3))[0]["text/html"]
    whole, left = Structure(page), Structure(sanitized(page))
    assert whole.tags == left.tags and whole.text == left.text
    assert "warm" in whole.text and "cold" in whole.text and "color" not in page
    nothing = render_benchmark(profiler.benchmark(lambda: 0, calls=3))[0]["text/html"]
    assert "–" in nothing
