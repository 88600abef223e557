"""Expressions with the kernels and bytes that they take, from the graph: no timer; and their values against NumPy."""

import numpy as np
import pytest
import xcuda.math as nvmath
from xcuda import _runtime, numeric

RNG = np.random.default_rng(0)
M, N = 24, 40
A = RNG.normal(size=(M, N))
B = RNG.normal(size=(M, N))
P = np.abs(A) + 0.1
ROW, COLUMN = RNG.normal(size=N), RNG.normal(size=(M, 1))
V = RNG.uniform(0.1, 2, size=60)
W = RNG.normal(size=(N, 16))
BIAS = RNG.normal(size=16)
C = A + 1j * B
I = RNG.integers(-9, 9, size=(M, N))
F = V.astype("float32")

FULL, LINE, EDGE = 8 * M * N, 8 * N, 8 * M  # bytes of A, of a row, of a column
VEC = 8 * V.size


def silu(np, x):
    return x / (1 + np.exp(-x))


def softmax(np, x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def layer_norm(np, x, scale, shift):
    away = x - x.mean(axis=-1, keepdims=True)
    return away / np.sqrt((away * away).mean(axis=-1, keepdims=True) + 1e-5) * scale + shift


def rms_norm(np, x, scale):
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-6) * scale


def gelu(np, x):
    return 0.5 * x * (1 + np.tanh(0.7978845608028654 * (x + 0.044715 * x**3)))


def adam(np, p, g, m, v):
    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + 0.001 * g * g
    return p - 1e-3 * m / (np.sqrt(v) + 1e-8), m, v


def rotary(np, x, angle):
    half = x.shape[-1] // 2
    a, b = x[:, :half], x[:, half:]
    return np.concatenate(
        [a * np.cos(angle) - b * np.sin(angle), a * np.sin(angle) + b * np.cos(angle)], axis=-1
    )


def log_softmax(np, x):
    away = x - x.max(axis=-1, keepdims=True)
    return away - np.log(np.exp(away).sum(axis=-1, keepdims=True))


def standardised(np, x):
    return (x - x.mean(axis=-1, keepdims=True)) / x.std(axis=-1, keepdims=True)


def losses(np, x, target):
    top = x.max(axis=-1, keepdims=True)
    return np.log(np.exp(x - top).sum(axis=-1)) + top[:, 0] - (x * target).sum(axis=-1)


def cross_entropy(np, x, target):
    return losses(np, x, target).mean()


