"""Single instructions that numba names: bits, fused multiply-add, upper products, byte permutations."""

from fractions import Fraction

import numpy as np
import pytest
from xcuda import core as cuda

INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
WORDS = [np.int32, np.uint32, np.int64, np.uint64]


def edge_values(dtype):
    info = np.iinfo(dtype)
    rng = np.random.default_rng(2)
    some = [0, 1, 2, 3, info.max, info.max - 1, info.min, info.min + 1, info.max // 2 + 1]
    return np.array([*some, *rng.integers(info.min, info.max, 50, dtype)], dtype)


def bits(x, width):
    return format(int(x) & ((1 << width) - 1), f"0{width}b")


@cuda.kernel
def popc(out, x):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = cuda.popc(x[i])


@pytest.mark.parametrize("dtype", INTEGERS)
def test_popc(dtype):
    x = edge_values(dtype)
    out = np.zeros_like(x)
    popc[2, 64](out, x)
    assert out.tolist() == [bits(v, x.itemsize * 8).count("1") for v in x]


@cuda.kernel
def words(reverse, zeros, first, x):
    i = cuda.grid(1)
    if i < x.size:
        reverse[i] = cuda.brev(x[i])
        zeros[i] = cuda.clz(x[i])
        first[i] = cuda.ffs(x[i])


@pytest.mark.parametrize("dtype", WORDS)
def test_reversed_and_counted(dtype):
    x = edge_values(dtype)
    width = x.itemsize * 8
    reverse = np.zeros(x.size, np.uint32 if width == 32 else np.uint64)
    zeros, first = np.zeros_like(x), np.zeros(x.size, np.uint32)
    words[1, 64](reverse, zeros, first, x)
    for i, v in enumerate(x):
        b = bits(v, width)
        assert int(reverse[i]) == int(b[::-1], 2)
        assert zeros[i] == (width if "1" not in b else b.index("1"))
        assert first[i] == (0 if "1" not in b else b[::-1].index("1") + 1)


@cuda.kernel
def products(high, x, y):
    i = cuda.grid(1)
    if i < x.size:
        high[i] = cuda.mulhi(x[i], y[i])


@pytest.mark.parametrize("dtype", WORDS)
def test_upper_half_of_a_product(dtype):
    x = edge_values(dtype)
    y = x[::-1].copy()
    out = np.zeros_like(x)
    products[1, 64](out, x, y)
    assert out.tolist() == [int(a) * int(b) >> x.itemsize * 8 for a, b in zip(x, y, strict=True)]


@cuda.kernel
def fused(out, x, y, z):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = cuda.fma(x[i], y[i], z[i])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fma_rounds_once(dtype):
    rng = np.random.default_rng(4)
    x, y = rng.random(60).astype(dtype), rng.random(60).astype(dtype)
    z = -(x * y)  # what is left is the product's rounding error
    out = np.zeros_like(x)
    fused[1, 64](out, x, y, z)
    exact = [
        Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c)) for a, b, c in zip(x, y, z, strict=True)
    ]
    assert [Fraction(float(v)) for v in out] == exact


@cuda.kernel
def others(root, cube, bound, chosen, x, y):
    i = cuda.grid(1)
    if i < x.size:
        root[i] = cuda.rsqrt(x[i])
        cube[i] = cuda.cbrt(x[i])
        bound[i] = cuda.saturate(x[i])
        chosen[i] = cuda.selp(x[i] < 1, x[i], y[i])


def test_roots_and_choices():
    x = np.array([0.25, 4, 27, 1e-8, 0.5, 1], np.float32)
    y = -x
    out = [np.zeros_like(x) for _ in range(4)]
    others[1, 8](*out, x, y)
    np.testing.assert_allclose(out[0], 1 / np.sqrt(x), rtol=4e-7)
    np.testing.assert_allclose(out[1], np.cbrt(x), rtol=4e-7)
    np.testing.assert_array_equal(out[2], np.clip(x, 0, 1))
    np.testing.assert_array_equal(out[3], np.where(x < 1, x, y))


@cuda.kernel
def permute(out, x, y, s):
    i = cuda.grid(1)
    if i < s.size:
        out[i] = cuda.byte_perm(x, y, s[i])


def test_byte_perm():
    x, y = 0x83020100, 0x07068504
    selectors = np.array([0x3210, 0x7654, 0x0123, 0x5040, 0xB9C8], np.uint32)
    out = np.zeros(5, np.uint32)
    permute[1, 8](out, np.uint32(x), np.uint32(y), selectors)
    source = [x >> 8 * k & 255 for k in range(4)] + [y >> 8 * k & 255 for k in range(4)]
    # Three bits of each digit count, as in CUDA C++.
    want = [sum(source[int(s) >> 4 * k & 7] << 8 * k for k in range(4)) for s in selectors]
    assert out.tolist() == want


@cuda.kernel
def of_libdevice(single, double, x):
    i = cuda.grid(1)
    if i < x.size:
        single[i] = cuda.libdevice.sinf(x[i])
        double[i] = cuda.libdevice.pow(x[i], 1.5) + cuda.libdevice.fmin(x[i], 0.25)


def test_libdevice():
    x = np.linspace(0, 3, 40)
    single, double = np.zeros(40, np.float32), np.zeros(40)
    of_libdevice[1, 64](single, double, x.astype(np.float32))
    np.testing.assert_allclose(single, np.sin(x), rtol=1e-5, atol=1e-6)
    x32 = x.astype(np.float32).astype(float)
    np.testing.assert_allclose(double, x32**1.5 + np.minimum(x32, 0.25), rtol=1e-12)


def test_what_the_names_say_outside_a_kernel():
    assert cuda.warpsize == 32
    assert "popc" in dir(cuda) and "shfl_sync" in dir(cuda)
    assert "bits of x" in cuda.popc.__doc__
    with pytest.raises(RuntimeError, match=r"cuda.popc\(\) has a meaning inside a kernel only"):
        cuda.popc(3)
    with pytest.raises(AttributeError):
        cuda.no_such_thing


@cuda.kernel
def wrong(x):
    x[0] = cuda.popc(x[0])


def test_refusals():
    with pytest.raises(cuda.KernelSyntaxError, match=r"popc\(\) does not take float64"):
        wrong[1, 1](np.ones(1))
