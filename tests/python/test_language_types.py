"""The types of the list of issue 4: what a kernel's arguments and values can be, run and compiled for GPUs.

Python itself is the reference: the same text, run on the same arguments. See test_language_list.py.
"""

import copy
import dataclasses
import enum
import typing

import numpy as np
import pytest
from frontend_source import TARGETS, compiles, make
from xcuda import core as cuda


class Color(enum.IntEnum):
    red = 1
    green = 4


class Pair(typing.NamedTuple):
    first: float
    second: int


@dataclasses.dataclass
class Body:
    mass: float
    at: tuple


PACKED = np.dtype([("x", "f4"), ("n", "i2"), ("inner", [("y", "f8"), ("v", "f4", (3,))])])
TABLE = np.arange(6.0).reshape(2, 3)
INTEGERS = ("bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)))
FLOATS = ("float16", "float32", "float64", "complex64", "complex128")


def typed(text, *args, **names):
    return text, args, names


def every_dtype(names):
    parameters = ", ".join(f"a{k}" for k in range(len(names)))
    lines = "".join(f"    a{k}[1] = a{k}[0]\n    o[{k}] = a{k}[2]\n" for k in range(len(names)))
    text = f"def f({parameters}, o):\n{lines}"
    arrays = [np.array([1, 0, 1]).astype(name) for name in names]
    return typed(text, *arrays, np.zeros(len(names), complex))


TYPES = {
    "bool and integers": every_dtype(INTEGERS),
    "floats and complex numbers": every_dtype(FLOATS),
    "structured dtypes, nested, with array fields": typed(
        "def f(r, o):\n    r[1].x = r[0].n + 1\n    r[1].inner.y = r[0]['x'] * 2\n    r[1].inner.v[2] = 5\n"
        "    o[0] = r[1].x + r[1].inner.y + r[1].inner.v[2]\n",
        np.array([(1.5, 3, (0, [1, 2, 3])), (0, 0, (0, [0, 0, 0]))], PACKED).view(np.recarray),
        np.zeros(1),
    ),
    "NamedTuples and dataclasses": typed(
        "def f(p, b, o):\n    o[0] = p.first * p.second + b.mass + b.at[1]\n    o[1] = p[0]\n",
        Pair(2.5, 3),
        Body(1.5, (1, 2)),
        np.zeros(2),
    ),
    "tuples as arguments and values": typed(
        "def f(t, u, o):\n    v = (u[0], t)\n    a, (b, c, _) = v\n    o[0] = a + b * c + t[-1] + len(u)\n    for x in t:\n        o[1] += x\n",
        (1, 2, 3),
        (2.5, 4),
        np.zeros(2),
    ),
    "enums, strings and constants": typed(
        "def f(color, mode, o):\n    if color == Color.green:\n        o[0] = 1\n    if mode == 'sum':\n        o[1] = color\n    o[2] = Color.red\n",
        Color.green,
        "sum",
        np.zeros(3),
        Color=Color,
    ),
    "None and optional arguments": typed(
        "def f(a, b, o):\n    o[0] = 1 if a is None else a[0]\n    o[1] = 2 if b is None else b[0]\n",
        None,
        np.array([7.0]),
        np.zeros(2),
    ),
    "datetime64 and timedelta64": typed(
        "def f(t, o):\n    d = t[1] - t[0]\n    o[0] = d / np.timedelta64(1, 'D')\n    o[1] = t[0] < t[1]\n    o[2] = np.isnat(t[2])\n",
        np.array(["2026-12-01", "2026-12-05", "NaT"], "M8[h]"),
        np.zeros(3),
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", TYPES)
def test_types(name):
    text, args, names = TYPES[name]
    f = make(text, name="f", **names)
    expected, found = copy.deepcopy(args), copy.deepcopy(args)
    f(*expected)
    kernel = cuda.kernel(f)
    kernel[1, 1](*found)
    cuda.synchronize()
    for got, want in zip(found, expected, strict=True):
        if isinstance(want, np.ndarray):
            assert got.tobytes() == want.tobytes()
    assert found[-1].any()
    compiles(kernel, args)


def test_arrays_of_a_kernels_own():
    f = make(
        """
        def f(n, o):
            i = cuda.threadIdx.x
            mine = cuda.local.array((2, 3), np.float32)
            fixed = cuda.shared.array(8, np.int64)
            given = cuda.shared.array(0, np.float32)
            table = cuda.const.array_like(TABLE)
            mine[1, 2] = i
            fixed[i] = i * i
            given[i] = i + 0.5
            cuda.syncthreads()
            o[i] = mine[1, -1] + fixed[7 - i] * 10 + given[7 - i] + table[1, 2]
        """,
        TABLE=TABLE,
    )
    out, kernel = np.zeros(8), cuda.kernel(f)
    kernel[1, 8, 0, 32](8, out)
    cuda.synchronize()
    i = np.arange(8)
    np.testing.assert_array_equal(out, i + (7 - i) ** 2 * 10 + (7 - i) + 0.5 + 5)
    compiles(kernel, (8, out), (8, 1, 1))


def test_elementwise_kernels_and_reductions():
    """vectorize, guvectorize and reduce: their kernels compile for GPUs too."""

    @cuda.vectorize(["float32(float32, float32)", "float64(float64, float64)"])
    def scaled(x, y):
        return x * 2 + y

    @cuda.guvectorize(["void(float64[:], float64[:])"], "(n)->()")
    def total(row, out):
        out[0] = 0
        for x in row:
            out[0] += x

    @cuda.reduce
    def added(x, y):
        return x + y

    a = np.arange(12.0)
    np.testing.assert_array_equal(scaled(a, a), a * 3)
    np.testing.assert_array_equal(total(a.reshape(3, 4)), a.reshape(3, 4).sum(1))
    assert added(a) == a.sum()
    made = [*scaled._kernels.values(), *total._kernels.values()]
    assert len(made) == 2
    for kernel in made:
        for signature in kernel.signatures:
            for target in TARGETS:
                assert kernel.compile(signature, target=target)["registers"] > 0
