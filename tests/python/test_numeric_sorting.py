"""Sorting, searching and sets against NumPy, by both native ways."""

import numpy
import pytest
import xcuda.numeric as np
from numeric_calls import WAYS, no_fallback, same_call  # noqa: F401

R = numpy.random.default_rng(5)
NAN = numpy.nan
F = numpy.array([3.0, NAN, -1.0, 0.0, -0.0, 3.0, NAN, numpy.inf, -numpy.inf], "f4")
C = numpy.array([1 + 2j, 1 + 1j, complex(NAN, 1), complex(1, NAN), complex(NAN, NAN), 0, 1 + 2j])
B = R.integers(0, 2, 40).astype(bool)
LONG = R.integers(-300, 300, 5000)
G = R.integers(0, 9, (3, 7, 4)).astype("i2")
SMALL = R.integers(0, 4, (6, 3))
NANS = numpy.array([NAN, 1.0, NAN, 0.0, 1.0])

pytestmark = pytest.mark.usefixtures("no_fallback")

CASES = [
    ("sort", (F,)),
    ("sort", (C,)),
    ("sort", (B,)),
    ("sort", (LONG,)),
    ("sort", (LONG.astype("f8").reshape(2, -1),)),
    ("sort", (G, 1)),
    ("sort", (G.T, None)),
    ("sort", (G, 3)),
    ("sort", (F, -1, "nonsense")),
    ("sort", (numpy.zeros((3, 0)), 0)),
    ("argsort", (F,), {"kind": "stable"}),
    ("argsort", (C,), {"stable": True}),
    ("argsort", (LONG,), {"kind": "stable"}),
    ("argsort", (G, 0), {"kind": "stable"}),
    ("argsort", (G, None), {"kind": "stable"}),
    ("argsort", (G, 7)),
    ("lexsort", ((G[0, :, 0], G[0, :, 1], G[1, :, 1]),)),
    ("lexsort", (G, 0)),
    ("lexsort", ((),)),
    ("lexsort", ((G[0], G[0, 0]),)),
    ("sort_complex", (G[0],)),
    ("sort_complex", (C,)),
    ("searchsorted", (numpy.array([1, 2, 2, 5]), [0, 2, 2.5, 9])),
    ("searchsorted", (numpy.array([1, 2, 2, 5]), 2, "right")),
    ("searchsorted", (numpy.sort(F), F, "right")),
    ("searchsorted", (numpy.sort(C), C)),
    ("searchsorted", (numpy.sort(LONG), LONG[:50].reshape(5, 10))),
    ("searchsorted", (numpy.array([5, 1, 3]), [2, 4]), {"sorter": numpy.array([1, 2, 0])}),
    ("searchsorted", (numpy.array([5, 1, 3]), [2, 4]), {"sorter": numpy.array([1.0, 2, 0])}),
    ("searchsorted", (numpy.array([5, 1, 3]), [2, 4], "middle")),
    ("digitize", (numpy.array([0.2, 6.4, 3.0, 1.6]), numpy.array([0.0, 1.0, 2.5, 4.0, 10.0]))),
    ("digitize", (numpy.array([0.2, 6.4, 4.0]), numpy.array([10.0, 4.0, 2.5, 1.0]), True)),
    ("digitize", (numpy.array([0.2]), numpy.array([1.0, 0.0, 2.0]))),
    ("digitize", (numpy.array([1j]), numpy.array([1.0, 2.0]))),
    ("unique", (LONG,)),
    ("unique", (LONG, True, True, True)),
    ("unique", (F, True, True, True)),
    ("unique", (NANS, True, True, True), {"equal_nan": False}),
    ("unique", (C,)),
    ("unique", (B, False, True)),
    ("unique", (SMALL, True, True, True)),
    ("unique", (SMALL, True, True, True, 0)),
    ("unique", (SMALL, True, True, True, 1)),
    ("unique", (SMALL[:, :1], False, True, False, 0)),
    ("unique", (NANS, True, True, True, 0)),
    ("unique", (numpy.zeros(0), True, True, True)),
    ("unique", (SMALL,), {"axis": 5}),
    ("unique_all", (NANS,)),
    ("unique_counts", (SMALL,)),
    ("unique_inverse", (SMALL,)),
    ("intersect1d", (SMALL, [3, 1, 1, 9])),
    ("intersect1d", (SMALL[:, 0], [3, 1, 1, 9]), {"return_indices": True}),
    ("intersect1d", ([1, 5, 2], [2, 5, 7], True, True)),
    ("isin", (SMALL, [1, 3])),
    ("isin", (SMALL, [1.5, 3.0]), {"invert": True}),
    ("isin", (F, F[:3])),
    ("isin", (SMALL, [])),
    ("isin", (SMALL, [1]), {"kind": "hash"}),
    ("isin", (F, [1.0]), {"kind": "table"}),
    ("union1d", (SMALL, [9, 1])),
    ("setdiff1d", (SMALL, [1, 2])),
    ("setdiff1d", (numpy.array([3, 1, 2]), [1], True)),
    ("setxor1d", (SMALL, [1, 9])),
    ("ndarray.argsort", (G,), {"kind": "stable"}),
    ("ndarray.sort", (LONG.reshape(50, 100), 0)),
    ("ndarray.sort", (LONG[::2],)),
    ("ndarray.partition", (numpy.arange(5), 9)),
    ("partition", (numpy.arange(5), [1, 7])),
    ("partition", (numpy.arange(5), 1.5)),
    ("argpartition", (numpy.arange(5), 5)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0])
def test_as_numpy(case):
    path, args, kwargs = (*case, {})[:3]
    same_call(path, *args, **kwargs)


@pytest.mark.parametrize("way", WAYS)
def test_partitions_are_partitions(way):
    x = R.random((4, 50))
    with WAYS[way]():
        ours = np.partition(np.array(x), [3, 20], 1).get()
        places = np.argpartition(np.array(x), 7, 1).get()
    for kth in (3, 20):
        numpy.testing.assert_array_equal(ours[:, kth], numpy.sort(x, 1)[:, kth])
        assert (ours[:, :kth] <= ours[:, kth : kth + 1]).all() and (
            ours[:, kth:] >= ours[:, kth : kth + 1]
        ).all()
    numpy.testing.assert_array_equal(numpy.sort(ours, 1), numpy.sort(x, 1))
    numpy.testing.assert_array_equal(numpy.take_along_axis(x, places, 1)[:, 7], numpy.sort(x, 1)[:, 7])


def test_unique_values_are_each_there_once():
    for way in WAYS.values():
        with way():
            numpy.testing.assert_array_equal(
                numpy.sort(np.unique_values(np.array(SMALL)).get()), numpy.unique(SMALL)
            )
