"""Solvers and factorisations of stacks of matrices, which are NumPy's one by one, within jitted functions and without."""

import numpy as np
import pytest
import xcuda.math as nvmath

DTYPES = ["float32", "float64", "complex64", "complex128"]
NEAR = {"f": {"rtol": 2e-3, "atol": 2e-4}, "d": {"rtol": 1e-9, "atol": 1e-10}}


def near(dtype):
    return NEAR["f" if np.dtype(dtype).char in "fF" else "d"]


def stack(dtype, *shape, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=shape)
    if np.dtype(dtype).kind == "c":
        a = a + 1j * rng.normal(size=shape)
    return a.astype(dtype)


def positive(dtype, *shape):
    a = stack(dtype, *shape)
    return (a @ a.conj().swapaxes(-1, -2) + shape[-1] * np.eye(shape[-1])).astype(dtype)


def host(a):
    return np.asarray(a.get() if hasattr(a, "get") else a)


def ways(function):
    return function, nvmath.jit(function)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 5, 33])
def test_solve(dtype, n):
    a = stack(dtype, 3, 2, n, n) + 2 * n * np.eye(n, dtype=dtype)
    for b in (stack(dtype, 3, 2, n, 4, seed=1), stack(dtype, n, 4, seed=2), stack(dtype, 2, n, 1, seed=3)):
        for solve in ways(lambda a, b: nvmath.linalg.solve(a, b)):
            x = host(solve(a, b))
            assert x.dtype == dtype
            np.testing.assert_allclose(x, np.linalg.solve(a, b), **near(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_cholesky(dtype):
    a = positive(dtype, 2, 3, 17, 17)
    for cholesky in ways(lambda a: nvmath.linalg.cholesky(a)):
        lower = host(cholesky(a))
        np.testing.assert_allclose(lower, np.linalg.cholesky(a), **near(dtype))
        assert (np.triu(lower, 1) == 0).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("m", "n"), [(7, 4), (4, 7), (6, 6)])
def test_qr(dtype, m, n):
    a = stack(dtype, 2, 3, m, n)
    for factors in ways(lambda a: tuple(nvmath.linalg.qr(a))):
        q, r = map(host, factors(a))
        assert q.shape == (2, 3, m, min(m, n)) and r.shape == (2, 3, min(m, n), n)
        np.testing.assert_allclose(q @ r, a, **near(dtype))
        np.testing.assert_allclose(
            q.conj().swapaxes(-1, -2) @ q,
            np.broadcast_to(np.eye(min(m, n)), (2, 3, min(m, n), min(m, n))),
            **near(dtype),
        )
        assert (np.tril(r, -1) == 0).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_inverses_and_determinants(dtype):
    a = stack(dtype, 4, 9, 9) + 9 * np.eye(9, dtype=dtype)
    for function in ways(lambda a: (nvmath.linalg.inv(a), nvmath.linalg.det(a))):
        inverse, determinant = map(host, function(a))
        np.testing.assert_allclose(inverse, np.linalg.inv(a), **near(dtype))
        np.testing.assert_allclose(determinant, np.linalg.det(a), **near(dtype))


@pytest.mark.parametrize("which", [0, 3])
def test_one_singular_matrix_of_a_stack_raises(which):
    a = stack("float64", 4, 5, 5) + 5 * np.eye(5)
    a[which, :, 1] = a[which, :, 0] = 0
    for solve in ways(lambda a, b: nvmath.linalg.solve(a, b)):
        with pytest.raises(np.linalg.LinAlgError):
            host(solve(a, np.ones((5, 1))))
    p = positive("float64", 4, 5, 5)
    p[which, 0, 0] = -1
    for cholesky in ways(lambda a: nvmath.linalg.cholesky(a)):
        with pytest.raises(np.linalg.LinAlgError):
            host(cholesky(p))


def test_what_does_not_go_together_is_told():
    a = stack("float64", 4, 5, 5)
    solve = nvmath.jit(lambda a, b: nvmath.linalg.solve(a, b))
    for b, told in (
        ((4, 6, 1), "5 columns don't meet 6 rows"),
        ((3, 5, 1), "their stacks don't go together"),
    ):
        with pytest.raises(ValueError, match=told):
            solve(a, np.ones(b))
        with pytest.raises(ValueError):
            host(nvmath.linalg.solve(a, np.ones(b)))


def test_empty_stacks():
    for solve in ways(lambda a, b: nvmath.linalg.solve(a, b)):
        assert host(solve(np.empty((0, 3, 3)), np.empty((0, 3, 2)))).shape == (0, 3, 2)
        assert host(solve(np.empty((2, 0, 0)), np.empty((2, 0, 1)))).shape == (2, 0, 1)


@pytest.mark.parametrize("n", [4, 40])
def test_stacks_of_positive_systems_may_be_tuned(n):
    """There is nothing to choose for a stack: the same numbers as without."""
    a, b = positive("float64", 6, n, n), stack("float64", 6, n, 2)
    nvmath.optimization.forget()
    with nvmath.optimization.auto_tune(budget=30):
        for _ in range(2):
            np.testing.assert_allclose(
                host(nvmath.linalg.solve(a, b)), np.linalg.solve(a, b), rtol=1e-9, atol=1e-11
            )
        assert not [row for row in nvmath.optimization.report().rows if row.what == "solve"]
