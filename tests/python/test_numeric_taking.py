"""take, put, choose, masks and their like against NumPy, by both native ways."""

import numpy
import pytest
from numeric_calls import no_fallback, same_call  # noqa: F401

A = numpy.arange(24.0).reshape(2, 3, 4)
V = numpy.array([5, 0, 7, 3, 9], numpy.int32)
M = numpy.array([True, False, True, True, False])

pytestmark = pytest.mark.usefixtures("no_fallback")

CASES = [
    ("take", (V, [0, 4, -1, 0])),
    ("take", (V, 3)),
    ("take", (V, [0, 5])),
    ("take", (V, [[0, 7], [-9, 2]]), {"mode": "wrap"}),
    ("take", (V, [[0, 7], [-9, 2]]), {"mode": "clip"}),
    ("take", (A, numpy.array([[2, 0], [1, 1]], numpy.uint8), 1)),
    ("take", (A, numpy.array([2, 0, -1]), -1)),
    ("take", (A.T, [0, 1, 1], 2)),
    ("take", (A, [0, 3], 1)),
    ("take", (A, [0], 3)),
    ("take", (A[:0], [0], 0)),
    ("take", (A, [1.5], 0)),
    ("take", (A, [0, 1], 1, numpy.empty((2, 2, 4)))),
    ("put", (V, [0, -1, 0], [1, 2, 3])),
    ("put", (A[:, ::2], [0, 3, 5], [-1.0, -2.0])),
    ("put", (V, [1, 9], 4)),
    ("put", (V, [1, 9], 4, "clip")),
    ("put", (V, [1, 9, -7], [4, 5], "wrap")),
    ("take_along_axis", (A, numpy.argsort(-A, 1)[:, :2], 1)),
    ("take_along_axis", (A, numpy.array([23, 0, -1]), None)),
    ("take_along_axis", (A, numpy.array([[0]]), 1)),
    ("take_along_axis", (A, A, 1)),
    ("put_along_axis", (A, numpy.array([[[1], [0], [3]]]), 99.0, 2)),
    ("put_along_axis", (V, numpy.array([1, 1]), numpy.array([8, 9]), None)),
    ("compress", (M, V)),
    ("compress", ([True, False, True], A, 1)),
    ("compress", ([[True]], A, 1)),
    ("compress", ([False] * 4 + [True], A, 1)),
    ("extract", (A % 3 == 0, A)),
    ("choose", (numpy.array([0, 2, 1, 0, 2]), [V, 2 * V, V + 0.5])),
    ("choose", (numpy.array([[0], [1]]), (V, 10))),
    ("choose", (numpy.array([0, 3]), [[1, 2], [3, 4]])),
    ("choose", (numpy.array([0, 3, -1]), [[1, 2, 3], [3, 4, 5]]), {"mode": "wrap"}),
    ("choose", (numpy.array([0, 3, -1]), [[1, 2, 3], [3, 4, 5]]), {"mode": "clip"}),
    ("choose", (numpy.array([0.5]), [[1], [2]])),
    ("select", ([V > 5, V > 2], [V, V * 0.5])),
    ("select", ([V > 5, V > 2], [V, -V], 42)),
    ("select", ([V], [V])),
    ("select", ([True], [0], [0])),
    ("select", ([numpy.array(True), M], [1, numpy.arange(10).reshape(2, 5)])),
    ("select", ([M], [V, V])),
    ("select", ([], [])),
    ("nonzero", (A % 5,)),
    ("nonzero", (A > 99,)),
    ("nonzero", (numpy.float64(3),)),
    ("nonzero", (numpy.array(3),)),
    ("flatnonzero", (A % 5,)),
    ("argwhere", (A % 5 == 0,)),
    ("argwhere", (numpy.array(3),)),
    ("where", (A % 5 == 0,)),
    ("place", (V, M, [-1, -2])),
    ("place", (V, M, [])),
    ("place", (A, A > 5, [-1.0, -2.0, -3.0])),
    ("putmask", (V, M, [-1, -2])),
    ("putmask", (V, M, V * 10)),
    ("putmask", (V, M[:3], V)),
    ("putmask", (A, A > 10, -A)),
    ("copyto", (V, 3)),
    ("copyto", (V, 2.5)),
    ("copyto", (V, [1.5] * 5), {"casting": "unsafe"}),
    ("copyto", (A, [1, 2, 3, 4]), {"where": A > 7}),
    ("copyto", (A, [1, 2, 3])),
    ("copyto", (A, 1.0), {"where": [True, False]}),
    ("ix_", ([0, 2], [True, False, True])),
    ("ix_", ([[0]],)),
    ("unravel_index", (numpy.array([[3, 5], [0, 23]]), (2, 3, 4))),
    ("unravel_index", (numpy.array([3, 5]), (2, 3), "F")),
    ("unravel_index", (numpy.array([3, 6]), (2, 3))),
    ("ravel_multi_index", ((numpy.array([1, 0]), numpy.array([2, 1])), (2, 3))),
    ("ravel_multi_index", ((numpy.array([1, 5]), numpy.array([2, -1])), (2, 3), ("clip", "wrap"), "F")),
    ("ravel_multi_index", ((numpy.array([1, 2]), numpy.array([2, 1])), (2, 3))),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0])
def test_as_numpy(case):
    path, args, kwargs = (*case, {})[:3]
    same_call(path, *args, **kwargs)
