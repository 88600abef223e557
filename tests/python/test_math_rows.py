"""Folds over rows and what is made of them, as one kernel: values beside NumPy's, over shapes, axes, strides and dtypes."""

import random

import numpy as np
import pytest
import xcuda.math as nvmath
import xcuda.numeric as numeric
from numeric_compiled import compiled
from xcuda import _runtime


def softmax(np, x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def normalised(np, x, axis):
    away = x - x.mean(axis=axis, keepdims=True)
    return away / np.sqrt((away * away).mean(axis=axis, keepdims=True) + 1e-5)


def several(np, x, axis):
    return x.max(axis=axis), x.min(axis=axis), x - x.mean(axis=axis, keepdims=True), np.var(x, axis=axis)


def without_kept_axes(np, x, axis):
    middle = x.mean(axis=axis)
    return (x - np.expand_dims(middle, axis)) * 2, middle + 1


FUNCTIONS = (softmax, normalised, several, without_kept_axes)
SHAPES = (
    ((24, 40), -1),
    ((5, 3), -1),
    ((100, 100), 0),
    ((7, 33), -1),
    ((3, 4, 50), (1, 2)),
    ((4, 60, 5), 1),
    ((200,), 0),
    ((1, 70), -1),
    ((70, 1), -1),
    ((6, 7, 8), (0, 2)),
    ((0, 5), -1),
)
TOLERANCE = {"float64": 1e-11, "float32": 2e-6}


def same(got, want, tolerance):
    for one, other in zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]:
        assert one.dtype == other.dtype and one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_rows_are_numpys(function, dtype):
    for shape, axis in SHAPES:
        x = np.random.default_rng(7).normal(size=shape).astype(dtype)
        f = nvmath.jit(lambda x, axis=axis: function(nvmath, x, axis))
        for view in (x, x[::-1], x[..., ::-1]):
            same(f(view), function(np, view, axis), TOLERANCE[dtype])


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_rows_of_halves_are_as_near_as_their_digits_allow(function):
    """Beside float64's values of the same halves: sums are float32's, and each result is rounded a few times."""
    for shape, axis in SHAPES:
        x = np.random.default_rng(7).normal(size=shape).astype("float16")
        got = nvmath.jit(lambda x, axis=axis: function(nvmath, x, axis))(x)
        want = function(np, x.astype("float64"), axis)
        for one, other in zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]:
            assert one.dtype == np.float16 and one.shape == other.shape
            np.testing.assert_allclose(one.astype("float64"), other, rtol=8e-3, atol=8e-3)


def test_long_rows_of_halves_do_not_stop_at_their_largest():
    x = np.full((3, 70_000), 2.0, "float16")  # their sum is more than float16 holds
    got = nvmath.jit(lambda x: normalised(nvmath, x, -1))(x)
    np.testing.assert_array_equal(got, np.zeros_like(x))
    share = nvmath.jit(lambda x: softmax(nvmath, x, -1))(x[:, :2048])
    np.testing.assert_allclose(share.astype("float64"), 1 / 2048, rtol=1e-3)


def test_rows_are_written_where_they_are_wanted():
    """x[...] = f(y) takes f's result in place of a copy of it, where nobody else sees x's memory."""
    before, numeric.config.host_elements = numeric.config.host_elements, 0
    try:
        x = np.random.default_rng(3).normal(size=(40, 300))
        y, kept = numeric.asarray(x), softmax(np, x, -1)

        def launches(target, write):
            numeric.flush()
            _, found = _runtime.numeric_watched(lambda: (write(), target._compute()))
            return len(found)

        out = numeric.zeros(x.shape)
        out._compute()

        def whole():
            out[...] = softmax(numeric, y, -1)

        assert launches(out, whole) == 1
        np.testing.assert_allclose(out.get(), kept, rtol=1e-11)

        # What has another name stays that name's, and what others see of x's memory is written there.
        named = softmax(numeric, y, -1)
        out[...] = named
        out += 1
        np.testing.assert_allclose(named.get(), kept, rtol=1e-11)
        view = out[1:3]
        out[...] = softmax(numeric, y, -1)
        np.testing.assert_allclose(view.get(), kept[1:3], rtol=1e-11)
        del view
        earlier = out * 2
        out[...] = out / out.sum(axis=-1, keepdims=True)
        np.testing.assert_allclose(earlier.get(), 2 * kept, rtol=1e-11)
        np.testing.assert_allclose(out.get(), kept / kept.sum(axis=-1, keepdims=True), rtol=1e-11)
        out[:, ::2] = numeric.exp(y[:, ::2])
        np.testing.assert_allclose(out.get()[:, ::2], np.exp(x[:, ::2]), rtol=1e-11)
    finally:
        numeric.config.host_elements = before


def test_nan_and_infinity_stay_in_their_rows():
    x = np.random.default_rng(1).normal(size=(6, 50))
    x[1, 7], x[2, 3], x[4, 49] = np.nan, np.inf, -np.inf
    f = nvmath.jit(lambda x: softmax(nvmath, x, -1))
    with np.errstate(invalid="ignore"):
        same(f(x), softmax(np, x, -1), 1e-11)


PROGRAM = """
import json, sys
import numpy
import xcuda.numeric as np
from xcuda import _runtime

np.config.host_elements = 0
for dtype in ("float64", "float32", "float16"):
    for x in (np.array(numpy.ones((8, 2000), dtype)), np.array(numpy.ones((9, 6), dtype))):
        np.flush()
        e = np.exp(x - x.max(1, keepdims=True))
        (e / e.sum(1, keepdims=True)).get()
        ((x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)).get()
print(json.dumps(_runtime.numeric_compile_for(sys.argv[1])))
"""


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90", "sm_120"])
def test_rows_compile_for_gpus(architecture):
    pytest.importorskip("nvidia.cu13", reason="no NVRTC wheel")
    found = compiled(PROGRAM, architecture)
    rows = [(text, registers) for name, text, registers in found if "max(" in name and "exp(" in name]
    assert len(rows) >= 6
    assert sum("__shared__" in text or "xc_shared" in text for text, _ in rows) >= 3
    assert all(registers and registers <= 128 for _, registers in rows)


def mixed(np, x, seed):
    """Values that see each other along rows, along columns, reversed and transposed."""
    values, pick = [x], random.Random(seed)
    for _ in range(7):
        a, b = pick.choice(values), pick.choice(values)
        made = (
            lambda a, b: a - a.mean(axis=1, keepdims=True),
            lambda a, b: np.exp(np.tanh(a)) + np.tanh(b),
            lambda a, b: np.tanh(a) * b.max(axis=-1, keepdims=True),
            lambda a, b: a / (1 + abs(b).sum(axis=0, keepdims=True)),
            lambda a, b: (a + b)[::-1],
            lambda a, b: a - (b * b).mean(axis=1)[:, None],
            lambda a, b: (a - a.min()) / (1 + a.std()),
            lambda a, b: a + b.mean(axis=0),
        )[pick.randrange(8)]
        values.append(made(a, b))
    return values


def test_rows_and_columns_of_held_values_mix():
    before, numeric.config.host_elements = numeric.config.host_elements, 0
    try:
        for seed in range(10):
            rng = np.random.default_rng(seed)
            x = rng.normal(size=rng.integers(1, 40, 2))
            got = mixed(numeric, numeric.asarray(x), seed)
            for one, other in zip(got, mixed(np, x, seed), strict=True):
                np.testing.assert_allclose(one.get(), other, rtol=1e-9, atol=1e-9)
    finally:
        numeric.config.host_elements = before
