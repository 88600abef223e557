"""nvmath.batch_process: order, places, one kernel for what fuses, errors that keep the others' results."""

import numpy as np
import pytest
import xcuda.math as nvmath
from xcuda import _runtime
from xcuda import core as cuda
from xcuda import numeric as xnp

X = np.linspace(0.5, 3, 24)


def launches(work):
    return len(_runtime.numeric_watched(work)[1])


def test_results_come_in_order_where_the_array_was():
    functions = [lambda x: x + 1, np.fft.fft, lambda x: (x.sum(), {"twice": 2 * x}), nvmath.sort]
    made = nvmath.batch_process(functions, X)
    np.testing.assert_array_equal(made[0], X + 1)
    np.testing.assert_allclose(made[1], np.fft.fft(X), atol=1e-12)
    assert type(made[2][0]) is np.float64 and made[2][0] == pytest.approx(X.sum())
    np.testing.assert_array_equal(made[2][1]["twice"], 2 * X)
    np.testing.assert_array_equal(made[3], X)
    assert all(type(a) is np.ndarray for a in (made[0], made[1], made[3]))
    on_device = nvmath.batch_process([lambda x: x * 2], cuda.to_device(X))
    assert isinstance(on_device[0], cuda.DeviceArray)
    assert isinstance(nvmath.batch_process([lambda x: x * 2], xnp.asarray(X))[0], xnp.ndarray)


def test_functions_of_elements_become_one_kernel():
    inner = nvmath.jit(lambda x, y: nvmath.exp(x) * y)
    functions = [lambda x: inner(x, x * 2), lambda x: nvmath.sin(x), lambda x: nvmath.sqrt(x) + 1]
    assert launches(lambda: nvmath.batch_process(functions, X)) == 1
    made = nvmath.batch_process(functions, X)
    for got, want in zip(made, (np.exp(X) * X * 2, np.sin(X), np.sqrt(X) + 1), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-13)


def test_each_function_works_on_a_stream_of_its_own():
    """Which waits for what the caller's has to do, as the caller's waits for it."""
    seen = []

    @cuda.kernel
    def doubled(a, out):
        i = cuda.grid(1)
        if i < a.shape[0]:
            out[i] = 2 * a[i]

    def launched(x):
        seen.append(cuda.current_stream())
        out = cuda.zeros(x.shape, x.dtype)
        doubled(x, out)
        return xnp.asarray(out)

    home = cuda.Stream()
    with home:
        x = cuda.to_device(X)
        doubled(x, x)
        made = nvmath.batch_process([launched] * 3, x)
        again = [a.copy_to_host() for a in made]  # on the caller's stream, without another wait
        assert cuda.current_stream() is home
    assert len({id(s) for s in seen}) == 3 and home not in seen
    for a in again:
        np.testing.assert_array_equal(a, 4 * X)


def test_the_input_is_copied_once():
    x = np.arange(5000.0)
    functions = [lambda x: x + 1, lambda x: xnp.cumsum(x), lambda x: x.sum(), lambda x: xnp.fft.fft(x)]
    given = []

    def told(function):
        return lambda x: (given.append(x), function(x))[1]

    made = nvmath.batch_process([told(f) for f in functions], x)
    assert len({id(a) for a in given}) == 1 and isinstance(given[0], xnp.ndarray)
    np.testing.assert_allclose(made[1], np.cumsum(x))
    np.testing.assert_allclose(made[3], np.fft.fft(x))


def test_an_error_names_its_function_and_keeps_the_others_results():
    def broken(x):
        raise ValueError("no such thing")

    with pytest.raises(
        nvmath.BatchError, match=r"function 1 \(broken\) failed: ValueError: no such thing; the others'"
    ) as told:
        nvmath.batch_process([lambda x: x + 1, broken, lambda x: x * 2], X)
    error = told.value
    assert error.index == 1 and isinstance(error.__cause__, ValueError)
    np.testing.assert_array_equal(error.results[0], X + 1)
    assert error.results[1] is None
    np.testing.assert_array_equal(error.results[2], X * 2)
    with pytest.raises(nvmath.BatchError, match=r"and 1 more: \[2\]"):
        nvmath.batch_process([broken, abs, broken], X)


def test_jitted_functions_compute_again_after_an_error():
    f = nvmath.jit(lambda x: x + 1)
    with pytest.raises(nvmath.BatchError):
        nvmath.batch_process([lambda x: 1 / 0, f], X)
    assert type(f(X)) is np.ndarray


def test_bad_input():
    with pytest.raises(TypeError, match="element 1 is a int, not a function"):
        nvmath.batch_process([abs, 3], X)
    with pytest.raises(TypeError, match="takes one array, not a list"):
        nvmath.batch_process([abs], [1, 2])
    assert nvmath.batch_process([], X) == []
