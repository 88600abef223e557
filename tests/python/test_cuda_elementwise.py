"""vectorize, guvectorize and reduce against NumPy, over host and device arrays."""

import math

import numpy as np
import pytest
from xcuda import core as cuda

RNG = np.random.default_rng(8)


@cuda.vectorize
def blend(x, y):
    return x * 2 + y if x > 0.5 else y - x


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_vectorize_host_arrays(dtype):
    x, y = (RNG.random((7, 11)) * 3).astype(dtype), (RNG.random((7, 11)) * 3).astype(dtype)
    out = blend(x, y)
    assert isinstance(out, np.ndarray) and out.dtype == dtype
    np.testing.assert_allclose(out, np.where(x > 0.5, x * 2 + y, y - x), rtol=1e-6)


def test_vectorize_broadcasts():
    x, y = RNG.random((5, 1)), RNG.random(4)
    np.testing.assert_allclose(blend(x, y), np.where(x > 0.5, x * 2 + y, y - x))
    np.testing.assert_allclose(blend(x, 3.0), np.where(x > 0.5, x * 2 + 3, 3 - x))
    assert blend(np.zeros((0, 3)), 1.0).shape == (0, 3)
    assert blend(1.0, 2.0) == 4.0


def test_vectorize_device_arrays():
    x, y = RNG.random(100), RNG.random(100)
    out = blend(cuda.to_device(x), cuda.to_device(y))
    assert not isinstance(out, np.ndarray)
    np.testing.assert_allclose(out.copy_to_host(), np.where(x > 0.5, x * 2 + y, y - x))


def test_vectorize_broadcasts_device_arrays():
    x, y = RNG.normal(size=(20, 3, 1)), RNG.normal(size=(1, 3, 5))
    want = np.where(x > 0.5, x * 2 + y, y - x)
    for a, b in ((cuda.to_device(x), cuda.to_device(y)), (cuda.to_device(x), y), (x, cuda.to_device(y))):
        out = blend(a, b)
        assert not isinstance(out, np.ndarray) and out.shape == (20, 3, 5)
        np.testing.assert_allclose(out.copy_to_host(), want)
    np.testing.assert_allclose(blend(x[::2, ::-1], y[0]), np.where(x[::2, ::-1] > 0.5,
                               x[::2, ::-1] * 2 + y[0], y[0] - x[::2, ::-1]))  # fmt: skip
    number = blend(cuda.to_device(np.array(2.0)), cuda.to_device(np.arange(3.0)))
    np.testing.assert_allclose(number.copy_to_host(), np.arange(3.0) + 4)
    with pytest.raises(ValueError, match="shape mismatch"):
        blend(cuda.to_device(x), cuda.to_device(y[:, :2]))


@cuda.vectorize(["float32(float32, float32)", "float64(float64, float64)"], target="cuda")
def power(x, y):
    return math.pow(x, y)


def test_vectorize_with_signatures():
    assert power(np.float32([2, 3]), np.float32([3, 2])).dtype == np.float32
    assert power(np.array([2.0, 3]), np.array([3.0, 2])).dtype == np.float64
    out = np.zeros(2)
    assert power(np.array([2.0, 3]), np.array([3.0, 2]), out=out) is out
    np.testing.assert_allclose(out, [8, 9])
    with pytest.raises(TypeError, match="no signature for complex128"):
        power(np.ones(2, complex), np.ones(2, complex))
    with pytest.raises(TypeError, match="takes 2 arguments; 1 were given"):
        power(np.ones(2))


def test_vectorize_options():
    stream = cuda.stream()
    out = power(cuda.to_device(np.array([2.0, 3])), np.array([3.0, 2]), stream=stream)
    np.testing.assert_allclose(out.copy_to_host(), [8, 9])
    given = cuda.device_array(2)
    assert power(np.array([2.0, 3]), 2.0, out=given) is given
    np.testing.assert_allclose(given.copy_to_host(), [4, 9])
    with pytest.raises(TypeError, match="Unrecognized options of vectorize.*: depth"):
        cuda.vectorize(["float32(float32)"], depth=3)
    with pytest.raises(KeyError, match="Unrecognized options"):
        cuda.vectorize(["float32(float32)"], depth=3)
    with pytest.raises(TypeError, match="gives float64, which is not cast to the int32 of out"):
        power(np.array([2.0, 3]), 2.0, out=np.zeros(2, np.int32))
    with pytest.warns(RuntimeWarning, match="nopython kwarg for cuda target is redundant"):
        cuda.vectorize(nopython=True)


@cuda.vectorize(["int32(int32, int32)", "float64(float64, float64)"])
def product(x, y):
    return x * y


