"""Grids of coordinates and functions of them, against NumPy's."""

import numpy
import pytest
import xcuda.numeric as np
from numeric_twins import twins

A, B, C = numpy.arange(5.0), numpy.arange(3), numpy.array([1j, 2])


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"indexing": "ij"},
        {"sparse": True},
        {"copy": False},
        {"sparse": True, "indexing": "ij"},
        {"indexing": "x"},
    ],
)
def test_meshgrid(how):
    for given in ((A, B), (A, B, C), (A,), (A[:0], B), ()):
        twins(lambda m, *x: m.meshgrid(*x, **how), *given)
    twins(lambda m: m.meshgrid(3, 4, **how))


def test_indices():
    for shape in ((3, 4), (5,), (), (2, 0)):
        for how in ({}, {"dtype": float}, {"sparse": True}):
            twins(lambda m: m.indices(shape, **how))


def test_mgrid_and_ogrid():
    for name in ("mgrid", "ogrid"):
        for take in (
            lambda g: g[0:5, 0:3],
            lambda g: g[-1:1:5j],
            lambda g: g[-1:1:5j, 0:3:0.5],
            lambda g: g[3:9:2],
            lambda g: g[:4],
        ):
            twins(lambda m: take(getattr(m, name)))


def test_fromfunction_takes_one_kernel():
    twins(lambda m: m.fromfunction(lambda i, j: i + 2 * j, (3, 4), dtype=int))
    twins(lambda m: m.fromfunction(lambda i, j, k: m.sin(i) * j + k, (3, 4), k=2))
    twins(lambda m: m.fromfunction(lambda i, j: i, (3, 4)))
    twins(lambda m: m.fromfunction(lambda i: i > 1, (4,)))
    made = np.fromfunction(lambda i, j: i * j + np.cos(i), (4000, 3000))
    assert made[3999, 2999] == 3999 * 2999 + numpy.cos(3999.0)
