"""frexp, modf, remainder, bit_count and members of an Enum by name, against Python and NumPy."""

import enum
import math

import numpy as np
import pytest
from frontend_source import compiles, make, run
from xcuda import core as cuda
from xcuda.core.errors import KernelSyntaxError

VALUES = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    3.1415,
    -2.5,
    0.5,
    1e-310,
    -5e-324,
    1e300,
    math.inf,
    -math.inf,
    math.nan,
    2.0**52,
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_frexp_and_modf_are_pythons(dtype):
    with np.errstate(over="ignore"):
        x = np.array(VALUES, dtype)
    f = make(
        """
        def f(x, m, e, a, b, whole, exponents):
            for i in range(x.shape[0]):
                m[i], e[i] = math.frexp(x[i])
                a[i], b[i] = math.modf(x[i])
            np.modf(x, whole[0], whole[1])
            np.frexp(x, whole[2], exponents)
        """
    )
    m, a, b, whole = np.zeros_like(x), np.zeros_like(x), np.zeros_like(x), np.zeros((3, x.size), dtype)
    e, exponents = np.zeros(x.size, np.int64), np.zeros(x.size, np.int32)
    run(f, x, m, e, a, b, whole, exponents)
    for k, value in enumerate(x):
        for got, want in (((m[k], e[k]), math.frexp(value)), ((a[k], b[k]), math.modf(value))):
            np.testing.assert_array_equal(got, want, err_msg=str(value))
            assert [math.copysign(1, g) for g in got] == [math.copysign(1, w) for w in want] or math.isnan(
                value
            )
    np.testing.assert_array_equal(whole[:2], np.modf(x))
    finite = np.isfinite(x)
    np.testing.assert_array_equal(whole[2][finite], np.frexp(x)[0][finite])
    np.testing.assert_array_equal(exponents[finite], np.frexp(x)[1][finite])
    compiles(cuda.kernel(f), (x, m, e, a, b, whole, exponents))


def test_remainder_is_maths():
    pairs = [(x, y) for x in (5.5, -5.5, 3.0, 7.5, 1e300, 0.0, 1.5) for y in (2.0, -2.0, 3.0, 0.7, math.inf)]
    x, y = np.array(pairs).T.copy()
    out, of_ints = np.zeros(len(x)), np.zeros(3)
    f = make(
        """
        def f(x, y, out, of_ints, zero):
            for i in range(x.shape[0]):
                out[i] = math.remainder(x[i], y[i])
            of_ints[0] = math.remainder(7, 4)
            of_ints[1] = math.remainder(zero, zero)
            of_ints[2] = math.remainder(zero + 5, zero + 2)
        """
    )
    run(f, x, y, out, of_ints, 0)
    np.testing.assert_array_equal(out, [math.remainder(*pair) for pair in pairs])
    np.testing.assert_array_equal(of_ints, [-1, math.nan, 1])
    compiles(cuda.kernel(f), (x, y, out, of_ints, 0))


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
def test_bit_count_is_of_the_absolute_value(dtype):
    info = np.iinfo(dtype)
    x = np.array([0, 1, 5, info.max, info.min, info.max - 7, info.min + 1], dtype)
    out, counts = np.zeros(x.size, np.int64), np.zeros(x.size, np.uint8)
    f = make(
        """
        def f(x, out, counts):
            for i in range(x.shape[0]):
                out[i] = x[i].bit_count()
            np.bitwise_count(x, counts)
        """
    )
    run(f, x, out, counts)
    np.testing.assert_array_equal(counts, np.bitwise_count(x))
    np.testing.assert_array_equal(out, [int(v).bit_count() for v in x])
    compiles(cuda.kernel(f), (x, out, counts))


class Color(enum.Enum):
    red = 1
    green = 2


class Code(enum.IntEnum):
    lost = 404
    broken = 500


def test_members_of_an_enum_by_their_name():
    f = make(
        """
        def f(out, x):
            out[0] = Color["red"] == Color.red
            out[1] = Color["red"] == Color["green"]
            out[2] = Code["lost"] + x
        """,
        Color=Color,
        Code=Code,
    )
    out = np.full(3, -1)
    run(f, out, 1)
    np.testing.assert_array_equal(out, [1, 0, 405])
    for body, words in (("Code['last']", "has no member 'last'; did you mean 'lost'"), ("Code['x']", "it has lost, broken"),
                        ("Code[x]", "a member of Code is named by a string")):  # fmt: skip
        with pytest.raises(KernelSyntaxError, match=words):
            run(make(f"def f(out, x):\n    out[0] = {body}\n", Code=Code), out, 1)
