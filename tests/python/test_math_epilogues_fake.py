"""Products with what follows them, by cuBLASLt: over the fake driver, whose cuBLASLt computes on the host."""

import importlib.util

import numpy as np
import pytest
from fake_cuda import driver, library, on_fake

M, K, N = 6, 5, 8
ANOTHER = importlib.util.find_spec("_ctypes").origin  # a library without any of the functions


def given(*shapes):
    rng = np.random.default_rng(11)
    return [rng.integers(-4, 5, s).astype(np.float32) for s in shapes]


def jitted(function, **options):
    import xcuda.math as nvmath

    return nvmath.jit(lambda *a: function(nvmath, *a), **options)


def calls(function="cublasLtMatmul"):
    return driver.get(f"calls:{function}")


FUNCTIONS = {
    "bias": lambda np, x, w, b, r: x @ w + b,
    "scale, residual and bias": lambda np, x, w, b, r: 0.5 * (x @ w) + r + b,
    "residual alone": lambda np, x, w, b, r: x @ w + r,
    "relu": lambda np, x, w, b, r: np.maximum(x @ w, 0),
    "bias and relu": lambda np, x, w, b, r: np.maximum(x @ w + b, 0),
    "rows taken apart": lambda np, x, w, b, r: x.reshape(2, M // 2, K) @ w + b,
    "transposed": lambda np, x, w, b, r: w.T @ x.T + b[:M],
    "a part of each": lambda np, x, w, b, r: x[1:5, 1:] @ w[1:, 4:] + b[4:],
    "every other row": lambda np, x, w, b, r: x[::2] @ w + b,
    "one column": lambda np, x, w, b, r: x @ w[:, :1] + b[:1],
}


@pytest.mark.parametrize("name", FUNCTIONS)
@on_fake(XCUDA_CUBLASLT=library(), XCUDA_CUBLAS=library())
def test_results_are_numpys(name):
    function = FUNCTIONS[name]
    arguments = given((M, K), (K, N), N, (M, N))
    f = jitted(function)
    np.testing.assert_allclose(f(*arguments), function(np, *arguments), rtol=1e-6)
    assert calls() == {"relu": 2, "bias and relu": 2}.get(name, 1)  # 2: asked about nan
    searched = calls("cublasLtMatmulAlgoGetHeuristic")
    np.testing.assert_allclose(f(*arguments), function(np, *arguments), rtol=1e-6)
    assert calls("cublasLtMatmulAlgoGetHeuristic") == searched  # what was found is kept


@on_fake(XCUDA_CUBLASLT=library(), XCUDA_CUBLAS=library())
def test_gelu_within_only_where_its_approximation_is_allowed():
    def gelu(np, x, w, b):
        u = x @ w + b
        return 0.5 * u * (1 + np.tanh(0.7978845608028654 * (u + 0.044715 * u**3)))

    x, w, b = given((M, K), (K, N), N)
    np.testing.assert_allclose(
        jitted(gelu, precision="fast")(x, w, b), gelu(np, x, w, b), rtol=1e-4, atol=1e-5
    )
    assert calls() == 1
    expect_apart(jitted(gelu), x, w, b)
    assert calls() == 1


def expect_apart(f, *arguments):
    """The product by cuBLAS, which the fake has nothing of."""
    from xcuda.core import MachineError

    with pytest.raises(
        MachineError, match="cuBLAS, which multiplies matrices on a GPU.* has no cublasCreate_v2"
    ):
        f(*arguments)


@on_fake(XCUDA_CUBLASLT=library(), XCUDA_CUBLAS=library())
def test_an_activation_that_loses_nan_is_not_asked_for():
    driver.set(drops_nan=1)
    relu = lambda np, x, w, b: np.maximum(x @ w + b, 0)  # noqa: E731
    arguments = given((M, K), (K, N), N)
    expect_apart(jitted(relu), *arguments)
    assert calls() == 1  # that asked
    expect_apart(jitted(relu), *arguments)
    assert calls() == 1
    jitted(relu, precision="fast")(*arguments)
    assert calls() == 2


@on_fake(XCUDA_CUBLASLT=library(), XCUDA_CUBLAS=library())
def test_what_the_library_has_no_kernel_for_is_done_apart():
    x, w, b = given((M, K), (K, N), N)
    half = jitted(lambda np, x, w, b: x @ w + b)
    expect_apart(half, *(a.astype(np.float16) for a in (x, w, b)))
    assert (calls("cublasLtMatmulAlgoGetHeuristic"), calls()) == (1, 0)
    expect_apart(half, *(a.astype(np.float64) for a in (x, w, b)))
    expect_apart(half, x, w, np.float32([1]))  # a number for all columns
    assert (calls("cublasLtMatmulAlgoGetHeuristic"), calls()) == (1, 0)


@on_fake(XCUDA_CUBLASLT=ANOTHER, XCUDA_CUBLAS=library())
def test_without_the_library_it_is_told_and_the_product_is_cublas():
    from xcuda import _runtime
    from xcuda import core as cuda
    from xcuda._dense import products

    x, w, b = given((M, K), (K, N), N)
    expect_apart(jitted(lambda np, x, w, b: x @ w + b), x, w, b)
    told = products.epilogues_missing()
    assert "cuBLASLt, which adds biases and activations within products" in told and "cublasLtCreate" in told
    a = cuda.to_device(x)
    with pytest.raises(cuda.MachineError, match="cuBLASLt"):
        _runtime.cuda_math.product_with_epilogue(
            a, cuda.to_device(w), cuda.empty((M, N), "float32"), 1.0, None, None, 0
        )


@on_fake(XCUDA_CUBLASLT=library(), XCUDA_CUBLAS=library())
def test_errors_of_the_library_are_told():
    x, w, b = given((M, K), (K, N), N)
    f = jitted(lambda np, x, w, b: x @ w + b)
    driver.fail("cublasLtMatmul", 13)
    with pytest.raises(RuntimeError, match="multiplying matrices failed: a fake status"):
        f(x, w, b)
    np.testing.assert_array_equal(f(x, w, b), x @ w + b)


@on_fake(XCUDA_CUBLASLT=library(), XCUDA_CUBLAS=library())
def test_explain_tells_which_way_it_went():
    x, w, b = given((M, K), (K, N), N)
    told = jitted(lambda np, x, w, b: x @ w + b).explain(x, w, b)
    assert (len(told.fused), len(told.library)) == (0, 1)
    assert told.library[0].text == "(args[0] @ args[1]) + args[2]"
    assert told.bytes == x.nbytes + w.nbytes + b.nbytes + 4 * M * N


@on_fake(XCUDA_CUBLASLT=library(), XCUDA_CUBLAS=library())
def test_scratch_memory_goes_back():
    from xcuda import core as cuda

    x, w, b = given((M, K), (K, N), N)
    f = jitted(lambda np, x, w, b: x @ w + b)
    f(x, w, b)
    cuda.synchronize()
    before = cuda.Device().memory()["used"]
    for _ in range(5):
        f(x, w, b)
    cuda.synchronize()
    assert cuda.Device().memory()["used"] == before


@on_fake(XCUDA_CUBLASLT=library(), XCUDA_CUBLAS=library())
def test_deterministic_tuning_takes_the_librarys_first_algorithm():
    import xcuda.math as nvmath

    x, w, b = given((M, K), (K, N), N)
    f = jitted(lambda np, x, w, b: x @ w + b)
    with nvmath.optimization.auto_tune(deterministic=True):
        for n in (1, 2):
            np.testing.assert_array_equal(f(x, w, b), x @ w + b)
            assert calls() == n
    assert not nvmath.optimization.report().rows  # nothing was measured


@on_fake()
def test_large_functions_are_tried_with_one_element_a_thread_on_a_gpu():
    import xcuda.math as nvmath

    f = jitted(lambda np, x, y: np.sqrt(x) + y)
    x = np.linspace(1, 2, 400 * 400).astype("float32").reshape(400, 400)
    with nvmath.optimization.auto_tune(budget=60):
        f(x, x)
    (row,) = (r for r in nvmath.optimization.report().rows if "lambda" in r.what)
    assert "one element a thread" in set(row.seconds) | set(row.why_not)
