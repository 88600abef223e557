"""float16: stored as it is, computed in float32 and rounded after each operation; NumPy's float16 is the reference."""

import re

import numpy as np
import pytest
from frontend_source import ir, make, run
from xcuda import core

H = np.float16
EVERY = np.arange(65536, dtype=np.uint16).view(H)


def same(got, want):
    """Equal to the bit, but for which NaN it is."""
    assert got.dtype == want.dtype
    nan = np.isnan(want)
    np.testing.assert_array_equal(np.isnan(got), nan)
    unsigned = np.dtype(f"u{got.itemsize}")
    np.testing.assert_array_equal(got[~nan].view(unsigned), want[~nan].view(unsigned))


def pairs(count=20001, seed=1):
    rng = np.random.default_rng(seed)
    a = np.concatenate([rng.choice(EVERY, count // 2), rng.normal(size=count - count // 2).astype(H) * H(9)])
    return a, rng.permutation(a)


@pytest.mark.parametrize("operator", "+ - * / // %".split())
def test_operators(operator):
    f = make(
        f"def f(a, b, o):\n    i = cuda.grid(1)\n    if i < len(o):\n        o[i] = a[i] {operator} b[i]\n"
    )
    a, b = pairs()
    o = np.zeros_like(a)
    with np.errstate(all="ignore"):
        if operator in ("//", "%"):  # NumPy's array loop and Python agree on finite numbers other than 0
            keep = np.isfinite(a) & np.isfinite(b) & (b != 0)
            a, b, o = a[keep], b[keep], o[keep]
        want = eval(f"a {operator} b")
    run(f, a, b, o, grid=80, block=256)
    if operator in ("//", "%"):
        np.testing.assert_allclose(o.astype(float), want.astype(float), rtol=1e-3, atol=1e-7)
    else:
        same(o, want)


@pytest.mark.parametrize("operator", "< <= == != > >=".split())
def test_comparisons(operator):
    f = make(
        f"def f(a, b, o):\n    i = cuda.grid(1)\n    if i < len(o):\n        o[i] = a[i] {operator} b[i]\n"
    )
    a, b = pairs()
    b[::3] = a[::3]
    o = np.zeros(len(a), bool)
    run(f, a, b, o, grid=80, block=256)
    np.testing.assert_array_equal(o, eval(f"a {operator} b"))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8", "int64", "bool"])
def test_casts_of_every_half(dtype):
    f = make("def f(a, o):\n    i = cuda.grid(1)\n    if i < len(o):\n        o[i] = a[i]\n")
    a = (
        EVERY
        if dtype.startswith("f") or dtype == "bool"
        else EVERY[np.abs(np.nan_to_num(EVERY, nan=1e4)) < 200]
    )
    o = np.zeros(len(a), dtype)
    with np.errstate(all="ignore"):
        want = a.astype(dtype)
    if dtype == "uint8":
        a, o, want = a[a >= 0], o[a >= 0], want[a >= 0]
    run(f, a, o, grid=256, block=256)
    np.testing.assert_array_equal(o, want)


def test_casts_to_half_round_once():
    rng = np.random.default_rng(7)
    middle = (EVERY[:31743].astype(np.float64) + EVERY[1:31744].astype(np.float64)) / 2
    x = np.concatenate(
        [
            middle,
            middle * (1 + 2.0**-50),
            middle * (1 - 2.0**-50),
            -middle * (1 + 2.0**-52),
            rng.normal(size=9999) * 1e5,
        ]
    )
    f = make("def f(a, o):\n    i = cuda.grid(1)\n    if i < len(o):\n        o[i] = a[i]\n")
    for dtype in (np.float64, np.float32, np.int32):
        with np.errstate(all="ignore"):
            a = x.astype(dtype)
            want = a.astype(H)
        o = np.zeros(len(a), H)
        run(f, a, o, grid=-(-len(a) // 256), block=256)
        same(o, want)


def test_types_and_weak_numbers():
    assert re.search(r"var t(#\d+)?: float16", ir("def f(a):\n    t = a[0] * 2.0 + 1\n", "float16[1]"))
    assert "var t: float32" in ir("def f(a, b):\n    t = a[0] * b[0]\n", "float16[1], float32[1]")
    assert "var sum: float16" in ir(
        "def f(a):\n    sum = 0.0\n    for v in a:\n        sum += v\n", "float16[1]"
    )
    f = make(
        "def f(a, o, w):\n    i = cuda.grid(1)\n    if i < len(o):\n        o[i] = a[i] * 1.1 + 0.3\n        w[i] = -a[i] if a[i] < 0.1 else abs(a[i]) ** 2\n"
    )
    a, _ = pairs()
    o, w = np.zeros_like(a), np.zeros_like(a)
    with np.errstate(all="ignore"):
        want, wanted = a * H(1.1) + H(0.3), np.where(a < H(0.1), -a, np.abs(a) ** 2)
    run(f, a, o, w, grid=80, block=256)
    same(o, want)
    same(w, wanted)


def test_case_27_half_against_float32():
    o = np.zeros(2)
    run(make("def f(o, h, s):\n    o[0] = h < s\n    o[1] = h * h\n"), o, H(1), np.float32(1.000001))
    assert o[0] == 1


def test_a_sum_in_half_is_rounded_each_time():
    f = make(
        "def f(a, o):\n    t = np.float16(0)\n    for v in a:\n        t += v\n    o[0] = t\n    o[1] = sum(a)\n    o[2] = max(a)\n"
    )
    a = (np.random.default_rng(3).random(3000) * 4).astype(H)
    o, total = np.zeros(3, H), H(0)
    for v in a:
        total = H(total + v)
    run(f, a, o)
    assert o.tolist() == [total, total, a.max()]


@pytest.mark.parametrize("name", ["sqrt", "exp", "sin", "floor", "maximum", "hypot", "where"])
def test_functions_give_half(name):
    call = {
        "maximum": "np.maximum(a[i], 0.3)",
        "hypot": "np.hypot(a[i], a[i])",
        "where": "np.where(a[i] > 1, a[i], 2)",
    }
    text = call.get(name, f"np.{name}(a[i])")
    f = make(
        f"def f(a, o):\n    i = cuda.grid(1)\n    if i < len(o):\n        t = {text}\n        o[i] = t\n"
    )
    a = np.abs(np.random.default_rng(2).normal(size=5001)).astype(H)
    o = np.zeros_like(a)
    run(f, a, o, grid=20, block=256)
    want = {"maximum": np.maximum(a, H(0.3)), "hypot": np.hypot(a, a), "where": np.where(a > 1, a, H(2))}
    np.testing.assert_allclose(
        o.astype(float),
        want[name].astype(float) if name in want else getattr(np, name)(a).astype(float),
        rtol=1e-3,
    )
    assert re.search(
        r"var t(#\d+)?: float16", ir(f"def f(a, i):\n    t = {text}\n", "float16[1], weak int64")
    )


def test_half_in_shared_memory_and_on_the_gpus_text():
    f = make(
        "def f(a, o):\n    s = cuda.shared.array(64, np.float16)\n    x = cuda.threadIdx.x\n    s[x] = a[x] * 2\n    cuda.syncthreads()\n"
        "    o[x] = s[::-1][x] + np.float16(0.5)\n"
    )
    a, o = np.arange(64).astype(H), np.zeros(64, H)
    kernel = core.kernel(f)
    kernel[1, 64](a, o)
    same(o, a[::-1] * 2 + H(0.5))
    for target in ("sm_80", "sm_90", "sm_120"):
        try:
            figures = kernel.compile("float16[::1], float16[::1]", target=target)
        except Exception as error:
            if "NVRTC" not in str(error) and "nvrtc" not in str(error):
                raise
            pytest.skip(f"no compiler for CUDA here: {error}")
        assert figures["shared_bytes"] == 128


def test_reversed_byte_order_and_scalars():
    o = np.zeros(3, H)
    run(
        make("def f(o, a, s):\n    i = cuda.grid(1)\n    o[i] = a[i] + s\n"),
        o,
        np.arange(3).astype(">f2"),
        H(0.25),
        block=3,
    )
    assert o.tolist() == [0.25, 1.25, 2.25]
