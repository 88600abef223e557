"""accumulate, reduceat, outer and at against NumPy, by both native ways."""

import numpy
import pytest
from numeric_calls import no_fallback, same_call  # noqa: F401

R = numpy.random.default_rng(6)
V = numpy.array([3, 1, 4, 1, 5, 9, 2, 6], numpy.int32)
F = R.random((3, 5, 4)).astype("f4")
LONG = R.integers(-9, 9, 5000)
B = V > 2

pytestmark = pytest.mark.usefixtures("no_fallback")

CASES = [
    ("add.accumulate", (V,)),
    ("add.accumulate", (LONG,)),
    ("add.accumulate", (LONG.reshape(2, -1).T, 0)),
    ("maximum.accumulate", (LONG.astype("f8"),)),
    ("add.accumulate", (F, 1)),
    ("multiply.accumulate", (F, -1), {"dtype": "f8"}),
    ("subtract.accumulate", (F, 0)),
    ("logical_or.accumulate", (V, 0)),
    ("less.accumulate", (B, 0)),
    ("add.accumulate", (B,)),
    ("add.accumulate", (B,), {"dtype": bool}),
    ("add.accumulate", (F, 1, None, numpy.zeros((3, 5, 4)))),
    ("add.accumulate", (numpy.float64(3),)),
    ("add.accumulate", (F, 3)),
    ("sin.accumulate", (F,)),
    ("divmod.accumulate", (F,)),
    ("add.accumulate", (numpy.zeros((0, 3)),)),
    ("subtract.reduce", (V,)),
    ("divide.reduce", (F, 1), {"keepdims": True}),
    ("subtract.reduce", (F, 1, None, numpy.zeros((3, 4), "f4")), {"initial": 100}),
    ("subtract.reduce", (F, None)),
    ("maximum.reduce", (F + 1j, 0)),
    ("power.reduce", (V[1:3], 0)),
    ("minimum.reduce", (V[:0],)),
    ("add.reduce", (F, (0, 2)), {"where": F > 0.5, "initial": 1}),
    ("maximum.reduce", (F,), {"where": F > 0.5}),
    ("less.reduce", (B,)),
    ("add.reduceat", (V, [0, 4, 1, 5])),
    ("add.reduceat", (F, [0, 2, 2], 1)),
    ("subtract.reduceat", (F, [3, 1], 2)),
    ("minimum.reduceat", (V, [0, 8])),
    ("minimum.reduceat", (V, [-1])),
    ("logical_and.reduceat", (V, numpy.array([0, 3]))),
    ("add.outer", (V, F[0, 0])),
    ("less.outer", (F[0], 0.5)),
    ("sin.outer", (V, V)),
    ("add.at", (V, [0, 1, 0, 0], 1)),
    ("add.at", (V, numpy.array([0, 1, 0, -1]), numpy.array([1, 2, 3, 4]))),
    ("subtract.at", (F, (slice(None), [1, 1, 0]), R.random((3, 3, 4)).astype("f4"))),
    ("maximum.at", (V, [2, 2, 3], [7, 8, 0])),
    ("multiply.at", (F[:, ::2], (0, [0, 0]), numpy.float32(3))),
    ("negative.at", (V, [0, 1, 0, 5])),
    ("square.at", (F, ([0, 0], [1, 1], [2, 2]))),
    ("add.at", (V, [0, 9], 1)),
    ("add.at", (V, [0, 1], [1, 2, 3])),
    ("add.at", (V, [0, 1], 1.5)),
    ("add.at", (V, B, 10)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0])
def test_as_numpy(case):
    path, args, kwargs = (*case, {})[:3]
    same_call(path, *args, tolerance=2e-6, **kwargs)
