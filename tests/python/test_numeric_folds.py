"""Folds over every combination of axes, strides and dtypes, against NumPy."""

import itertools
import warnings

import numpy
import pytest
import xcuda.numeric as np
from xcuda import _runtime

SHAPES = [
    (1,),
    (7,),
    (64,),
    (65,),
    (1000,),
    (4099,),
    (3, 5),
    (130, 3),
    (3, 130),
    (70, 71),
    (2, 3, 4),
    (5, 1, 67),
    (66, 2, 65),
    (2, 2, 2, 2, 2),
]
DTYPES = [
    "bool",
    "int8",
    "uint16",
    "int32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]


def values(shape, dtype, seed=0):
    rng = numpy.random.default_rng(seed)
    kind = numpy.dtype(dtype).kind
    if kind in "biu":
        return rng.integers(0, 2 if kind == "b" else 100, shape).astype(dtype)
    x = rng.normal(1, 2, shape)
    return (x + 1j * rng.normal(0, 1, shape)).astype(dtype) if kind == "c" else x.astype(dtype)


def same(ours, theirs):
    ours, theirs = ours.get(), numpy.asarray(theirs)
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    if theirs.dtype.kind in "biu":
        numpy.testing.assert_array_equal(ours, theirs)
    else:
        tolerance = {2: 4e-3, 4: 2e-5, 8: 1e-12}[theirs.real.dtype.itemsize]
        numpy.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance * 10)


def axis_choices(ndim):
    yield None
    for n in range(ndim + 1):
        yield from itertools.combinations(range(-ndim, 0), n)
    yield from range(ndim)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_sums_and_extremes_over_all_axes(shape):
    x = values(shape, "float64")
    ours = np.array(x)
    for axis in axis_choices(len(shape)):
        for keepdims in (False, True):
            same(ours.sum(axis, keepdims=keepdims), x.sum(axis, keepdims=keepdims))
            same(ours.max(axis, keepdims=keepdims), x.max(axis, keepdims=keepdims))
    same(ours.T.sum(0), x.T.sum(0))
    same(ours[::-1].min(), x[::-1].min())
    same((ours * 2 + 1).mean(-1), (x * 2 + 1).mean(-1))


EVERY = ["sum", "max", "mean"]
OTHERS = ["prod", "min", "any", "all", "var", "std", "ptp", "count_nonzero"]


@pytest.mark.parametrize(
    ("name", "dtype"),
    [(n, d) for n in EVERY for d in DTYPES]
    + [(n, d) for n in OTHERS for d in ("bool", "int32", "float32", "complex128")],
)
def test_dtypes(name, dtype):
    np.config.fallback = "silent"
    try:
        for shape in ((90,), (5, 70)):
            x = values(shape, dtype)
            if name == "prod":
                x = x[..., :9]
            for axis in (None, 0, -1):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        theirs = getattr(numpy, name)(x, axis=axis)
                    except TypeError as error:
                        with pytest.raises(
                            TypeError, match=str(error).split(",")[0].replace("(", ".").replace(")", ".")
                        ):
                            getattr(np, name)(np.array(x), axis=axis)
                        continue
                if numpy.isinf(theirs).any() and dtype == "float16":
                    continue
                same(getattr(np, name)(np.array(x), axis=axis), theirs)
    finally:
        np.config.fallback = "warn"


@pytest.mark.parametrize("name", ["nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanvar", "nanstd"])
def test_nan_variants(name):
    x = values((6, 50), "float64")
    x[x > 2.5] = numpy.nan
    for axis in (None, 0, 1):
        same(getattr(np, name)(np.array(x), axis=axis), getattr(numpy, name)(x, axis=axis))


