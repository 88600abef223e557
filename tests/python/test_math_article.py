"""The article's three programs of nvmath as it has them (lengths aside), against NumPy."""

import sys
import warnings

import numpy as np
import pytest
import xcuda
from xcuda import numeric as xnp


@pytest.fixture(scope="module")
def nvmath():
    xcuda.install_names()
    import nvmath

    yield nvmath
    xcuda._names.uninstall()
    for name in [n for n in sys.modules if n.partition(".")[0] == "nvmath"]:
        del sys.modules[name]


@pytest.fixture
def complex_math_pipeline(nvmath):
    @nvmath.jit
    def complex_math_pipeline(x, y, z):
        result = nvmath.sin(x) * nvmath.cos(y) + nvmath.exp(-(z**2))
        return nvmath.sqrt(result + nvmath.log(x + 1))

    return complex_math_pipeline


def expected(x, y, z):
    return np.sqrt(np.sin(x) * np.cos(y) + np.exp(-(z**2)) + np.log(x + 1))


def test_the_pipeline_is_one_kernel(complex_math_pipeline):
    x = np.linspace(1, 4, 1000)
    given = x, x * 2, x * 3
    np.testing.assert_allclose(complex_math_pipeline(*given), expected(*given), rtol=1e-12)
    told = complex_math_pipeline.explain(*given)
    assert [k.kind for k in told.kernels] == ["kernel"]
    assert told.kernels[0].operations == 11 and told.unfused_kernels == 11
    assert (told.kernels[0].bytes_read, told.kernels[0].bytes_written) == (3 * 8000, 8000)
    assert str(told).startswith("complex_math_pipeline: 1 kernel for 11 operations as written, 32 kB moved")


def test_the_report_counts_one_kernel_at_the_users_line(complex_math_pipeline):
    from xcuda import profiler

    x = np.linspace(1, 4, 1000)
    complex_math_pipeline(x, x, x)

    @profiler.profile
    def step():
        complex_math_pipeline(x, x, x)

    step()
    (row,) = profiler.generate_report().kernels
    assert row["calls"] == 1
    assert row["place"]["file"].endswith("test_math_article.py")


def test_unified_compute(nvmath, complex_math_pipeline):
    def unified_compute():
        cpu_array = np.array([1.0, 2.0, 3.0, 4.0])
        gpu_result = nvmath.batch_process(
            [
                lambda x: complex_math_pipeline(x, x * 2, x * 3),
                lambda x: nvmath.fft.fft(x),
                lambda x: nvmath.linalg.svd(x.reshape(-1, 1)),
            ],
            cpu_array,
        )
        return gpu_result

    x = np.array([1.0, 2.0, 3.0, 4.0])
    pipeline, spectrum, (u, s, vh) = unified_compute()
    assert all(type(a) is np.ndarray for a in (pipeline, spectrum, u, s, vh))
    np.testing.assert_allclose(pipeline, expected(x, 2 * x, 3 * x), rtol=1e-14)
    np.testing.assert_allclose(spectrum, np.fft.fft(x), rtol=1e-14)
    np.testing.assert_allclose(s, np.linalg.svd(x.reshape(-1, 1))[1], rtol=1e-14)
    np.testing.assert_allclose(u[:, :1] * s @ vh, x.reshape(-1, 1), rtol=1e-13)


SIDE, COLUMNS = 60, 7


@pytest.fixture
def optimized_linear_algebra(nvmath):
    def optimized_linear_algebra():
        A = nvmath.random.normal(0, 1, (SIDE, SIDE))
        B = nvmath.random.normal(0, 1, (SIDE, SIDE))

        with nvmath.optimization.auto_tune():
            result = nvmath.linalg.solve(
                A @ A.T + nvmath.eye(SIDE) * 0.01, B @ nvmath.random.normal(0, 1, (SIDE, COLUMNS))
            )
        return result

    return optimized_linear_algebra


def test_optimized_linear_algebra_as_written(nvmath, optimized_linear_algebra):
    nvmath.optimization.forget()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", xnp.FallbackWarning)
        result = optimized_linear_algebra()
    assert isinstance(result, xnp.ndarray) and result.shape == (SIDE, COLUMNS)
    (solved,) = [r for r in nvmath.optimization.report().rows if r.what == "solve"]
    assert solved.key[0] == "symmetric" and set(solved.seconds) == {"LU", "Cholesky"}


def test_its_structure_is_found(nvmath, optimized_linear_algebra):
    f = nvmath.jit(optimized_linear_algebra)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", xnp.FallbackWarning)
        told = f.explain()
        result = f().get()
    rules = [finding.rule for finding in told.findings]
    assert rules == ["symmetric product", "diagonal added", "symmetric positive definite system"]
    text = str(told)
    assert "symmetric product: A @ A.T -> syrk" in text and "Cholesky" in text
    assert "eye" not in told.program
    assert result.shape == (SIDE, COLUMNS) and np.isfinite(result).all()


def test_its_numbers_are_numpys(nvmath):
    """The same algebra on given matrices."""
    rng = np.random.default_rng(1)
    A, B, C = rng.normal(size=(SIDE, SIDE)), rng.normal(size=(SIDE, SIDE)), rng.normal(size=(SIDE, COLUMNS))
    f = nvmath.jit(lambda A, B, C: nvmath.linalg.solve(A @ A.T + nvmath.eye(SIDE) * 0.01, B @ C))
    matrix, right = A @ A.T + np.eye(SIDE) * 0.01, B @ C
    x = f(A, B, C)
    theirs = np.linalg.norm(matrix @ np.linalg.solve(matrix, right) - right)
    assert np.linalg.norm(matrix @ x - right) <= 10 * theirs


def test_the_alias_is_the_very_module(nvmath):
    import xcuda.math

    assert nvmath is xcuda.math
    import importlib

    assert importlib.import_module("nvmath.optimization") is importlib.import_module(
        "xcuda.math.optimization"
    )
    assert sys.modules["nvmath.optimization"]._tuning is sys.modules["xcuda.math.optimization._tuning"]
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("nvmath.nothing")
    import math

    assert math.__name__ == "math" and not hasattr(math, "jit")
