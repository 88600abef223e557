"""Starred arguments: f(*items), (x, *items) and helpers with *args. Python itself is the reference."""

import cmath

import numpy as np
import pytest
from frontend_source import compiles, make
from test_kernel_loops import check
from xcuda import core
from xcuda.core.errors import KernelSyntaxError

HELPERS = """
def three(x, y, z=5):
    return x * 100 + y * 10 + z
def total(first, *rest, by=1):
    for x in rest:
        first += x * by
    return first + len(rest)
def passed(*all):
    return three(*all[:2]) + total(*all, by=2)
"""
BODIES = {
    "a tuple for all arguments": "t = (1, 2, 3)\no[0] = three(*t)",
    "a tuple among others": "t = (p, 2)\no[0] = three(7, *t)\no[1] = three(*t, z=p)\no[2] = three(*t)",
    "two tuples": "t = (1,)\no[0] = three(*t, *(p, 3))",
    "of a function of the language": "t = (p, 9, 4)\no[0] = max(*t)\no[1] = min(3, *t)\no[2] = divmod(*t[:2])[0]",
    "a range": "o[0] = three(*range(3))",
    "in a tuple": "t = (0, *(p, 2), 9)\no[0] = len(t)\nfor k, x in enumerate(t):\n    o[k + 1] = x",
    "a helper with *args": "o[0] = total(1)\no[1] = total(1, p)\no[2] = total(1, p, 3, by=4)\no[3] = total(*(1, p), 3)",
    "*args passed on": "o[0] = passed(1, p, 3)",
    "a lambda": "f = lambda x, y: x - y\no[0] = f(*(p, 2))",
    "each once, in order": "x = 1\no[0] = three((x := x + 1), *((x := x * 10), x))\no[1] = x",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", BODIES)
def test_as_python(name):
    body = "".join(f"    {line}\n" for line in BODIES[name].split("\n"))
    check(make(f"{HELPERS}def f(p, o):\n{body}", name="f"), 7, np.zeros(8))


def test_numbers_of_two_by_name():
    f = make("def f(z, o):\n    o[0] = complex(*cmath.polar(z[0]))\n", cmath=cmath)
    z, out = np.array([3 + 4j]), np.zeros(1, complex)
    core.kernel(f)[1, 1](z, out)
    assert out[0] == complex(*cmath.polar(z[0]))


def test_compiles_for_gpus():
    f = make(f"{HELPERS}def f(p, o):\n    t = (p, 2)\n    o[cuda.grid(1)] = passed(7, *t)\n", name="f")
    compiles(core.kernel(f), (3, np.zeros(64)))


def test_too_many_are_told():
    f = make(f"{HELPERS}def f(o):\n    o[0] = three(*(1, 2, 3, 4))\n", name="f")
    with pytest.raises(KernelSyntaxError, match="three\\(\\) takes 3 arguments, found 4"):
        core.kernel(f)[1, 1](np.zeros(1))
