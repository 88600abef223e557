"""Folds over rows and what is made of them, as one kernel: values beside NumPy's, over shapes, axes, strides and dtypes."""

import random

import numpy as np
import pytest
import xcuda.math as nvmath
import xcuda.numeric as numeric
from numeric_compiled import compiled


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
    for x in (np.array(numpy.ones((8, 200), dtype)), np.array(numpy.ones((9, 6), dtype))):
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
