"""The list of what the kernel language has (issue 4), line by line: a small program each, run and compiled for GPUs.

On the CPU device Python itself is the reference: the same text, run on the same arrays. The CUDA text of a few lines at a
time is compiled by NVRTC for three generations of GPU. Beside these stand the tests of each subject (test_kernel_*.py,
test_cuda_*.py, test_traps_*.py), whose programs of control flow and evaluation are compiled for GPUs here too. test_language_types.py
is of the list's types.
"""

import operator

import numpy as np
import pytest
import test_traps_control
import test_traps_evaluation
from frontend_source import compiles, make
from xcuda import core as cuda

HELPERS = """
def scaled(x, by=2, *, plus=0):
    return x * by + plus
def twice(f, x):
    return f(f(x))
def halved(x):
    return x / 2
"""
# Bodies of `def line(A, b, n, o)`: A a (3, 4) float64 matrix, b 6 float64, n the int 3, o 12 float64 to write to.
LINES = {
    # Statements
    "assignment": "x = y = n + 1\nx, y = y, x + 1\no[0] = x\no[1] = y",
    "nested and tuple unpacking": "(x, (y, z)), *w = (1, (n, 3)), 4, 5\no[0] = x + y * 10 + z * 100 + w[1] * 1000",
    "augmented assignment to elements": "o[0] = 7\no[0] += b[1]\no[0] *= 2\no[1] -= 1\no[0] /= 4\no[0] **= 2\no[0] //= 3\no[0] %= 5",
    "walrus": "o[0] = (x := b[2]) * 2 + x\nwhile (k := int(o[1])) < 3:\n    o[1] = k + 1",
    "chained comparison": "o[0] = 0 < n < 5\no[1] = 0 < n > 5\no[2] = b[0] <= b[1] != b[2]",
    "if, elif, else": "for i in range(4):\n    if i > n - 1:\n        o[i] = 1\n    elif i == 1:\n        o[i] = 2\n    else:\n        o[i] = 3",
    "for over ranges": "for i in range(n):\n    o[0] += i\nfor i in range(10, 0, -n):\n    o[1] = o[1] * 10 + i\nfor i in range(n, n):\n    o[2] = 1",
    "while with else and break": "k = 0\nwhile k < 9:\n    k += 1\n    if k == n:\n        continue\n    if k > 6:\n        break\n    o[0] += k\nelse:\n    o[1] = 1\no[2] = k",
    "break in nested loops with else": "for i in range(3):\n    for j in range(3):\n        if i * j == 2:\n            break\n        o[0] += 1\n    else:\n        o[1] += 1",
    "iteration over arrays and tuples": "for row in A:\n    for x in row:\n        o[0] += x\nfor x in (1, 2.5, n):\n    o[1] += x",
    "enumerate, zip, reversed": "for i, (x, y) in enumerate(zip(b, A[1]), 2):\n    o[i] = x + y\nfor k in reversed(range(3)):\n    o[0] = o[0] * 10 + k",
    "match on values": "for k in range(4):\n    match k, k % 2:\n        case 0, _:\n            o[k] = 5\n        case x, 1 if x > 2:\n            o[k] = 6\n        case 1 | 3, y:\n            o[k] = 7 + y\n        case _:\n            o[k] = 8",
    "return before the end": "o[0] = 1\nif n == 3:\n    return\no[0] = 2",
    "assert and raise that are not met": "assert n == 3, 'three'\nif n > 5:\n    raise ValueError('large')\no[0] = n",
    "nested functions, closures": "def inner(x, k=2):\n    return x * k + n\no[0] = inner(2) + inner(1, k=5)",
    "lambdas": "square = lambda x, y=1: x * x + y\no[0] = square(n) + square(2, 3)",
    "comprehensions over compile-time ranges": "t = [k * k for k in range(5) if k != 2]\no[0] = t[2]\no[1] = sum(x for x in t)\n"
    "u = tuple(x + y for x in (1, n) for y in t[:2])\no[2] = u[-1] * 10 + len(u)",
    "device functions with defaults and keywords": "o[0] = scaled(n) + scaled(n, 5) + scaled(x=1, by=n) + scaled(2, plus=7)",
    "function arguments": "o[0] = twice(halved, b[3]) + twice(lambda x: x + n, 1)",
    "compile-time branches": "if len((1, 2, 3)) == 3:\n    o[1] = 2\nelse:\n    o[1] = 'no'",
    # Expressions
    "slices as views": "row = A[1]\no[0] = row[2]\no[1] = A[2, 1:][0]\no[2] = A[::-1, -1][0]\no[3] = A[..., 1][2]\no[4] = b[None, 2][0]\no[5] = len(b[1:-1:2])",
    "len and in": "o[0] = len(A) + len(b[2:]) + len((1, 2))\no[1] = n in (1, 2, 3)\no[2] = n not in range(0, 9, 2)",
    "reductions over tuples and ranges": "o[0] = min(3, n, 2) + max((1, 5.5)) + sum((n, 2)) + sum(range(5))\no[1] = any(x > 2 for x in (1, n))\no[2] = all((1, n, 0))",
    "divmod, pow, abs, round": "q, r = divmod(-7, n)\no[0] = q * 10 + r\no[1] = pow(n, 3) + 2.0 ** -1\no[2] = abs(-n) + abs(-2.5)\no[3] = round(2.5) + round(3.5) + round(b[1], 1)",
    "int, float, complex, bool": "o[0] = int(b[3]) + float(n) + bool(n)\no[1] = complex(n, 2).imag + complex(1).real",
    "casts": "o[0] = np.float32(0.1)\no[1] = np.int8(n) + np.uint16(7)\no[2] = np.float16(2.5)\no[3] = np.int64(b[4])",
    "math's functions": "o[0] = math.sqrt(b[3]) + math.hypot(3, 4) + math.floor(-2.5) + math.ceil(b[1]) + math.trunc(-1.5)\no[1] = math.copysign(2, -b[1]) + math.fmod(7, 4)",
    "NumPy's scalar functions": "o[0] = np.sign(-b[2]) + np.square(n) + np.clip(b[4], 0, 1) + np.maximum(n, 2) + np.where(n > 2, 5, 6)\no[1] = np.rint(2.5) + np.trunc(-1.5) + np.fabs(-b[1])",
    "operator's functions": "o[0] = operator.add(n, 2) + operator.mul(b[1], 3) - operator.neg(n) + operator.floordiv(-7, 2) + operator.lt(n, 4)\no[1] = operator.and_(n, 6) + operator.pow(n, 2) + operator.ge(n, 3) + operator.abs(-n)",
    "and, or, not": "o[0] = n and b[1]\no[1] = 0 or n\no[2] = not n\no[3] = (n > 1 and n) + (n > 5 or 2)",
    "conditional expression": "o[0] = 1 if n > 2 else b[1]\no[1] = (1, 2)[0] if n < 0 else (3, n)[1]",
    "bits": "o[0] = (n & 2 | 8) ^ 5\no[1] = ~n\no[2] = n << 4 >> 1",
    "complex numbers": "z = complex(n, 2) * 1j\no[0] = abs(z) + z.real + z.imag + (z ** 2).real + z.conjugate().imag",
    "whole arrays": "o[:6] = b * 2 + n\no[6:9] = A[:, 1]\no[9:] += 1",
    "fixed-size local arrays": "t = local_array(4)\nfor i in range(4):\n    t[i] = i * n\no[0] = t[3] + t[-2]",
}
# Known traps whose values Python itself has; others are in test_traps_*.py with NumPy's rules.
TRAPS = {
    "floor division and modulo": "o[0] = -7 // 2\no[1] = -n % 2\no[2] = 7 // -2\no[3] = -7.5 % 2\no[4] = 5 % -math.inf",
    "a loop variable used after the loop and shadowed": "i = 9\nfor i in range(4):\n    o[i] = i\no[5] = i",
    "a variable first int, then float": "x = 1\nfor k in range(2):\n    o[k] = x / 2\n    x = x + 0.5\no[2] = x",
    "x = x or y": "x = 0\nx = x or n\no[0] = x\nx = x or 9\no[1] = x",
    "True + True and ~True": "o[0] = True + True\no[1] = ~n",
    "powers of zero": "o[0] = 0 ** 0\no[1] = 0.0 ** 0\no[2] = float(n) ** -2",
    "min with nan": "o[0] = min(math.nan, 1)\no[1] = min(1, math.nan)\no[2] = np.minimum(1.0, math.nan)",
    "shifts by much": "o[0] = 1 << 40\no[1] = n >> 70",
    "complex power": "z = (complex(n, 1)) ** 2\no[0] = z.real\no[1] = z.imag\nz = complex(n, 1) ** 0.5\no[2] = z.real",
}


