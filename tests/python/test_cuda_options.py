"""Options of cuda.jit: what each means, what is refused; fast math within its limits."""

import math

import numpy as np
import pytest
from fake_cuda import on_fake
from xcuda import _runtime
from xcuda import core as cuda

NVRTC = next((row for row in _runtime.libraries() if row["name"] == "NVRTC"), None)
needs_nvrtc = pytest.mark.skipif(NVRTC is None or bool(NVRTC["problem"]), reason="NVRTC is not here")


def twice(y, x):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = 2 * x[i]


@pytest.mark.parametrize(
    "options",
    [
        {"opt": False},
        {"lineinfo": True, "debug": False, "cache": True, "inline": "never", "forceinline": True},
        {"max_registers": 32},
        {"launch_bounds": 128},
        {"launch_bounds": (128, 2)},
        {"launch_bounds": (128, 2, 4)},
        {"fastmath": True, "checked": False},
    ],
)
def test_options_keep_results(options):
    kernel = cuda.jit(**options)(twice)
    x = np.arange(100.0)
    y = np.zeros_like(x)
    kernel[1, 128](y, x)
    np.testing.assert_array_equal(y, 2 * x)


def test_launch_bounds_bind():
    kernel = cuda.jit(launch_bounds=64)(twice)
    with pytest.raises(ValueError, match="a block of 128 threads is larger than its launch_bounds allow, 64"):
        kernel[1, 128](np.zeros(4), np.zeros(4))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"max_registers": 0}, "max_registers is a whole number from 1, not 0"),
        ({"launch_bounds": (1, 2, 3, 4)}, "Got 4 launch bounds: launch_bounds is the most threads"),
        ({"launch_bounds": "64"}, "launch_bounds is a whole number"),
    ],
)
def test_refused_values(options, words):
    with pytest.raises(ValueError, match=words):
        cuda.jit(**options)(twice)


def test_refused_names():
    with pytest.raises(TypeError, match="would need a linker"):
        cuda.jit(link=["a.ptx"])(twice)


def heavy(y, x):
    i = cuda.grid(1)
    if i < y.size:
        s = cuda.local.array(32, np.float64)
        for k in range(32):
            s[k] = x[(i + k) % y.size]
        for k in range(32):
            s[k] = s[k] * s[(k * 7 + 3) % 32] + math.sin(s[31 - k])
        t = 0.0
        for k in range(32):
            t += s[k]
        y[i] = t


@needs_nvrtc
def test_registers_and_bounds_reach_the_compiler():
    types = "float64[::1], float64[::1]"
    free = cuda.jit(heavy).compile(types, target="sm_90")
    few = cuda.jit(heavy, max_registers=24).compile(types, target="sm_90")
    assert few["registers"] <= 24 < free["registers"]
    bound = cuda.jit(heavy, launch_bounds=(1024, 2)).compile(types, target="sm_90")
    assert bound["registers"] <= 32


@cuda.kernel(fastmath=True)
def fast(out, bits, x, y, n):
    i = cuda.grid(1)
    if i < x.size:
        out[0, i] = math.pow(x[i], y[i])
        out[1, i] = x[i] ** y[i]
        bits[0, i] = math.isnan(x[i])
        bits[1, i] = x[i] != x[i]
        bits[2, i] = n[i] // 3 * 5 % 7


def test_fast_math_has_limits():
    """CASES, rule 7: integers, NaN tests, and negative numbers to whole powers."""
    x = np.array([-2, -3, -1, 2, 0, np.nan, -2, -8, 1, 0], np.float32)
    y = np.array([2, 3, 5, -2, 0, 1, -1, 0, 7, 3], np.float32)
    n = np.arange(-5, 5) * 1000003
    out, bits = np.zeros((2, 10), np.float32), np.zeros((3, 10), np.int64)
    fast[1, 32](out, bits, x, y, n)
    want = x**y
    for row in out:
        np.testing.assert_allclose(row, want, rtol=1e-5)
    np.testing.assert_array_equal(bits[0], np.isnan(x))
    np.testing.assert_array_equal(bits[1], np.isnan(x))
    np.testing.assert_array_equal(bits[2], n // 3 * 5 % 7)


@needs_nvrtc
@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_120"])
def test_fast_math_compiles(target):
    types = "float32[:, ::1], int64[:, ::1], float32[::1], float32[::1], int64[::1]"
    assert fast.compile(types, target=target)["registers"] > 0


def sines(y, x):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = math.sin(x[i])


def launched(x, **options):
    """(what it wrote, what is known of the machine code) of a launch."""
    kernel, y = cuda.kernel(sines, **options), cuda.zeros(x.size, "float32")
    kernel(y, cuda.to_device(x))
    return y.copy_to_host(), kernel.specialisations[-1]


def is_another_machine_code():
    x = np.full(1000, 1e4, np.float32)
    (exact, plain), (rough, fast) = launched(x), launched(x, fastmath=True)
    # The exact sine of a large angle has a slow way, through memory of the thread's own; the instruction has none.
    assert plain["local_bytes"] > 0 == fast["local_bytes"]
    return exact, rough


@on_fake()
def test_a_launch_of_fast_math_is_another_machine_code():
    is_another_machine_code()


@pytest.mark.skipif(
    not cuda.is_available() or cuda.Device().kind != "cuda", reason="the current device is no GPU"
)
def test_fast_math_is_seen_on_a_gpu():
    exact, rough = is_another_machine_code()
    np.testing.assert_allclose(exact, math.sin(1e4), rtol=1e-5)
    assert not np.array_equal(exact, rough)
