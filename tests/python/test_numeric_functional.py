"""vectorize, piecewise and the functions that apply others, against NumPy's."""

import numpy
import pytest
import xcuda.numeric as np
from numeric_twins import twins

A, T = numpy.random.default_rng(3).normal(size=(3, 4)), numpy.arange(24.0).reshape(2, 3, 4)


def distance(x, y):
    if x > y:
        return x - y
    return x + y


def steps(n):
    count = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count += 1
    return count


def test_vectorize_compiles():
    twins(lambda m, x: m.vectorize(distance)(x, 0.2), A)
    twins(lambda m, x: m.vectorize(distance)(x, x[0]), A)
    twins(lambda m, x: m.vectorize(distance)(x.T, x.T), A)
    twins(lambda m, x: m.vectorize(distance, otypes=["float32"])(x, x[0]), A)
    twins(lambda m, x: m.vectorize(distance, otypes="d")(x, x), A[:0])
    twins(lambda m, x: m.vectorize(distance)(x, x), A[:0])
    twins(lambda m: m.vectorize(steps)(m.arange(1, 200)))
    twins(lambda m: m.vectorize(distance)(3, 4))
    twins(lambda m, x: m.vectorize(lambda t: t > 0)(x), A)

    @np.vectorize
    def doubled(x):
        """Twice."""
        return 2 * x

    assert doubled(np.arange(3)).tolist() == [0, 2, 4] and doubled.__doc__ == "Twice."


def test_what_vectorize_cannot_compile_says_why():
    twins(lambda m, x: m.vectorize(lambda t: (t, t * 2))(x), A, natively=False)
    twins(lambda m, x: m.vectorize(lambda a, b: a @ b, signature="(n),(n)->()")(x, x), A, natively=False)
    with pytest.warns(np.FallbackWarning, match=r"vectorize\(<lambda>\), since it gives several values"):
        np.vectorize(lambda t: (t, t))(np.arange(3))
    with pytest.warns(np.FallbackWarning, match="since it gives <U1 values"):
        assert np.vectorize(lambda t: "x")(np.arange(3)).tolist() == ["x"] * 3
    before, np.config.fallback = np.config.fallback, "error"
    try:
        with pytest.raises(NotImplementedError, match="it has a signature"):
            np.vectorize(lambda a: a.sum(), signature="(n)->()")(np.arange(3))
    finally:
        np.config.fallback = before


def test_piecewise():
    functions = [lambda z: -z, lambda z: z * 2]
    twins(lambda m, x: m.piecewise(x, [x < 0, x >= 1], [-1, 1]), A, natively=False)
    twins(lambda m, x: m.piecewise(x, [x < 0, x >= 1], [*functions, 7]), A, natively=False)
    twins(lambda m, x: m.piecewise(x, x < 0, functions), A, natively=False)
    twins(lambda m, x: m.piecewise(x, [x < 0], [1, 2, 3]), A)
    twins(lambda m, x: m.piecewise(x, [x < 0, x > 0], [1, 2]), numpy.array(3.0), natively=False)
    twins(lambda m, x: m.piecewise(x, [x < 0], [lambda z, k: z * k, 0], 3), A, natively=False)


def test_apply():
    for axis in (0, 1, -1):
        for function in (
            lambda z: z.sum(),
            lambda z: z[::-1] * 2,
            lambda z: z[:, None] * z,
            lambda z, k=3: z[:1] + k,
        ):
            twins(lambda m, x: m.apply_along_axis(function, axis, x), T)
    twins(lambda m, x: m.apply_along_axis(lambda z: z.sum(), 5, x), T)
    twins(lambda m, x: m.apply_along_axis(lambda z: z.sum(), 0, x), T[:, :0])
    twins(lambda m, x: m.apply_over_axes(m.sum, x, [0, -1]), T)
    twins(lambda m, x: m.apply_over_axes(lambda a, axis: a[0, 0, 0], x, 1), T)


def test_frompyfunc_stays_on_the_host():
    before, np.config.fallback = np.config.fallback, "silent"
    try:
        made = np.frompyfunc(lambda a, b: (a, b), 2, 1)(np.arange(2), np.arange(2))
    finally:
        np.config.fallback = before
    assert made.dtype == object and made[1] == (1, 1)
