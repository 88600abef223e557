"""Loops over arrays, enumerate, zip, reversed and tuples; sum, min, max, any, all; walrus and unpacking.

The kernels here use no thread coordinates: Python itself, run on the same arrays, is the reference.
"""

import numpy as np
import pytest
from frontend_source import make, run


def check(function, *args, rtol=0):
    """Runs `function` in Python and as a kernel of one thread; its arrays must agree after both."""
    expected = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    with np.errstate(all="ignore"):
        function(*expected)
    run(function, *args)
    for number, (got, want) in enumerate(zip(args, expected, strict=True)):
        if isinstance(got, np.ndarray):
            np.testing.assert_allclose(got, want, rtol=rtol, err_msg=f"argument {number}")


def data(*shape, seed=5):
    return np.random.default_rng(seed).integers(-50, 50, shape)


LOOPS = {
    "over an array": "n = 0\nfor v in a:\n    o[n] = v * 2\n    n += 1",
    "over rows": "for row in A:\n    for v in row:\n        o[0] += v\n    o[1] += row[-1]",
    "over a slice": "for v in a[::-2]:\n    o[0] = o[0] * 3 + v",
    "over a column": "for v in A[:, 1]:\n    o[0] = o[0] * 3 + v",
    "enumerate": "for i, v in enumerate(a):\n    o[i] = v + i",
    "enumerate from": "for i, v in enumerate(a[:3], 5):\n    o[i] = v\nfor i, v in enumerate(a[:2], start=-2):\n    o[i] += v",
    "enumerate a tuple": "for i, v in enumerate((7, 8.5, a[0])):\n    o[i] = int(v * 2)",
    "enumerate rows": "for i, row in enumerate(A):\n    o[i] = row[0] + len(row)",
    "zip": "for x, y in zip(a, A[0]):\n    o[0] += x * y",
    "zip of different lengths": "for x, y, k in zip(a, a[1:], range(10, 100, 7)):\n    o[1] += x * y + k",
    "zip of tuples": "for x, y in zip((1, 2, 3), (4, 5)):\n    o[x] = y",
    "zip of a tuple and a range": "for x, k in zip((5, 6, 7), range(3)):\n    o[k] = x",
    "zip in enumerate": "for i, (x, y) in enumerate(zip(a, a[::-1])):\n    o[i] = x - 2 * y",
    "reversed array": "n = 0\nfor v in reversed(a):\n    o[n] = v\n    n += 1",
    "reversed range": "for i in reversed(range(len(a))):\n    o[0] = o[0] * 2 + a[i]",
    "reversed steps": "for i in reversed(range(1, 8, 3)):\n    o[0] = o[0] * 10 + i\nfor i in reversed(range(9, 0, -4)):\n    o[1] = o[1] * 10 + i\n"
    "for i in reversed(range(3, 3)):\n    o[2] = 1\nfor i in reversed(range(5, 2, 2)):\n    o[3] = 1",
    "reversed tuple": "for i in reversed((1, 2, 3)):\n    o[0] = o[0] * 10 + i",
    "reversed enumerate of a tuple": "for v in reversed((a[0], a[-1])):\n    o[0] = o[0] * 3 + v",
    "break in a tuple": "for v in (3, 1, 4, 1, 5):\n    o[0] += v\n    if o[0] > 7:\n        break\nelse:\n    o[1] = 1\no[2] = v",
    "continue in a tuple": "for v in (3, 1, 4, 1, 5):\n    if v == 1:\n        continue\n    o[0] = o[0] * 10 + v\nelse:\n    o[1] = 1",
    "break in nested tuples": "for x in (1, 2, 3):\n    for y in (1, 2, 3):\n        if y == x:\n            continue\n        if x * y == 6:\n            break\n"
    "        o[0] = o[0] * 10 + x * y\n    else:\n        o[1] += x",
    "break in an array": "for i, v in enumerate(a):\n    if v < 0:\n        break\n    o[i] = v\nelse:\n    o[0] = 99",
    "variable after the loop": "for v in a:\n    if v > 30:\n        break\no[0] = v",
    "the array changes meanwhile": "for i, v in enumerate(a):\n    a[(i + 1) % len(a)] += v\n    o[i] = v",
    "the name changes meanwhile": "lo = 1\nfor v in a[lo:]:\n    lo += 1\n    o[0] += v * lo",
    "one name, two arrays": "v = a\no[0] = v[0]\nv = A[0]\no[1] = v[1]\nif o[0] > 0:\n    v = a[1:]\n    o[2] = len(v)\nelse:\n    v = a\n    o[2] = v[0]",
    "a tuple's item by run time": "t = (5, a[0], 7)\nfor i in range(-3, 3):\n    o[i] = t[i] * 10\nfor i in range(2):\n    o[i] += a.shape[i - 1]",
    "aliases": "v = a[0]\na[0] = 17\no[0] = v\nfor w in a[:1]:\n    a[0] = 3\n    o[1] = w",
}


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_loops(name, n):
    body = "".join(f"    {line}\n" for line in LOOPS[name].split("\n"))
    check(make(f"def f(a, A, o):\n{body}"), data(n), data(max(n, 2), 5, seed=n), np.zeros(12, int))