@pytest.mark.parametrize("n", [1, 2, 100, 1025])
def test_a_vectorized_function_folds(n):
    x = RNG.integers(1, 3, n).astype(np.int32)
    with np.errstate(over="ignore"):
        want = np.multiply.reduce(x, dtype=np.int32)
    for given in (x, cuda.to_device(x)):
        got = product.reduce(given, stream=cuda.stream())
        assert got == want and got.dtype == np.int32
    with pytest.raises(ValueError, match="zero-size array to reduction operation product"):
        product.reduce(np.zeros(0))
    with pytest.raises(TypeError, match="folds a 1-d array"):
        product.reduce(np.zeros((2, 2)))


@cuda.guvectorize(["void(float64[:], float64[:], float64[:])"], "(n),(n)->()")
def dot(x, y, out):
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * y[i]
    out[0] = total


@cuda.guvectorize(["void(float32[:], float32, float32[:])"], "(n),()->(n)")
def shifted(x, by, out):
    for i in range(x.shape[0]):
        out[i] = x[i] + by


def test_guvectorize():
    x, y = RNG.random((3, 4, 6)), RNG.random((4, 6))
    np.testing.assert_allclose(dot(x, y), (x * y).sum(-1))
    out = np.zeros((3, 4))
    assert dot(x, y, out) is out
    np.testing.assert_allclose(out, (x * y).sum(-1))
    a, b = RNG.random((5, 6)).astype(np.float32), RNG.random(5).astype(np.float32)
    np.testing.assert_allclose(shifted(a, b), a + b[:, None])
    with pytest.raises(ValueError, match="'n' is 6 in one input and 5 in another"):
        dot(x, y[:, :5])


def test_guvectorize_on_the_device():
    x, y = RNG.random((4, 6)), RNG.random((4, 6))
    out = dot(cuda.to_device(x), cuda.to_device(y))
    np.testing.assert_allclose(out.copy_to_host(), (x * y).sum(-1))


def test_guvectorize_mixes_host_and_device_and_broadcasts():
    x, y = RNG.random((3, 4, 6)), RNG.random((4, 6))
    for a, b in ((cuda.to_device(x), y), (x, cuda.to_device(y))):
        np.testing.assert_allclose(dot(a, b).copy_to_host(), (x * y).sum(-1))
    stream, out = cuda.stream(), cuda.device_array((3, 4))
    assert dot(cuda.to_device(x), cuda.to_device(y), out=out, stream=stream) is out
    np.testing.assert_allclose(out.copy_to_host(), (x * y).sum(-1))
    assert float(dot(y[0], y[1])) == pytest.approx(y[0] @ y[1])


@cuda.guvectorize(["void(int32[:], int32[:], int32[:])"], "(n),()->(n)")
def raised(x, by, out):
    for i in range(x.shape[0]):
        out[i] = x[i] + by[0]


def test_a_number_that_the_signature_declares_an_array():
    x = np.arange(8, dtype=np.int32).reshape(2, 4)
    np.testing.assert_array_equal(raised(x[0], np.array([5], np.int32)), x[0] + 5)
    np.testing.assert_array_equal(raised(x, np.array([5, 7], np.int32)), x + [[5], [7]])
    np.testing.assert_array_equal(raised(x, 3), x + 3)


def test_calls_of_guvectorized_functions_that_are_refused():
    x = np.arange(4.0)
    with pytest.raises(TypeError, match="gufunc accepts 2 positional arguments .* Got 1 positional argument"):
        dot(x)
    with pytest.raises(ValueError, match="cannot specify argument 'out' as both positional and keyword"):
        dot(x, x, np.zeros(()), out=np.zeros(()))
    with pytest.raises(TypeError, match="nopython flag must be True"):
        cuda.guvectorize(["void(float64[:], float64[:])"], "(n)->()", nopython=False)
    with pytest.raises(TypeError, match="The following target options are not supported: depth, size"):
        cuda.guvectorize(["void(float64[:], float64[:])"], "(n)->()", size=1, depth=2)


@cuda.reduce
def total(a, b):
    return a + b


@cuda.reduce
def most(a, b):
    return a if a > b else b


@pytest.mark.parametrize("n", [0, 1, 2, 255, 256, 257, 5000, 200_000])
@pytest.mark.parametrize("dtype", [np.int64, np.float64, np.float32])
def test_reduce(n, dtype):
    x = RNG.integers(-50, 50, n).astype(dtype)
    got = total(cuda.to_device(x)) if n % 2 else total(x)
    assert got.dtype == dtype and got == x.sum()
    assert total(x, init=10) == x.sum() + 10
    assert most(x, init=-100) == max([-100, *x.tolist()])


def test_reduce_options():
    x = np.arange(10.0)
    assert total(x, size=4) == 6
    res = cuda.to_device(np.zeros(2))
    assert total(cuda.to_device(x), res=res) is None
    np.testing.assert_array_equal(res.copy_to_host(), [45, 0])
    with pytest.raises(TypeError, match="folds a 1-d array"):
        total(np.zeros((2, 2)))
