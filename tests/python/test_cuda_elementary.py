"""Float32 sin, cos, log and sqrt on CUDA: whole vectors by a straight line, what that is not for one by one. Run on this
device, and as the CUDA text of a vectorised launch on the host.
"""

import math

import numpy as np
import pytest
from fake_cuda import on_fake
from test_cuda_fault_values import computing
from test_kernel_accuracy import device, off
from xcuda import core as cuda

NAMES = ("sin", "cos", "log", "sqrt")
ULP = {"sin": 2, "cos": 2, "log": 1, "sqrt": 0.5}  # on CUDA; by the CPU device's table 4
EDGES = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    math.inf,
    -math.inf,
    math.nan,
    1e-45,
    -1e-45,
    1.17549421e-38,
    1.17549435e-38,
    2**-102,
]
EDGES += [
    2**-101,
    3.4028235e38,
    -3.4028235e38,
    105614.99,
    105615.0,
    -105615.0,
    105616.0,
    1e20,
    -1e20,
    math.pi,
]
EDGES += [math.pi / 2, math.pi / 4, 0.99999994, 1.0000001, 2 / 3, 4 / 3]


@cuda.kernel
def all_of(s, c, g, r, x):
    i = cuda.grid(1)
    if i < x.shape[0]:
        s[i] = math.sin(x[i])
        c[i] = math.cos(x[i])
        g[i] = np.log(x[i])
        r[i] = np.sqrt(x[i])


def values(x):
    """Of each function over all of x, by an automatic launch, whose threads take four elements each."""
    out = [cuda.zeros(x.size, "float32") for _ in NAMES]
    all_of(*out, cuda.to_device(x))
    return [a.copy_to_host() for a in out]


def numbers(count):
    rng = np.random.default_rng(3)
    bits = rng.integers(0, 2**32, count // 2, dtype=np.uint64).astype(np.uint32).view(np.float32)
    return np.concatenate(
        [np.array(EDGES, np.float32), bits, rng.uniform(-500, 500, count // 2).astype(np.float32)]
    )


def check(x, ulp):
    with np.errstate(all="ignore"):
        for name, got in zip(NAMES, values(x), strict=True):
            worst = off(got, getattr(np, name)(x.astype(np.float64)))
            assert worst.max() <= ulp(name), (name, x[worst.argmax()], got[worst.argmax()])
            zero = x == 0
            if name == "sin" or name == "sqrt":
                assert (np.signbit(got[zero]) == np.signbit(x[zero])).all()


def test_within_what_is_stated():
    on_cuda = device() == "cuda"
    check(numbers(4_000_001), lambda name: ULP[name] if on_cuda or name == "sqrt" else 4)


def expect_the_same_everywhere(count):
    """Each edge and some others, at every place of a vector and in what is left over behind the last one."""
    some = np.concatenate([np.array(EDGES, np.float32), np.linspace(0.1, 900, count, dtype=np.float32)])
    first, *others = (
        [part[before:] for part in values(np.concatenate([np.full(before, 0.5, np.float32), some]))]
        for before in range(4)
    )
    for other in others:
        for name, a, b in zip(NAMES, first, other, strict=True):
            np.testing.assert_array_equal(a.view(np.uint32), b.view(np.uint32), err_msg=name)


def test_a_value_does_not_depend_on_its_place():
    if device() != "cuda":
        pytest.skip("of CUDA's vectors")
    expect_the_same_everywhere(1001)


@on_fake()
def test_the_cuda_text_on_the_host():
    with computing():
        check(numbers(3000), ULP.get)


@on_fake()
def test_the_cuda_text_does_the_same_at_every_place():
    with computing():
        expect_the_same_everywhere(60)
