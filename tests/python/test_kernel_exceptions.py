"""Exceptions of the user's own in kernels: the class itself comes out, with line and thread."""

import numpy as np
import pytest
from frontend_source import compiles, make
from xcuda import core


class Refused(Exception):
    pass


class WithParts(ValueError):
    def __init__(self, first, second):
        super().__init__(first)
        self.second = second


TEXT = """
def f(x, o):
    i = cuda.grid(1)
    if x[i] < 0:
        raise {}
    o[i] = x[i]
"""


@pytest.mark.parametrize(
    "raised,kind,told",
    [
        ("Refused('below zero')", Refused, "below zero"),
        ("Refused", Refused, "raised"),
        ("WithParts('two')", WithParts, "two"),
    ],
)
def test_the_class_comes_out(raised, kind, told):
    f = make(TEXT.format(raised), Refused=Refused, WithParts=WithParts)
    kernel, x = core.kernel(f), np.array([1.0, 2, -3, 4])
    with pytest.raises(
        kind, match=rf"{told}, at line 4 of .*, thread \(2, 0, 0\) of block \(0, 0, 0\)"
    ) as raised:
        kernel[1, 4](x, np.zeros(4))
        core.synchronize()
    assert type(raised.value) is kind
    compiles(kernel, (x, x))


def test_a_class_defined_anew():
    f = make(TEXT.format("Error()"), Error=type("Error", (Exception,), {}))
    kernel = core.kernel(f)
    for _ in range(2):
        kind = f.__globals__["Error"] = type("Error", (Exception,), {})
        with pytest.raises(kind):
            kernel[1, 1](np.array([-1.0]), np.zeros(1))
            core.synchronize()
