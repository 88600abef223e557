"""What is one for all threads and asked for by none of them is not met: neighbours in a vector register take both ways.

Python itself, a thread after the other, is the reference: what is stored, or that it faults.
"""

import re

import numpy as np
import pytest
from frontend_source import make
from xcuda import core as cuda

# `x` holds numbers from 0 to 6, or one below 0; p is 100, q is 0, t has 7 elements.
BODIES = {
    "an element": "if x[i] < 0:\n    o[i] = t[p]",
    "an element from behind": "if x[i] < 0:\n    o[i] = t[-p]",
    "an index that is read": "if x[i] < 0:\n    o[i] = t[t[p]]",
    "an element where a guard's other half fails": "if x[i] < 0 and p < 0:\n    o[i] = t[p]",
    "an unsigned index": "if x[i] < 0:\n    o[i] = t[-np.uint32(p)]",
    "an element in else": "if x[i] >= 0:\n    o[i] = 1\nelse:\n    o[i] = t[p]",
    "an element of a choice": "o[i] = t[p] if x[i] < 0 else 3",
    "an element of a choice's choice": "o[i] = (t[p] if q == 0 else 2) if x[i] < 0 else 3",
    "an element behind and": "if x[i] < 0 and t[p] > 0:\n    o[i] = 3",
    "an element behind or": "o[i] = x[i] >= 0 or t[p] == 2",
    "an element of a part": "if x[i] < 0:\n    row = t[2:5]\n    o[i] = row[p]",
    "an element in a loop": "if x[i] < 0:\n    for j in range(3):\n        o[i] += t[j + p]",
    "a loop's end": "if x[i] < 0:\n    for j in range(t[p]):\n        o[i] += j",
    "a branch in a branch": "if x[i] < 0:\n    if p > 3:\n        o[i] = t[p]",
    "a quotient": "if x[i] < 0:\n    o[i] = p // q",
    "a remainder": "if x[i] < 0:\n    o[i] = p % q",
    "a quotient by a sum": "if x[i] < 0:\n    o[i] = p // (q + int(t[0]))",
    "a quotient of a choice": "o[i] = p // q if x[i] < 0 else 3",
    "a quotient behind and": "if x[i] < 0 and p // q > 0:\n    o[i] = 3",
    "a quotient that is tested": "if x[i] < 0 and q != 0:\n    o[i] = p // q",
    "a quotient in an index": "y = x[i] if x[i] >= 0 else t[p // q]\no[i] = y",
    "both of divmod": "if x[i] < 0:\n    o[i] = divmod(p, q)[1]",
}
VECTORS = {  # what a box of threads is tested for once
    "elements of a choice": "o[i] = t[0] if x[i] < 3 else t[-1]",
    "an element of a branch": "if x[i] < 3:\n    o[i] = t[p - 97]",
    "a quotient of a choice": "o[i] = p // (q + 5) if x[i] < 3 else p % 7",
    **{
        f"a quotient of {dtype}": f"o[i] = 3 if x[i] < 3 else np.{dtype}(p) // np.{dtype}(q + 5)"
        for dtype in ("int8", "uint8", "uint16", "uint32", "uint64")
    },
    "a quotient by a narrow constant": "o[i] = 3 if x[i] < 3 else np.uint16(p) // 63",
    "elements in a loop": "for j in range(4):\n    if x[i] < 3:\n        o[i] += t[j + q]",
}


def kernel_of(body):
    lines = "".join(f"        {line}\n" for line in body.split("\n"))
    return make(f"def f(x, p, q, t, o):\n    i = cuda.grid(1)\n    if i < o.size:\n{lines}", name="f")


def ending(call):
    try:
        call()
    except (IndexError, ZeroDivisionError) as e:
        return type(e)
    return None


def python(body, x, t, o):
    code = compile(body, "body", "exec")

    def go():
        for i in range(o.size):
            exec(code, {"np": np, "x": x, "p": 100, "q": 0, "t": t, "o": o, "i": i})

    with np.errstate(all="ignore"):
        return ending(go)


def numbers(lowest):
    x = np.arange(37) % 7
    x[29] = lowest
    return x


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("lowest", [0, -1])
@pytest.mark.parametrize("name", BODIES)
def test_as_python(name, lowest):
    x, t, got, want = numbers(lowest), np.arange(7), np.zeros(37, np.int64), np.zeros(37, np.int64)
    expected = python(BODIES[name], x, t, want)
    kernel = cuda.kernel(kernel_of(BODIES[name]))
    assert ending(lambda: (kernel[5, 8](x, 100, 0, t, got), cuda.synchronize())) is expected
    if expected is None:
        np.testing.assert_array_equal(got, want)
    guarded = name in ("an element where a guard's other half fails", "a quotient that is tested")
    assert (expected is not None) == (lowest < 0 and not guarded)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", VECTORS)
def test_vectors_are_kept(name):
    x, t, got, want = numbers(0), np.arange(7), np.zeros(37, np.int64), np.zeros(37, np.int64)
    assert python(VECTORS[name], x, t, want) is None
    kernel = cuda.kernel(kernel_of(VECTORS[name]))
    kernel[5, 8](x, 100, 0, t, got)
    cuda.synchronize()
    np.testing.assert_array_equal(got, want)
    if cuda.Device().kind == "cpu":
        assert re.match(r"tiles 1x\dx\d", kernel.specialisations[-1]["how"])
