"""Methods and properties of dataclasses and NamedTuples in kernels: what Python gives for the same class."""

import dataclasses
from typing import NamedTuple

import numpy as np
import pytest
from frontend_source import make, run

SCALE = 10.0


@dataclasses.dataclass
class Point:
    x: float
    y: float = 1.0

    def norm2(self):
        return self.x * self.x + self.y * self.y

    def scaled(self, by=2.0, *, shift=0.0):
        return Point(self.x * by + shift, self.y * by + shift)

    def plus(self, other):
        return Point(self.x + other.x, self.y + other.y)

    def chained(self):
        return self.scaled().plus(self).norm2() * SCALE

    @property
    def total(self):
        return self.x + self.y

    @staticmethod
    def one_more(v):
        return v + 1


class Pair(NamedTuple):
    left: int
    right: int

    def swapped(self):
        return Pair(self.right, self.left)

    @property
    def span(self):
        return self.right - self.left


EXPRESSIONS = [
    "p.norm2()", "p.scaled().x", "p.scaled(3.0).y", "p.scaled(shift=1.0).x", "p.plus(p.scaled()).total", "p.chained()",
    "p.total", "p.one_more(4)", "Point.one_more(p.x)", "Point.norm2(p)", "Point(2.0).scaled(3.0).total",
    "q.swapped().left", "q.swapped().span", "q.span", "p.scaled(q.span).plus(Point(p.total)).norm2()",
]  # fmt: skip


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_methods(expression):
    p, q = Point(3.0, 4.0), Pair(2, 7)
    f = make(f"def f(p, q, o):\n    o[0] = {expression}\n", Point=Point, Pair=Pair)
    out = np.zeros(1)
    run(f, p, q, out, grid=1, block=1)
    assert out[0] == eval(expression, {"p": p, "q": q, "Point": Point})


def test_self_is_computed_once():
    def made(o):
        o[1] += 1
        return Point(o[1])

    f = make("def f(o):\n    o[0] = made(o).scaled(4.0).x\n", made=made)
    out = np.zeros(2)
    run(f, out, grid=1, block=1)
    assert out.tolist() == [4.0, 1.0]


def test_classes_of_one_name_keep_their_own_methods():
    def class_of(by):
        @dataclasses.dataclass
        class Point:
            x: float

            def m(self):
                return self.x * by

        return Point

    f, out = make("def f(p, o):\n    o[0] = p.m()\n"), np.zeros(1)
    for by in (2.0, 3.0, 2.0):
        run(f, class_of(by)(5.0), out, grid=1, block=1)
        assert out[0] == 5.0 * by
