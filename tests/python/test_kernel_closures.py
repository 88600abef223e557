"""Lambdas, functions inside kernels, functions passed to functions; Python running the same text is the reference."""

import numpy as np
import pytest
from frontend_source import lower, make, run
from test_kernel_loops import check, data
from xcuda.core.errors import KernelSyntaxError

BODIES = {
    "a lambda": "g = lambda x: x * 2 + 1\no[0] = g(a[0])\no[1] = g(2.5)",
    "a lambda reads what is around it": "k = 3\ng = lambda x: x * k\no[0] = g(2)\nk = 5\no[1] = g(2)",
    "a lambda's default is kept": "for i in range(3):\n    g = lambda x, i=i: x * i\n    i = 7\n    o[i - 7] += g(a[0])",
    "called where it stands": "o[0] = (lambda x, y: x - y)(a[0], y=3)",
    "an inner function": "def g(x, y=2):\n    if x > y:\n        return x\n    return y\no[0] = g(a[0])\no[1] = g(1, y=9)",
    "an inner function that writes": "def put(i, x):\n    o[i] = x\nput(0, a[0])\nput(1, 2 * a[1])",
    "an inner function with variables": "n = 2\ndef g(x):\n    n = x + 1\n    for i in range(3):\n        n += i\n    return n\no[0] = g(a[0])\no[1] = n",
    "inner functions that call each other": "def g(x):\n    return x + k\ndef h(x):\n    return g(x) * g(1)\nk = a[1]\no[0] = h(a[0])",
    "an inner function of an inner function": "def g(x):\n    def h(y):\n        return x * y + k\n    return h(2) + h(3)\nk = 4\no[0] = g(a[0])",
    "a function given to a function": "def twice(f, x):\n    return f(f(x))\nk = a[1]\no[0] = twice(lambda v: v * 2 + k, a[0])\no[1] = twice(helper, 3)",
    "a function given twice over": "def apply(f, x):\n    return f(x)\ndef outer(f, x):\n    return apply(lambda v: f(v) + 1, x)\nk = a[1]\no[0] = outer(lambda v: v * k, a[0])",
    "a tuple of functions": "fs = (lambda x: x + 1, helper, lambda x: -x)\nfor i, f in enumerate(fs):\n    o[2] += i * f(1)\nfor f in fs:\n    o[0] = o[0] * 10 + f(a[0])\no[1] = fs[2](a[1])",
    "a view given to an inner function": "def total(v):\n    return sum(v) + v[0]\no[0] = total(a[1:])\no[1] = total(a[::-1])",
    "a tuple comes back": "def both(x):\n    return x + 1, x - 1\np, q = both(a[0])\no[0] = p * q\no[1], o[2] = both(5)",
    "captured array and tuple": "t = (a[0], 5)\ng = lambda i: t[1] * a[i] + t[0]\no[0] = g(1)",
    "global lambdas": "o[0] = double(a[0]) + scaled(2)\no[1] = pair[1](3) + pair[0](3)",
    "sorted out by a condition": "g = lambda x: 1 if x > 0 else -1\no[0] = sum(g(v) for v in a)",
    "keyword only": "def g(x, *, y, z=3):\n    return x * y + z\no[0] = g(a[0], y=2)\no[1] = g(1, z=a[0], y=3)",
    "in a generator": "o[0] = sum((lambda v: v * v)(x) for x in a)\no[1] = max((helper(x) for x in a))",
}

GLOBALS = """
def helper(x): return x * 3 - 1
double = lambda x: x * 2
factor = 7
scaled = lambda x, y=2: x * factor + y
pair = (lambda x: x + 1, lambda x: x + 2)
"""


@pytest.mark.parametrize("name", BODIES)
def test_closures(name):
    body = "".join(f"    {line}\n" for line in BODIES[name].split("\n"))
    check(make(f"{GLOBALS}def f(a, o):\n{body}", name="f"), data(5), np.zeros(4, int))


def test_a_helper_made_by_a_factory():
    text = """
    def power(n):
        def g(x):
            return x ** n
        return g
    square, cube = power(2), power(3)
    shift = [lambda x, k=k: x + k for k in (10, 20)]
    s0, s1 = shift
    def f(a, o):
        o[0] = square(a[0]) + cube(a[0])
        o[1] = s0(a[0]) * s1(a[0])
    """
    check(make(text, name="f"), data(2), np.zeros(2, int))


@pytest.mark.parametrize(
    ("body", "words", "under"),
    [
        ("g = lambda x: g(x - 1)\na[0] = g(3)", "g() calls itself", None),
        ("def g(x):\n    return g(x - 1)\na[0] = g(3)", "g() calls itself: recursion", None),
        (
            "def g(x):\n    return h(x)\ndef h(x):\n    return g(x)\na[0] = g(3)",
            "calls itself: recursion",
            None,
        ),
        ("g = lambda *x: 1", "<lambda>() takes *args", "lambda *x: 1"),
        ("def g(x):\n    nonlocal n\n    n = x\nn = 1\ng(2)", "can't assign an outer variable", "nonlocal n"),
        ("g = lambda x: x\na[0] = g()", "<lambda>() needs its argument 'x'", "g()"),
        ("g = lambda x: x\na[0] = g", "expected a number, found the function <lambda>()", "g"),
        (
            "if a[0] > 1:\n    g = lambda x: x\nelse:\n    g = lambda x: -x\na[0] = g(1)",
            "names one thing or another",
            "g",
        ),
    ],
)
def test_refusals_of_closures(body, words, under):
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    with pytest.raises(KernelSyntaxError) as caught:
        lower(make(f"def f(a):\n{lines}"), "int64[1]")
    assert words.removeprefix("g() ") in caught.value.found
    if under:
        assert caught.value.text[caught.value.offset - 1 : caught.value.end_offset - 1] == under


def test_a_changed_global_of_a_lambda_is_seen():
    f = make("k = 1\ng = lambda x: x + k\ndef f(a):\n    a[0] = g(1)\n", name="f")
    from xcuda import core

    kernel = core.kernel(f)
    a = np.zeros(1, int)
    kernel[1, 1](a)
    assert a[0] == 2
    f.__globals__["k"] = 10
    kernel[1, 1](a)
    assert a[0] == 11
    f.__globals__["g"] = make("g = lambda x: x * 100\n")
    kernel[1, 1](a)
    assert a[0] == 100


def test_threads_and_inner_functions():
    f = make(
        "def f(a, o):\n    i = cuda.grid(1)\n    def at(k):\n        return a[k] if 0 <= k < len(a) else 0.0\n"
        "    if i < len(a):\n        o[i] = at(i - 1) + at(i) + at(i + 1)\n"
    )
    a, o = np.random.default_rng(2).normal(size=1001), np.zeros(1001)
    run(f, a, o, grid=8, block=128)
    np.testing.assert_allclose(o, np.convolve(a, np.ones(3), "same"))
