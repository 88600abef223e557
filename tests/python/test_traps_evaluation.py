"""Known traps of evaluation: what Python computes though nothing takes it, and which of two faults is met first.

Python itself, run on the same numbers, is the reference: the exception, its line, and what was stored where none is met.
"""

import re

import numpy as np
import pytest
from frontend_source import make, run

HELPER = 'def h(x):\n    if x == 0:\n        raise KeyError("h")\n    return x\n'

# p is 7; q is 0, where most of these fault, or 2. `a` has 6 elements.
BODIES = {
    "a tuple's first item": "o[0] = (p, p // q)[0]",
    "a tuple's last item": "o[0] = (p % q, p)[-1]",
    "a tuple's item by run time": "o[0] = (p, p // q)[q & 1]",
    "an item of a tuple in a tuple": "o[0] = ((p // q, 1), (2, 3))[1][0]",
    "a slice of a tuple": "t = (p, 5, p % q)[:2]\no[0] = t[1]",
    "the length of a tuple": "o[0] = len((p, p // q))",
    "an element of a tuple that is not taken": "o[0] = (p, a[p - q])[0]",
    "a tuple that nobody takes": "(p, p // q)\no[0] = 1",
    "what zip leaves": "for x, y in zip((1, 2, p // q), (4, 5)):\n    o[0] += x * y",
    "members behind the one found": "o[0] = 1 if p in (7, p // q) else 2",
    "a member of nothing": "o[0] = 1 if p // q in () else 2",
    "a member of a range": "o[0] = 1 if p in range(9, p // q) else 2",
    "the choice that where leaves": "o[0] = np.where(q == 0, p, p // q)",
    "a power of nothing": "o[0] = (p // q) ** 0",
    "a number that is not None": "o[0] = 1 if (p // q) is None else 2\no[1] = 1 if p % q == None else 2",
    "where enumerate starts": "for k, x in enumerate(a[:0], p // q):\n    o[0] = x\no[1] = 1",
    "the start of a slice that is not needed": "o[0] = len(a[p // q :][:0])",
    "the stop of a slice": "for x in a[: p // q]:\n    o[0] += x",
    "the imaginary part of a number": "o[0] = (p // q).imag",
    "both arms are tuples": "t = (p // q, 2) if p == 7 else (1, p)\no[0] = t[0]\no[1] = t[1]",
    "the arm that is not taken": "t = (p, 1) if q == 0 else (p // q, a[q + 9])\no[0] = t[0]",
    "tuples of tuples as arms": "t = ((p, p // q), 3) if p > 5 else ((1, 2), p)\no[0] = t[0][1] + t[1]",
    "an argument that is not read": "o[0] = g(p, p // q)",
    "division before an element": "t = (p // q, a[99])",
    "an element before division": "t = (a[99], p // q)",
    "division before a call": "o[0] = p // q + h(q - 2)",
    "a call before division": "o[0] = h(q - q) + p // q",
    "division before a sum": "o[0] = (p // q, sum(a[k + 9] for k in range(p)))[0]",
    "an element before a power": "o[0] = a[99] + p ** (q - 3)",
    "no fault beside and": "o[0] = q > 0 and p // q > 1\no[1] = q == 0 or p % q",
}


def ending(call):
    """How a call ends: nothing, or the kind and the line of its exception."""
    try:
        call()
    except Exception as e:
        told = re.search(r"at line (\d+) of", str(e))
        line, trace = 0, e.__traceback__
        while trace and not told:
            if trace.tb_frame.f_code.co_filename.startswith("<test cell"):
                line = trace.tb_lineno
            trace = trace.tb_next
        return type(e).__name__, int(told.group(1)) if told else line
    return None


@pytest.mark.parametrize("q", [0, 2])
@pytest.mark.parametrize("name", BODIES)
@pytest.mark.filterwarnings("ignore")
def test_as_python(name, q):
    body = "".join(f"    {line}\n" for line in BODIES[name].split("\n"))
    f = make(f"{HELPER}def g(x, y):\n    return x\ndef f(p, q, a, o):\n{body}", name="f")
    a, got, want = np.arange(6) + 3, np.zeros(3, np.int64), np.zeros(3, np.int64)
    expected = ending(lambda: f(7, q, a, want))
    assert ending(lambda: run(f, 7, q, a, got)) == expected
    if expected is None:
        np.testing.assert_array_equal(got, want)


def test_most_of_these_fault():
    """Where the divisor is 0, all but the arms and the tests that are not taken."""
    calm = {"the arm that is not taken", "no fault beside and"}
    for name, text in BODIES.items():
        body = "".join(f"    {line}\n" for line in text.split("\n"))
        f = make(f"{HELPER}def g(x, y):\n    return x\ndef f(p, q, a, o):\n{body}", name="f")
        told = ending(lambda f=f: f(7, 0, np.arange(6), np.zeros(3, np.int64)))
        assert (told is None) == (name in calm), (name, told)