def text_of(name, body):
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    return f"def {name}(A, b, n, o):\n{lines}"


def arguments():
    rng = np.random.default_rng(3)
    return rng.normal(size=(3, 4)), np.array([0.5, 1.25, 2.0, 9.0, -4.5, 3.0]), 3, np.zeros(12)


ALL = LINES | TRAPS


def made(text, name, **names):
    return make(HELPERS + text, name=name, operator=operator, **names)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ALL)
def test_as_python(name):
    text = text_of("line", ALL[name])
    expected, found = arguments(), arguments()
    made(text, "line", local_array=np.zeros)(*expected)
    kernel = cuda.kernel(made(text.replace("local_array(4)", "cuda.local.array(4, np.float64)"), "line"))
    kernel[1, 1](*found)
    cuda.synchronize()
    for got, want in zip(found, expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-15, atol=0)
    assert found[3].any()


# Programs of other tests whose text only NVRTC has still to see: (the function's parameters, their arguments, bodies).
OTHERS = {
    "control": ("a, o", (np.zeros(6, np.int64), np.zeros(8, np.int64)), test_traps_control.BODIES),
    "evaluation": (
        "p, q, a, o",
        (7, 2, np.zeros(6, np.int64), np.zeros(3, np.int64)),
        test_traps_evaluation.BODIES,
    ),
}


def together(parameters, bodies, helpers):
    """One kernel that calls a function for each body."""
    text, calls = helpers, ""
    for k, body in enumerate(bodies):
        lines = "".join(f"    {line}\n" for line in body.split("\n"))
        text += f"def line{k}({parameters}):\n{lines}"
        calls += f"    line{k}({parameters})\n"
    return f"{text}def f({parameters}):\n{calls}"


def groups():
    """[(name, text, arguments)] of some ten programs each."""
    own = [body.replace("local_array(4)", "cuda.local.array(4, np.float64)") for body in ALL.values()]
    found = [("list", "A, b, n, o", arguments(), own, HELPERS)]
    for name, (parameters, args, bodies) in OTHERS.items():
        helpers = test_traps_evaluation.HELPER + "def g(x, y):\n    return x\n"
        found.append((name, parameters, args, list(bodies.values()), helpers))
    for name, parameters, args, bodies, helpers in found:
        for first in range(0, len(bodies), 12):
            yield f"{name} {first}", together(parameters, bodies[first : first + 12], helpers), args


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name,text,args", [pytest.param(*g, id=g[0]) for g in groups()])
def test_compiles_for_gpus(name, text, args):
    compiles(cuda.kernel(make(text, name="f", operator=operator)), args)