REDUCTIONS = [
    "sum(a)",
    "sum(a[1:])",
    "sum(a, 10)",
    "sum(range(2, 30, 3))",
    "sum((1, 2, a[0]))",
    "sum(a[0:0])",
    "sum(x * x for x in a)",
    "sum(x * y for x, y in zip(a, a[::-1]))",
    "sum(x for x in a if x > 0)",
    "sum(x * y for x in a for y in A[0] if x > y)",
    "sum(1 for x in a if x > 0 if x % 2 == 0)",
    "sum(a[i] * i for i in range(len(a)))",
    "sum(row[0] for row in A)",
    "sum(sum(row) for row in A)",
    "min(a)",
    "max(a)",
    "min(a[::2])",
    "max(A[1])",
    "min(x * x for x in a)",
    "max(abs(x) for x in a)",
    "min(range(5, 9))",
    "max(range(9, 2, -3))",
    "max((3, 1, a[0]))",
    "min(max(row) for row in A)",
    "int(any(x > 20 for x in a))",
    "int(all(x > -20 for x in a))",
    "int(any(a))",
    "int(all(a))",
    "int(any((a[0] > 3, False)))",
    "int(all(()))",
    "int(any(()))",
    "int(any(a[0:0]))",
    "int(all(x != 0 for x in (1, 2, a[0])))",
    "int(any(1 / (x + 100) > 0 for x in a))",
    "len(range(3, 20, 4))",
    "len(range(a[0], 5))",
    "int(a[0] in range(-20, 30, 7))",
    "int(3 in range(0, 10, 3))",
    "int(a[0] not in range(40, -40, -2))",
    "int(2.5 in range(4))",
    "int(2.0 in range(4))",
    "int(a[0] in (1, 2, a[0]))",
    "tuple(range(4))[2]",
    "tuple(enumerate((5, 6)))[1][1]",
    "divmod(a[0], 7)[0] * 100 + divmod(a[0], 7)[1]",
    "(n := len(a)) + n * 2",
    "n + (n := 5) + n",
    "(y := a[0]) * (y := y + 1) + y",
]


@pytest.mark.parametrize("text", REDUCTIONS)
@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_reductions(text, n):
    check(
        make(f"def f(a, A, o):\n    n = 3\n    o[0] = {text}\n    o[1] = n\n"),
        data(n),
        data(3, 4, seed=n),
        np.zeros(2, int),
    )


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint8", "bool", "uint64", "int16"])
def test_reductions_keep_numpys_types(dtype):
    f = make(
        "def f(a, s, m, t):\n    s[0] = sum(a)\n    m[0] = max(a)\n    m[1] = min(a)\n    t[0] = sum(x for x in a) / 3\n"
    )
    a = (np.random.default_rng(1).normal(size=9) * 20).astype(dtype)
    s = np.zeros(1, np.int64 if dtype == "bool" else dtype)
    with np.errstate(all="ignore"):
        check(f, a, s, np.zeros(2, dtype), np.zeros(1), rtol=1e-6)


