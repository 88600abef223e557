"""What follows a product (scale, bias, residual, activation): within cuBLASLt's kernel on a GPU, else one kernel more."""

import numpy as np
import pytest
import xcuda.math as nvmath
from xcuda import _runtime, numeric

RNG = np.random.default_rng(3)
GPU = numeric.zeros(1)._device_label.startswith("cuda")
LT = next((row for row in _runtime.math_libraries() if row["name"] == "cuBLASLt"), None)
WITHIN = GPU and LT is not None and not LT["problem"]
M, K, N = 96, 64, 128


def gelu(np, u):
    return 0.5 * u * (1 + np.tanh(0.7978845608028654 * (u + 0.044715 * u**3)))


def gelu_by_squares(np, u):
    return 0.5 * (1.0 + np.tanh(0.7978845608028654 * u * (1 + 0.044715 * u * u))) * u


# name: (function of module, x, w, bias, residual; within the product's kernel in float32, in float16 and where asked to be fast)
TABLE = {
    "bias": (lambda np, x, w, b, r: x @ w + b, True, True),
    "bias before": (lambda np, x, w, b, r: b + x @ w, True, True),
    "scale": (lambda np, x, w, b, r: 0.125 * (x @ w), True, True),
    "scale and bias": (lambda np, x, w, b, r: np.matmul(x, w) * 0.5 + b, True, True),
    "residual": (lambda np, x, w, b, r: x @ w + r, True, True),
    "bias and residual": (lambda np, x, w, b, r: (x @ w + b) + r, True, True),
    "residual and bias": (lambda np, x, w, b, r: r + x @ w + b, True, True),
    "scale, residual and bias": (lambda np, x, w, b, r: 2 * (x @ w) + r + b, True, True),
    "relu": (lambda np, x, w, b, r: np.maximum(x @ w, 0), None, True),
    "bias and relu": (lambda np, x, w, b, r: np.maximum(x @ w + b, 0), None, True),
    "relu of a sum": (lambda np, x, w, b, r: np.maximum(0.0, x @ w + b + r), None, True),
    "gelu": (lambda np, x, w, b, r: gelu(np, x @ w), False, True),
    "bias and gelu": (lambda np, x, w, b, r: gelu(np, x @ w + b), False, True),
    "bias and gelu by squares": (lambda np, x, w, b, r: gelu_by_squares(np, x @ w + b), False, True),
    "stacked": (lambda np, x, w, b, r: x.reshape(4, M // 4, K) @ w + b, True, True),
    "transposed": (lambda np, x, w, b, r: w.T @ x.T + b[:M], True, True),
}


def given(dtype):
    made = [RNG.normal(size=s).astype(dtype) for s in ((M, K), (K, N), N, (M, N))]
    made[0] /= 8
    return made


def exact(function, arguments):
    return function(np, *(a.astype(np.float64) for a in arguments))


@pytest.mark.parametrize("name", TABLE)
@pytest.mark.parametrize("way", ["float32", "float16", "fast float32"])
def test_what_follows_a_product(name, way):
    function, plain, other = TABLE[name]
    arguments = given(way.split()[-1])
    f = nvmath.jit(lambda *a: function(nvmath, *a), precision="fast" if "fast" in way else "numpy")
    got = f(*arguments)
    tolerance = {"float32": 2e-6, "float16": 4e-3, "fast float32": 2e-3}[way]
    want = exact(function, arguments)
    assert got.dtype == arguments[0].dtype and got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * 8)
    told = f.explain(*arguments)
    assert len(told.library) == 1, str(told)
    within = plain if way == "float32" else other
    if not WITHIN:
        assert len(told.fused) == 1, str(told)
    elif within is not None:
        assert len(told.fused) == (not within), str(told)


@pytest.mark.parametrize("way", ["numpy", "fast"])
def test_nan_is_not_lost(way):
    """NumPy's maximum gives nan for nan: a library whose activation does not is not asked for it."""
    x, w, b, _ = given("float32")
    x[3, 5], b[7] = np.nan, np.nan
    got = nvmath.jit(lambda x, w, b: nvmath.maximum(x @ w + b, 0), precision=way)(x, w, b)
    if way == "numpy":
        np.testing.assert_array_equal(np.isnan(got), np.isnan(x @ w + b))


# What looks alike and is no epilogue: each by one kernel after the product.
OTHERS = {
    "column": (lambda np, x, w, b, r: x @ w + r[:, :1], True),
    "bias after the activation": (lambda np, x, w, b, r: np.maximum(x @ w, 0) + b, True),
    "lazy bias": (lambda np, x, w, b, r: x @ w + (b + b), True),
    "maximum of one": (lambda np, x, w, b, r: np.maximum(x @ w + b, 1), True),
    "difference": (lambda np, x, w, b, r: r - x @ w, True),
    "another gelu": (lambda np, x, w, b, r: 0.5 * (x @ w + b) * (1 + np.tanh(0.8 * (x @ w + b))), None),
    "scale after the bias": (lambda np, x, w, b, r: 3 * (x @ w + b), True),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_looks_alike(name):
    function, one = OTHERS[name]
    arguments = given("float32")
    f = nvmath.jit(lambda *a: function(nvmath, *a))
    np.testing.assert_allclose(f(*arguments), exact(function, arguments), rtol=2e-6, atol=2e-5)
    told = f.explain(*arguments)
    assert not one or len(told.fused) == 1, str(told)


def test_a_product_that_others_read_too_is_kept():
    x, w, b, _ = given("float32")
    f = nvmath.jit(lambda x, w, b: (x @ w + b, (p := x @ w), p + b, p * 2))
    for got, want in zip(f(x, w, b), (x @ w + b, x @ w, x @ w + b, 2 * (x @ w)), strict=True):
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5)


def test_other_lengths_and_numbers_at_the_next_call():
    f = nvmath.jit(lambda x, w, b, s: s * (x @ w) + b)
    x, w, b, r = given("float32")
    for scale, bias in ((2.0, b), (0.5, b), (3.0, b[:1]), (1.5, np.float32([7]))):
        np.testing.assert_allclose(f(x, w, bias, scale), scale * (x @ w) + bias, rtol=2e-5, atol=2e-5)
    np.testing.assert_allclose(f(x[:0], w, b, 2.0), 2 * (x[:0] @ w) + b)
    np.testing.assert_allclose(f(x[:, :0], w[:0], b, 2.0), np.broadcast_to(b, (M, N)))
    assert f.captures == 2  # a bias of one element broadcasts: a capture of its own
    with pytest.raises(ValueError, match="matmul"):
        f(x[:, 1:], w, b, 2.0)


def test_matmul_plans_have_their_epilog_within():
    x, w, b, r = given("float32")
    with nvmath.linalg.Matmul(x, w, r, beta=1.0, epilog=lambda y: y + b) as plan:
        np.testing.assert_allclose(plan.execute(), x @ w + r + b, rtol=2e-5, atol=2e-5)
        told = plan.explain()
        assert len(told.library) == 1, str(told)


def test_tuned_products_agree():
    x, w, b, r = (numeric.asarray(a) for a in given("float32"))
    f = nvmath.jit(lambda x, w, b: nvmath.maximum(x @ w + b, 0))
    with nvmath.optimization.auto_tune():
        got = f(x, w, b)
    np.testing.assert_allclose(got.get(), np.maximum(x.get() @ w.get() + b.get(), 0), rtol=2e-5, atol=2e-5)
