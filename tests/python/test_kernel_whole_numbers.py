"""Whole numbers, classes and steps of floats: math's, NumPy's and the methods of numbers, value by value; Python's errors."""

import math

import numpy as np
import pytest
from frontend_source import compiles, make, run
from xcuda import core

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
EDGES = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    1.5,
    5e-324,
    -5e-324,
    1.7976931348623157e308,
    np.inf,
    -np.inf,
    np.nan,
    2.0**-1022,
    0.1,
]


def each(expression, *arrays, dtype, **names):
    params = "abcd"[: len(arrays)]
    text = f"def f({', '.join('p' + p for p in params)}, o):\n    i = cuda.grid(1)\n    if i < len(o):\n"
    text += "".join(f"        {p} = p{p}[i]\n" for p in params) + f"        o[i] = {expression}\n"
    out = np.zeros(len(arrays[0]), dtype)
    run(make(text, **names), *arrays, out, grid=-(-len(out) // 64), block=64)
    return out


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", ["gcd", "lcm"])
def test_divisors_and_multiples(name, dtype):
    limits = np.iinfo(dtype)
    edges = np.array([limits.min, limits.max, 0, 1, 2, 12, 18, limits.max - 1, limits.max // 2 + 1], dtype)
    a, b = (x.ravel() for x in np.meshgrid(edges, edges))
    want = getattr(np, name)(a, b)
    np.testing.assert_array_equal(each(f"np.{name}(a, b)", a, b, dtype=dtype), want)


def test_maths_are_pythons_ints():
    n = np.arange(40)
    k = np.random.default_rng(3).integers(0, 40, 40)
    for name, fits in (("comb", n >= 0), ("perm", np.minimum(n, k) < 12), ("gcd", n >= 0), ("lcm", n >= 0)):
        got = each(f"math.{name}(a, b)", n, k, dtype="i8")
        want = np.array([getattr(math, name)(int(x), int(y)) for x, y in zip(n, k, strict=True)], object)
        assert got[fits].tolist() == want[fits].tolist(), name
    assert each("math.factorial(a)", n[:21], dtype="i8").tolist() == [math.factorial(x) for x in range(21)]
    assert each("math.perm(a)", n[:21], dtype="i8").tolist() == [math.factorial(x) for x in range(21)]
    large = np.array([0, 1, 2, 3, 4, 2**53 - 1, 2**53, 10**18, 3037000499**2, 3037000499**2 - 1, 2**63 - 1])
    assert each("math.isqrt(a)", large, dtype="i8").tolist() == [math.isqrt(int(x)) for x in large]
    assert each("min(math.gcd(a, 12), np.int32(5))", n.astype("i4"), dtype="i4").tolist() == [
        min(math.gcd(x, 12), 5) for x in range(40)
    ]


@pytest.mark.parametrize(
    "expression, error",
    [
        ("math.isqrt(n - 5)", ValueError),
        ("math.factorial(n - 5)", ValueError),
        ("math.factorial(n + 20)", OverflowError),
        ("math.comb(n, -1)", ValueError),
    ],
)
def test_what_python_raises(expression, error):
    with pytest.raises(error):
        run(make(f"def f(n, o):\n    o[0] = {expression}\n"), 1, np.zeros(1))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", ["spacing", "nan_to_num", "isposinf", "isneginf"])
def test_classes_and_steps(name, dtype):
    a = np.array(EDGES).astype(dtype)
    want = getattr(np, name)(a)
    np.testing.assert_array_equal(each(f"np.{name}(a)", a, dtype=want.dtype), want)


def test_ulp_and_heaviside():
    a = np.array(EDGES)
    np.testing.assert_array_equal(each("math.ulp(a)", a, dtype="f8"), [math.ulp(x) for x in EDGES])
    np.testing.assert_array_equal(each("np.heaviside(a, 0.5)", a, dtype="f8"), np.heaviside(a, 0.5))


@pytest.mark.filterwarnings("ignore")
def test_isclose():
    a, b = (x.ravel() for x in np.meshgrid([*EDGES, 1 + 1e-10, 1 + 1e-6, 1e-9], [*EDGES, 1 + 1e-7]))
    np.testing.assert_array_equal(each("np.isclose(a, b)", a, b, dtype=bool), np.isclose(a, b))
    for options in ("", ", rel_tol=1e-5", ", abs_tol=1e-6", ", rel_tol=0.1, abs_tol=0.5"):
        want = [eval(f"math.isclose(x, y{options})") for x, y in zip(a, b, strict=True)]
        np.testing.assert_array_equal(each(f"math.isclose(a, b{options})", a, b, dtype=bool), want)
    got = each("np.isclose(a, b, atol=0.5, rtol=0.0)", a, b, dtype=bool)
    np.testing.assert_array_equal(got, np.isclose(a, b, atol=0.5, rtol=0.0))


def test_methods_of_numbers():
    n = np.array([0, 1, -1, 255, -256, 2**62, -(2**63)])
    assert each("a.bit_length()", n, dtype="i8").tolist() == [int(x).bit_length() for x in n]
    f = np.array([0.0, 1.5, -2.0, np.inf, np.nan, 1e300])
    assert each("a.is_integer()", f, dtype=bool).tolist() == [bool(x.is_integer()) for x in f]
    assert each("a.astype(np.int32)", f[:3], dtype="i4").tolist() == [0, 1, -2]
    assert each("a.item() / 4", f[:3], dtype="f8").tolist() == [0.0, 0.375, -0.5]
    assert each("operator.index(a)", n, dtype="i8", operator=__import__("operator")).tolist() == n.tolist()


def test_members_of_arrays():
    f = make("""
        def f(a, A, o):
            o[0] = 2.0 in a
            o[1] = 7 in a
            o[2] = 9 not in A
            o[3] = a[1] in A[0]
            o[4] = np.nan in a
            o[5] = 3 in a[:0]
    """)
    a, A, o = np.array([1, 2, np.nan]), np.arange(6.0).reshape(2, 3), np.zeros(6)
    run(f, a, A, o)
    assert o.tolist() == [2.0 in a, 7 in a, 9 not in A, a[1] in A[0], np.nan in a, 3 in a[:0]]


def test_the_cuda_text_compiles():
    @core.kernel
    def kernel(n, x, o):
        i = core.grid(1)
        if i < len(o):
            o[i] = math.comb(n[i], 3) + math.isqrt(n[i]) + math.gcd(n[i], 12) + n[i].bit_length()
            o[i] += np.spacing(x[i]) + math.ulp(x[i]) + np.nan_to_num(x[i]) + np.logaddexp2(x[i], 1.0)
            o[i] += np.lcm(n[i], 6) + math.factorial(n[i]) + (x[i] in x) + math.isclose(x[i], 1.0)

    compiles(kernel, (np.zeros(4, "i8"), np.zeros(4, "f4"), np.zeros(4)))
    compiles(kernel, (np.zeros(4, "i2"), np.zeros(4, "f8"), np.zeros(4)))
