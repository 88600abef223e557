"""The poly functions and the polynomial package against NumPy's."""

import numpy
import pytest
import xcuda.numeric as np
from numeric_twins import twins

P, R = [1.0, -3, 2, 5], numpy.random.default_rng(2)
X = numpy.linspace(-1, 1, 30)
Y = X**3 + 0.1 * R.normal(size=30)


def test_values():
    for x in (X, X.reshape(5, 6).astype("f"), (X * 9).astype(int), X + 1j):
        twins(lambda m, x: m.polyval(P, x), x)
        twins(lambda m, x: m.polyval(m.asarray([1, 2, 3]), x), x)
    twins(lambda m, x: m.polyval(m.poly1d(P), x), X)
    twins(lambda m: m.polyval([1, 2], 3))


@pytest.mark.parametrize("name", ["polyadd", "polysub", "polymul", "polydiv"])
def test_arithmetic(name):
    for a, b in ((P, [1, 2.0]), ([1, 2], P), ([2], [1, 0]), ([1, 2, 3], [4, 5])):
        twins(lambda m: getattr(m, name)(m.asarray(a), m.asarray(b)))
        twins(lambda m: getattr(m, name)(a, b))
    made = getattr(np, name)(numpy.poly1d(P), [1, 2.0])
    want = getattr(numpy, name)(numpy.poly1d(P), [1, 2.0])
    assert made == want if name != "polydiv" else all(g == w for g, w in zip(made, want, strict=True))


def test_calculus_and_roots():
    for k in (0, 1, 2, -1):
        twins(lambda m: m.polyder(P, k))
        twins(lambda m: m.polyint(P, k))
    twins(lambda m: m.polyint(P, 2, [3, 4]))
    twins(lambda m: m.polyint([1, 2], 1, 5))
    twins(lambda m: m.polyint([1, 2], 2, [5]))
    for p in ([0, 0, 1, -3, 2, 0], [], [0, 5], [0, 0], [[1, 2], [3, 4]]):
        twins(lambda m: m.roots(p))
    numpy.testing.assert_allclose(numpy.sort(np.roots(P).get()), numpy.sort(numpy.roots(P)))
    for zeros in ([1, 2, 3], [1, 2.5], [1j, -1j], R.normal(size=(3, 3)), R.normal(size=(3, 2)), []):
        twins(lambda m: m.poly(m.asarray(zeros)), tolerance=1e-12)


@pytest.mark.filterwarnings("ignore")
def test_fits():
    how = [{}, {"cov": True}, {"cov": "unscaled"}]
    for given in how:
        twins(lambda m, x, y: m.polyfit(x, y, 3, **given), X, Y, tolerance=1e-9)
    twins(lambda m, x, y: m.polyfit(x, y, 2, w=m.abs(y)), X, Y, tolerance=1e-9)
    twins(lambda m, x, y: m.polyfit(x, y, 2), X, numpy.stack([Y, 2 * Y], 1), tolerance=1e-9)
    twins(lambda m, x, y: m.polyfit(x, y, 2, full=True)[:2], X, Y, tolerance=1e-9)
    for wrong in ((X, Y, -1), (X, Y[:4], 1), (X[:0], Y, 1), (X.reshape(5, 6), Y, 1)):
        twins(lambda m, x, y: m.polyfit(x, y, wrong[2]), *wrong[:2])


def test_the_package_evaluates_on_the_device():
    for function in (
        lambda m, x: m.polynomial.polynomial.polyval(x, [1, 2, 3]), lambda m, x: m.polynomial.Polynomial([1, 2, 3])(x),
        lambda m, x: m.polynomial.chebyshev.chebval(x, [1, 2, 3, 4.0]), lambda m, x: m.polynomial.legendre.legval(x, [1, 2, 3.0]),
        lambda m, x: m.polynomial.hermite.hermval(x, [1, 2, 3.0]), lambda m, x: m.polynomial.laguerre.lagval(x, [1, 2, 3.0]),
    ):  # fmt: skip
        twins(function, X)
        assert isinstance(function(np, np.asarray(X)), np.ndarray)
    twins(lambda m, x: m.polynomial.Polynomial.fit(x, x**2, 2).coef, X, tolerance=1e-9)