def test_nan_spreads_in_max_and_min():
    for n in (3, 70, 5000):
        x = values((n,), "float32")
        x[n // 2] = numpy.nan
        assert numpy.isnan(np.array(x).max().get()) and numpy.isnan(np.array(x).min().get())


def test_initial_where_out_dtype():
    x = values((4, 70), "float64")
    mask = x > 1
    ours = np.array(x)
    same(ours.sum(1, where=np.array(mask)), x.sum(1, where=mask))
    same(ours.max(1, initial=0, where=np.array(mask)), x.max(1, initial=0, where=mask))
    same(ours.sum(initial=5), x.sum(initial=5))
    same(ours.mean(0, where=np.array(mask)), x.mean(0, where=mask))
    same(
        np.sum(np.array(x.astype("float32")), dtype="float64"),
        numpy.sum(x.astype("float32"), dtype="float64"),
    )
    out = np.zeros(4)
    assert ours.sum(1, out=out) is out
    same(out, x.sum(1))
    for function in (np, numpy):
        with pytest.raises(
            ValueError, match="zero-size array to reduction operation maximum which has no identity"
        ):
            function.zeros((3, 0)).max(1)
        with pytest.raises(
            numpy.exceptions.AxisError, match="axis 2 is out of bounds for array of dimension 2"
        ):
            function.zeros((3, 1)).sum(2)
        with pytest.raises(ValueError, match="duplicate value in 'axis'"):
            function.zeros((3, 1)).sum((0, -2))
    assert np.zeros((3, 0)).sum(1).get().tolist() == [0, 0, 0]
    assert np.zeros((0, 3)).max(1).shape == (0,)


@pytest.mark.parametrize("n", [100, 4099, 300_001])
def test_sums_are_no_less_exact_than_numpys(n):
    import math

    x = numpy.random.default_rng(n).random(n).astype("float32")
    exact = math.fsum(x.tolist())
    assert abs(float(np.array(x).sum()) - exact) <= abs(float(x.sum()) - exact) + exact * 2.0**-24
    wide = numpy.random.default_rng(n).random(n)
    exact = math.fsum(wide.tolist())
    assert abs(float(np.array(wide).sum()) - exact) <= exact * 2.0**-50


def test_the_same_order_every_time():
    x = np.array(values((123_457,), "float64"))
    assert len({float(x.sum()) for _ in range(5)}) == 1


def test_ufunc_reduce():
    x = values((5, 40), "int64")
    for name in (
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
        "maximum",
        "logical_and",
        "logical_or",
        "multiply",
    ):
        same(getattr(np, name).reduce(np.array(x)), getattr(numpy, name).reduce(x))
        same(
            getattr(np, name).reduce(np.array(x), axis=1, keepdims=True),
            getattr(numpy, name).reduce(x, axis=1, keepdims=True),
        )
    with np_silent():
        same(np.subtract.reduce(np.array(x)), numpy.subtract.reduce(x))
    with pytest.raises(ValueError, match="reduce only supported for binary functions"):
        np.sin.reduce(np.array(x))


class np_silent:
    def __enter__(self):
        np.config.fallback = "silent"

    def __exit__(self, *exception):
        np.config.fallback = "warn"


def launches(program):
    """How many kernels a program's results take, and the results."""
    np.flush()
    before = _runtime.numeric_counts()[0]
    made = program()
    np.flush()
    return _runtime.numeric_counts()[0] - before, made


@pytest.fixture
def by_kernels(monkeypatch):
    monkeypatch.setattr(np.config, "host_elements", 0)


@pytest.mark.parametrize("shape", [(60_000,), (300, 400)])
def test_a_fold_asked_for_again_is_computed_once(by_kernels, shape):
    h = values(shape, "float64")

    def apart():
        return np.array(h).sum(), (np.array(h) + 1).sum()

    def together():
        x = np.array(h) + 1
        return x.sum(), x.mean(), x.sum(keepdims=True), x.mean(keepdims=True), np.add.reduce(x, axis=None)

    one, _ = launches(lambda: (np.array(h) + 1).sum())
    many, made = launches(together)
    two, _ = launches(apart)
    assert two == 2 * one  # folds of different elements are apart
    assert many <= one + 2  # what is made of the sum: a kernel a shape
    for found, theirs in zip(made, ((h + 1).sum(), (h + 1).mean()) * 2, strict=False):
        same(found.reshape(()), theirs)


def test_a_variance_folds_the_sum_of_the_mean(by_kernels):
    h = values((60_000,), "float64")
    mean, _ = launches(lambda: np.array(h).mean())
    both, (middle, spread) = launches(lambda: (lambda x: (x.mean(), x.std()))(np.array(h)))
    alone, _ = launches(lambda: np.array(h).std())
    assert both <= alone + 1
    assert alone > mean
    same(middle, h.mean())
    same(spread, h.std())


def test_folds_that_share_their_elements_are_arrays_of_their_own(by_kernels):
    h = values((30, 40), "float64")
    x = np.array(h) * 2
    a, b, c = x.sum(0), x.sum(0), x.sum(0, keepdims=True)
    a += 1
    b[3] = 7
    e = x.sum(0)
    x[...] = 0
    d = x.sum(0)
    theirs = (h * 2).sum(0)
    other = theirs.copy()
    other[3] = 7
    same(a, theirs + 1)
    same(b, other)
    same(c, theirs[None])
    same(e, theirs)
    same(d, theirs * 0)


@pytest.mark.parametrize("shape", [(1, 5, 1, 6), (5, 6), (1, 1), (3, 1, 4)])
def test_a_fold_is_seen_again_with_and_without_its_axes(by_kernels, shape):
    h = values(shape, "float64")
    for axis in range(len(shape)):
        x = np.array(h).T.T + 1
        kept, gone, again = x.sum(axis, keepdims=True), x.sum(axis), x.sum(axis, keepdims=True)
        same(kept, (h + 1).sum(axis, keepdims=True))
        same(gone, (h + 1).sum(axis))
        same(again, (h + 1).sum(axis, keepdims=True))
        x = np.array(h).T + 1
        gone, kept = x.sum(axis), x.sum(axis, keepdims=True)
        same(kept, (h.T + 1).sum(axis, keepdims=True))
        same(gone, (h.T + 1).sum(axis))


def test_what_is_written_between_two_folds_is_seen(by_kernels):
    h = values((500,), "float64")
    x = np.array(h)
    first = x.sum()
    x[0] = 1000
    second = x.sum()
    x += 1
    third = x.sum()
    g = h.copy()
    g[0] = 1000
    same(first, h.sum())
    same(second, g.sum())
    same(third, (g + 1).sum())
