"""What the first mistakes are told: no guard, arithmetic of device arrays, a cell's file in a warning."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import xcuda.numeric as xp
from xcuda import core as cuda

GUARD = "a guard such as `if i < {}:` keeps them out"


@cuda.kernel
def add(a, b, c):
    i = cuda.grid(1)
    c[i] = a[i] + b[i]


@cuda.kernel
def transposed(a, b):
    i, j = cuda.grid(2)
    b[j, i] = a[i, j]


@cuda.kernel
def shifted(a, b):
    i = cuda.grid(1)
    if i < b.size:
        b[i] = a[i + 1]


@pytest.mark.parametrize(
    "n, shape", [(5, None), (5, (1, 64)), (1000, (4, 256)), (1000, (8, 128)), (33, (2, 32))]
)
def test_a_missing_guard_is_named(n, shape):
    with pytest.raises(IndexError, match=r"thread \(\d+, 0, 0\)") as told:
        (add[shape] if shape else add)(np.ones(n), np.ones(n), np.zeros(n))
    assert GUARD.format("a.shape[0]") in str(told.value)


def test_a_missing_guard_of_two_axes_names_the_axis():
    a = np.arange(20.0 * 32).reshape(32, 20)
    with pytest.raises(IndexError, match="axis 1 of a") as told:
        transposed[(1, 1), (32, 32)](a, np.zeros((20, 32)))
    assert GUARD.format("a.shape[1]") in str(told.value)


@pytest.mark.parametrize("n", [10, 1000])
def test_an_index_that_is_not_the_threads_own_gets_no_such_advice(n):
    with pytest.raises(IndexError) as told:
        shifted(np.ones(n), np.zeros(n))
    assert "guard" not in str(told.value)


@cuda.kernel
def before_the_start(a, b):
    i = cuda.grid(1)
    if i < b.size:
        b[i] = a[i - 1000]


def test_nor_does_one_before_the_start():
    with pytest.raises(IndexError) as told:
        before_the_start(np.ones(10), np.zeros(10))
    assert "guard" not in str(told.value)


ADVICE = r"xcuda.numeric.asarray\(d\) computes with the same memory"


@pytest.mark.parametrize(
    "use",
    [
        lambda d: d + 1, lambda d: 2.0 * d, lambda d: d - d, lambda d: d @ d, lambda d: d < 3, lambda d: 1j / d,
        lambda d: d % 2, lambda d: d**2,
    ],
)  # fmt: skip
def test_device_arrays_say_where_arithmetic_is(use):
    with pytest.raises(TypeError, match=ADVICE):
        use(cuda.to_device(np.arange(4.0)))


@pytest.mark.parametrize("name", ["sum", "mean", "max", "argsort", "clip"])
def test_device_arrays_say_where_numpys_methods_are(name):
    d = cuda.to_device(np.arange(4.0))
    with pytest.raises(AttributeError, match=rf"no \.{name}; {ADVICE}"):
        getattr(d, name)
    assert not hasattr(d, name)


def test_other_attributes_are_missing_as_ever():
    d = cuda.to_device(np.arange(4.0))
    with pytest.raises(AttributeError, match="'DeviceArray' object has no attribute 'nonsense'"):
        d.nonsense
    if d.device.kind == "cpu":  # a property's own words are kept
        with pytest.raises(AttributeError) as told:
            d.__cuda_array_interface__
        assert "has no attribute" not in str(told.value)


def test_arrays_that_have_arithmetic_do_it():
    d = cuda.to_device(np.arange(4.0))
    np.testing.assert_array_equal(np.asarray(d + xp.asarray(d)), 2 * np.arange(4.0))
    np.testing.assert_array_equal(np.asarray(xp.asarray(d) * d), np.arange(4.0) ** 2)
    np.testing.assert_array_equal(np.ones(4) + d, 1 + np.arange(4.0))


def test_the_advice_is_true():
    d = cuda.to_device(np.arange(4.0))
    shared = xp.asarray(d)
    d[0] = 9.0
    assert float(shared.sum()) == 15
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert float((shared + 1).max()) == 10