# name: (function, arguments, fused kernels, library calls, bytes that the kernels and calls move)
TABLE = {
    "x + 1": (lambda np, x: x + 1, (A,), 1, 0, 2 * FULL),
    "2 x + y": (lambda np, x, y: 2 * x + y, (A, B), 1, 0, 3 * FULL),
    "the article's": (
        lambda np, x, y, z: np.sqrt(np.sin(x) * np.cos(y) + np.exp(-(z**2)) + np.log(x + 1)),
        (P, B, A),
        1,
        0,
        4 * FULL,
    ),
    "polynomial": (lambda np, x: ((2 * x + 3) * x - 5) * x + 7, (A,), 1, 0, 2 * FULL),
    "integer powers": (lambda np, x: x**2 + x**3 - x**-1, (P,), 1, 0, 2 * FULL),
    "where": (lambda np, x: np.where(x > 0, x, 0.01 * x), (A,), 1, 0, 2 * FULL),
    "clip": (lambda np, x: np.clip(x, -1, 1) * 2, (A,), 1, 0, 2 * FULL),
    "maximum": (lambda np, x, y: np.maximum(x, y) - np.minimum(x, y), (A, B), 1, 0, 3 * FULL),
    "comparisons": (lambda np, x: (x > 0) & (x < 1) | (x == 2), (A,), 1, 0, FULL + M * N),
    "casts": (lambda np, x: (x.astype("float32") * 2).astype("int32"), (A,), 1, 0, FULL + 4 * M * N),
    "integers": (lambda np, i: (i // 3) * 3 + i % 3, (I,), 1, 0, 2 * FULL),
    "bits": (lambda np, i: (i & 7) ^ (i << 2) | ~i, (I,), 1, 0, 2 * FULL),
    "complex": (lambda np, z: z * np.conj(z) + np.exp(z), (C,), 1, 0, 4 * FULL),
    "abs of complex": (lambda np, z: np.abs(z) + z.real, (C,), 1, 0, 4 * FULL),  # z, and its real parts apart
    "float32 stays": (lambda np, x: 2.0 * x + 1, (F,), 1, 0, VEC),
    "a row along": (lambda np, x, r: x * r + r, (A, ROW), 1, 0, 2 * FULL + LINE),
    "a column along": (lambda np, x, c: x * c + 1, (A, COLUMN), 1, 0, 2 * FULL + EDGE),
    "outer": (lambda np, r, c: r * c + 1, (ROW, COLUMN), 1, 0, FULL + LINE + EDGE),
    "three shapes": (lambda np, x, r, c: x + r + c, (A, ROW, COLUMN), 1, 0, 2 * FULL + LINE + EDGE),
    "transposed": (lambda np, x, y: x.T + y.T, (A, B), 1, 0, 3 * FULL),
    "slices": (lambda np, x: x[:, 1:] - x[:, :-1], (A,), 1, 0, 3 * 8 * M * (N - 1)),
    "strides": (lambda np, x: x[::2] + x[1::2], (A,), 1, 0, FULL + FULL // 2),
    "reversed": (lambda np, x: x[::-1] * 2, (A,), 1, 0, 2 * FULL),
    "reshaped": (lambda np, x: x.reshape(-1) * 2, (A,), 1, 0, 2 * FULL),
    "two results": (lambda np, x: (np.sin(x), np.cos(x)), (A,), 1, 0, 3 * FULL),
    "three results": (lambda np, x: (x + 1, x * 2, x - 3), (A,), 1, 0, 4 * FULL),
    "common part": (lambda np, x: np.exp(x) / (1 + np.exp(x)), (A,), 1, 0, 2 * FULL),
    "unused part": (lambda np, x: (np.exp(x), x + 1)[1], (A,), 1, 0, 2 * FULL),
    "loop": (lambda np, x: sum(x**k / (k + 1) for k in range(4)), (A,), 1, 0, 2 * FULL),
    "nested functions": (lambda np, x: gelu(np, silu(np, x)), (A,), 1, 0, 2 * FULL),
    "sigmoid": (lambda np, x: 1 / (1 + np.exp(-x)), (A,), 1, 0, 2 * FULL),
    "silu": (silu, (A,), 1, 0, 2 * FULL),
    "gelu": (gelu, (A,), 1, 0, 2 * FULL),
    "gelu, bias, residual": (lambda np, x, r, y: gelu(np, x + r) + y, (A, ROW, B), 1, 0, 3 * FULL + LINE),
    "swiglu": (lambda np, x, y: silu(np, x) * y, (A, B), 1, 0, 3 * FULL),
    "distance": (lambda np, x, y: np.sqrt(x**2 + y**2), (A, B), 1, 0, 3 * FULL),
    "angles": (lambda np, x, y: np.arctan2(x, y) * 180 / np.pi, (A, B), 1, 0, 3 * FULL),
    "black-scholes": (
        lambda np, s, k: 0.5 * (1 + np.tanh((np.log(s / k) + 0.5) / np.sqrt(2.0))) * s,
        (P, P[::-1]),
        1,
        0,
        3 * FULL,
    ),
    "adam": (adam, (A, B, A, P), 1, 0, 3 * FULL + 3 * FULL),
    "nan_to_num": (lambda np, x: np.nan_to_num(np.log(x)), (P,), 1, 0, 2 * FULL),
    "isclose": (lambda np, x, y: np.isclose(x, y), (A, A.copy()), 1, 0, 2 * FULL + M * N),
    "eye plus": (lambda np, x: x * 2 + 3 * np.eye(24), (A[:, :M].copy(),), 1, 0, None),
    "arange": (lambda np, x: x * np.arange(40.0), (A,), 1, 0, 2 * FULL + LINE),
    "sum of squares": (lambda np, x: (x * x).sum(axis=1), (A,), 1, 0, FULL + EDGE),
    "sum of differences": (lambda np, x, y: ((x - y) ** 2).sum(axis=1), (A, B), 1, 0, 2 * FULL + EDGE),
    "whole short sum": (lambda np, x: np.sum((x - 1) ** 2), (V,), 1, 0, VEC + 8),
    "dot as a sum": (lambda np, x, y: (x * y).sum(), (V, V[::-1].copy()), 1, 0, 2 * VEC + 8),
    "weighted": (lambda np, x, r: (x * r).sum(axis=-1), (A, ROW), 1, 0, FULL + LINE + EDGE),
    "count": (lambda np, x: (x > 0).sum(axis=0), (A,), 1, 0, FULL + LINE),
    "any": (lambda np, x: (x > 3).any(axis=1), (A,), 1, 0, FULL + M),
    "largest": (lambda np, x: np.abs(x).max(axis=1), (A,), 1, 0, FULL + EDGE),
    "norm of rows": (lambda np, x: np.sqrt((x * x).sum(axis=1)), (A,), 1, 0, FULL + EDGE),
    "mean away": (lambda np, x: x - x.mean(axis=1, keepdims=True), (A,), 1, 0, 2 * FULL),
    "two folds": (lambda np, x: (x.sum(axis=1), (x * x).sum(axis=1)), (A,), 1, 0, FULL + 2 * EDGE),
    "rms norm": (rms_norm, (A, ROW), 1, 0, 2 * FULL + LINE),
    "softmax": (softmax, (A,), 1, 0, 2 * FULL),
    "softmax of columns": (lambda np, x: softmax(np, x.T), (A,), 1, 0, 2 * FULL),
    "log softmax": (log_softmax, (A,), 1, 0, 2 * FULL),
    "variance": (lambda np, x: np.var(x, axis=1), (A,), 1, 0, FULL + EDGE),
    "deviation": (lambda np, x: np.std(x, axis=1), (A,), 1, 0, FULL + EDGE),
    "standardised": (standardised, (A,), 1, 0, 2 * FULL),
    "extremes and sum": (
        lambda np, x: (x.max(axis=1), x.min(axis=1), x.sum(axis=1)),
        (A,),
        1,
        0,
        FULL + 3 * EDGE,
    ),
    "batch norm": (lambda np, x: (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0) + 1e-5), (A,), 1, 0, 2 * FULL),
    "layer norm": (layer_norm, (A, ROW, ROW), 1, 0, 2 * FULL + LINE),
    "cross entropy of rows": (losses, (A, (A > 1).astype(float)), 1, 0, 2 * FULL + EDGE),
    "cross entropy": (cross_entropy, (A, (A > 1).astype(float)), 2, 0, 2 * FULL + 2 * EDGE + 8),
    "rotary": (rotary, (A, P[:, : N // 2]), None, 0, None),
    "linear": (lambda np, x, w, b: x @ w + b, (A, W, BIAS), 1, 1, None),
    "linear, relu, residual": (
        lambda np, x, w, b, y: np.maximum(x @ w + b, 0) + y,
        (A, W, BIAS, np.ones((M, 16))),
        1,
        1,
        FULL + W.nbytes + 8 * M * 16 + 3 * 8 * M * 16 + BIAS.nbytes,
    ),
    "scaled product": (lambda np, x, w: 0.125 * (x @ w), (A, W), 1, 1, FULL + W.nbytes + 3 * 8 * M * 16),
    "product of chains": (lambda np, x, w: np.tanh(x * 2) @ np.exp(w), (A, W), 2, 1, None),
    "fft filter": (lambda np, x: np.fft.ifft(np.fft.fft(x) * 2).real, (A,), None, 2, None),
}


# A GPU makes short ranges of places once and keeps them; what is made of them is computed and not read.
ON_A_GPU = {"eye plus": (2, None), "arange": (1, 2 * FULL)}


@pytest.mark.parametrize("name", TABLE)
def test_an_expression_takes_so_many_kernels_and_bytes(name):
    function, arguments, kernels, library, moved = TABLE[name]
    if _runtime.current_device_label() != "cpu":
        kernels, moved = ON_A_GPU.get(name, (kernels, moved))
    f = nvmath.jit(lambda *given: function(nvmath, *given))
    got, want = f(*arguments), function(np, *arguments)
    for one, other in zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]:
        assert np.asarray(one).dtype == other.dtype and np.shape(one) == np.shape(other)
        tolerance = 2e-6 if other.dtype == np.float32 else 1e-11
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)
    told = f.explain(*arguments)
    assert kernels is None or len(told.fused) == kernels, str(told)
    assert len(told.library) == library, str(told)
    assert moved is None or told.bytes == moved, str(told)
    assert told.bytes <= told.unfused_bytes or len(told.kernels) > told.unfused_kernels


def test_a_host_array_given_twice_is_copied_and_read_once():
    """On a GPU every host array is copied, on the CPU device those whose bytes are in another order."""
    swapped = A.astype(A.dtype.newbyteorder())
    f = nvmath.jit(lambda x, y: x * 2 + y)
    np.testing.assert_array_equal(f(swapped, swapped), A * 2 + A)
    assert f.explain(swapped, swapped).bytes == 2 * FULL
    assert f.explain(swapped, swapped.copy()).bytes == 3 * FULL


def test_there_are_sixty_of_them():
    assert len(TABLE) >= 60


@pytest.mark.parametrize("name", ["softmax", "layer norm", "cross entropy"])
def test_normalisations_are_fewer_kernels_than_operations(name):
    function, arguments, *_ = TABLE[name]
    told = nvmath.jit(lambda *given: function(nvmath, *given)).explain(*arguments)
    assert len(told.fused) < told.unfused_kernels
    assert told.bytes < told.unfused_bytes


def test_explain_shows_itself_in_a_notebook():
    f = nvmath.jit(lambda x: nvmath.exp(x) @ x.T @ nvmath.ones(24))
    told = f.explain(A)
    page = told._repr_html_()
    assert "<script" not in page and page.count("data:image/svg+xml;base64,") == 1
    picture = told.svg()
    assert picture.startswith("<svg") and "as written" in picture and "as run" in picture
    assert "exp(a)" in picture and "reads" in picture
    import xml.etree.ElementTree as tree

    tree.fromstring(picture)


def test_explain_lists_the_graph_before_and_after():
    f = nvmath.jit(lambda x, w: nvmath.trace(x @ w) + 1)
    text = str(f.explain(A, W @ np.ones((16, M))))
    assert "as written:" in text and "as run:" in text
    assert "x @ w  : float64 (24, 24)" in text
    assert "trace_of_product(x, w)  : float64 ()" in text


def test_kernels_and_calls_are_told_in_the_order_they_run(monkeypatch):
    monkeypatch.setattr(numeric.config, "host_elements", 0)  # the diagonal is short
    f = nvmath.jit(lambda x, w: nvmath.tanh(nvmath.exp(x) @ w) + 1)
    assert [k.kind for k in f.explain(A, W).kernels] == ["kernel", "library", "kernel"]
    told = nvmath.explain(lambda x: (x @ x.T + 2 * nvmath.eye(24)) @ nvmath.ones(24), A)
    assert [k.text for k in told.kernels][0] == "symmetric product (syrk) of x"
    assert [k.kind for k in told.kernels][:2] == ["library", "kernel"]  # the diagonal's