def test_min_of_nothing():
    f = make("def f(a, o):\n    o[0] = min(a[3:])\n")
    with pytest.raises(ValueError, match=r"min\(\) iterable argument is empty, at line 2"):
        run(f, np.arange(3), np.zeros(1, int))


def test_short_circuit_of_any():
    """Items after the one that decides are not read: a[9] would be out of range."""
    f = make(
        "def f(a, o):\n    o[0] = any(a[i] > 1 for i in range(10))\n    o[1] = all(a[i] < 2 for i in range(10))\n"
    )
    check(f, np.array([0, 1, 2]), np.zeros(2, int))


UNPACKING = [
    "x, (y, z) = 1, (2, a[0])\no[0] = x + y * z",
    "(x, y), z = (a[0], a[1]), 5\nx, y = y, x\no[0] = x * 100 + y + z",
    "x, *rest = (1, 2, 3, 4)\no[0] = len(rest)\no[1] = rest[1]",
    "*rest, x = (1, 2, a[0])\no[0] = rest[0] + x",
    "x, *rest, y = (1, 2)\no[0] = len(rest) + y",
    "a[0], a[1] = a[1], a[0]\no[:] = 2\no[0] = a[0]",
    "x = y = a[1]\ny += 1\no[0] = x * 10 + y",
    "x = 3\nx **= 2\nx //= 2\nx <<= 3\nx |= 1\nx ^= 5\nx %= 30\nx &= 15\nx >>= 1\no[0] = x",
    "while (k := o[0]) < 5:\n    o[0] = k + 2\no[1] = k",
    "if (k := a[0]) > 0 and (m := a[1]) > 0:\n    o[0] = k * m\no[1] = k",
    "o[1] = 4\no[o[1]] += o[1]\no[2] -= a[0]\no[3] //= 2",
]


MATCHES = [
    "match a[0]:\n    case 1:\n        o[0] = 10\n    case 2 | 3:\n        o[0] = 20\n    case x if x < 0:\n        o[0] = -x\n    case y:\n        o[0] = y + 100",
    "match (a[0], a[1]):\n    case (0, y):\n        o[0] = y\n    case (x, 0):\n        o[0] = x * 10\n    case (x, y) if x > y:\n        o[0] = x - y\n    case _:\n        o[0] = 7",
    "for v in a:\n    match v % 3:\n        case 0:\n            continue\n        case 1:\n            o[0] += 1\n        case _:\n            o[1] += v",
    "match 'two':\n    case 'one':\n        o[0] = 1\n    case 'two':\n        o[0] = 2",
    "x = None\nmatch x:\n    case 0:\n        o[0] = 1\n    case None:\n        o[0] = 2",
    "match (a[0], (a[1], 5)):\n    case (x, (y, 4)):\n        o[0] = 1\n    case (x, (y, z) as inner):\n        o[0] = x + y * z + inner[1]",
    "match a[2]:\n    case 1000:\n        o[0] = 1\no[1] = 3",
]


@pytest.mark.parametrize("body", MATCHES)
@pytest.mark.parametrize("start", [(0, 5), (1, 0), (2, 3), (3, 1), (-4, 0), (50, 60)])
def test_match(body, start):
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    check(make(f"def f(a, o):\n{lines}"), np.array([*start, 9, 4, 7]), np.zeros(3, int))


@pytest.mark.parametrize("body", UNPACKING)
def test_unpacking_and_assignment(body):
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    check(make(f"def f(a, o):\n{lines}"), data(4), np.zeros(6, int))
