"""Algorithms in tiles against NumPy: products of every kind and shape, convolution, prefix sums, top-k, norms."""

import numpy as np
import pytest
from tile_kernels import close, plans, tile_kernel
from xcuda import tiles

RANDOM = np.random.default_rng(41)
both_plans = pytest.mark.parametrize("plan", plans())


def ceil_div(a, b):
    return -(-a // b)


def plain(A, B, C):
    tiles.store(C, tiles.compute(tiles.load_shared(A) @ tiles.load_shared(B)))


def first_turned(A, B, C):
    tiles.store(C, tiles.compute(tiles.load_shared(A).T @ tiles.load_shared(B)))


def second_turned(A, B, C):
    tiles.store(C, tiles.compute(tiles.load_shared(A) @ tiles.load_shared(B).T))


def both_turned(A, B, C):
    tiles.store(C, tiles.compute(tiles.load_shared(A).T @ tiles.load_shared(B).T))


SQUARES = [(n, n, n) for n in (1, 7, 16, 17, 100)]
RAGGED = [(1, 33, 60), (60, 33, 1), (1, 50, 1), (40, 1, 30), (0, 5, 3), (5, 0, 3), (5, 3, 0)]
# The tolerance is of the largest number, of numbers around 1 summed over up to 100.
TOLERANCES = {"float16": 2e-6, "float32": 2e-6, "float64": 1e-14, "int8": 0, "int64": 0}


@pytest.mark.parametrize("kernel", [plain, first_turned, second_turned, both_turned])
@pytest.mark.parametrize("dtype", TOLERANCES)
def test_products_of_every_shape(kernel, dtype):
    into = {"float16": "f4", "int8": "i4"}.get(dtype, dtype)
    made = tile_kernel(kernel, tile_size=(16, 16))
    for m, k, n in SQUARES + RAGGED:
        A, B = (RANDOM.uniform(-9, 9, s).astype(dtype) for s in ((m, k), (k, n)))
        C = np.full((m, n), 77, into)
        a = A.T.copy() if kernel in (first_turned, both_turned) else A
        b = B.T.copy() if kernel in (second_turned, both_turned) else B
        made(a, b, C)
        close(C, A.astype("d") @ B.astype("d"), TOLERANCES[dtype])


def test_bfloat16_is_summed_in_float32():
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    A, B = (
        RANDOM.standard_normal((17, 100)).astype(bfloat16),
        RANDOM.standard_normal((100, 33)).astype(bfloat16),
    )
    C = np.zeros((17, 33), "f")
    tile_kernel(plain, tile_size=(16, 16))(A, B, C)
    close(C, A.astype("d") @ B.astype("d"), 2e-6)


@both_plans
def test_split_k(plan):
    """Programs share the inner dimension; their parts meet by atomics."""

    @tile_kernel(plan=plan)
    def split(A, B, C, parts, t: tiles.Constant[int], tk: tiles.Constant[int]):
        i, j, part = tiles.bid(0), tiles.bid(1), tiles.bid(2)
        acc = tiles.zeros((t, t))
        for k in range(part, tiles.num_tiles(A, 1, (t, tk)), parts):
            acc = tiles.mma(tiles.load(A, (i, k), (t, tk)), tiles.load(B, (k, j), (tk, t)), acc)
        rows, columns = i * t + tiles.arange(t)[:, None], j * t + tiles.arange(t)[None, :]
        tiles.atomic_add(C, (rows, columns), acc)

    A, B = (
        RANDOM.standard_normal((20, 500)).astype(np.float16),
        RANDOM.standard_normal((500, 30)).astype(np.float16),
    )
    C = np.zeros((20, 30), "f")
    tiles.launch(None, (2, 2, 4), split, (A, B, C, 4, 16, 32))
    close(C, A.astype("d") @ B.astype("d"), 1e-5)


@both_plans
@pytest.mark.parametrize(("stride", "pad"), [(1, 1), (2, 0)])
def test_convolution_as_a_product(plan, stride, pad):
    """Rows of the product are places of the result, its inner dimension the taps of the filter."""

    @tile_kernel(plan=plan)
    def convolved(
        X, W, Y, stride, pad, tm: tiles.Constant[int], tn: tiles.Constant[int], tk: tiles.Constant[int]
    ):
        channels, high, wide = X.shape[1], W.shape[2], W.shape[3]
        inner, places = channels * high * wide, Y.shape[2] * Y.shape[3]
        at, out = tiles.bid(0) * tm + tiles.arange(tm), tiles.bid(1) * tn + tiles.arange(tn)
        image, place = at // places, at % places
        row, column = place // Y.shape[3] * stride - pad, place % Y.shape[3] * stride - pad
        acc = tiles.zeros((tm, tn))
        for k in range(tiles.cdiv(inner, tk)):
            tap = k * tk + tiles.arange(tk)
            c, dy, dx = tap // (high * wide), tap // wide % high, tap % wide
            y, x = row[:, None] + dy[None, :], column[:, None] + dx[None, :]
            inside = (y >= 0) & (x >= 0) & (y < X.shape[2]) & (x < X.shape[3]) & (tap < inner)[None, :]
            a = tiles.gather(X, (image[:, None], c[None, :], y, x), mask=inside)
            w = tiles.gather(
                W, (out[None, :], c[:, None], dy[:, None], dx[:, None]), mask=(tap < inner)[:, None]
            )
            acc = tiles.mma(a, w, acc)
        target = (image[:, None], out[None, :], (place // Y.shape[3])[:, None], (place % Y.shape[3])[:, None])
        tiles.scatter(Y, target, acc)

    X, W = RANDOM.standard_normal((2, 3, 9, 8)).astype("f"), RANDOM.standard_normal((5, 3, 3, 3)).astype("f")
    padded = np.pad(X, ((0, 0), (0, 0), (pad, pad), (pad, pad))).astype("d")
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))[:, :, ::stride, ::stride]
    wanted = np.einsum("nchwyx,ocyx->nohw", windows, W)
    Y = np.zeros(wanted.shape, "f")
    places = wanted.shape[0] * wanted.shape[2] * wanted.shape[3]
    tiles.launch(None, (ceil_div(places, 32), ceil_div(5, 8)), convolved, (X, W, Y, stride, pad, 32, 8, 16))
    close(Y, wanted, 1e-5)


@both_plans
def test_prefix_sums_over_many_programs(plan):
    @tile_kernel(plan=plan)
    def within(X, Y, totals, n: tiles.Constant[int]):
        i = tiles.bid(0)
        sums = tiles.cumsum(tiles.load(X, (i,), (n,)))
        tiles.store(Y, (i,), sums)
        tiles.store(totals, (i,), tiles.max(tiles.where(tiles.arange(n) == n - 1, sums, -(2**62))))

    @tile_kernel(plan=plan)
    def across(Y, totals, n: tiles.Constant[int], most: tiles.Constant[int]):
        i = tiles.bid(0)
        before = tiles.sum(tiles.where(tiles.arange(most) < i, tiles.load(totals, (0,), (most,)), 0))
        tiles.store(Y, (i,), tiles.load(Y, (i,), (n,)) + before)

    X = RANDOM.integers(-100, 100, 1000)
    Y, totals = np.zeros_like(X), np.zeros(16, np.int64)
    within(X, Y, totals, 64)
    across(Y, totals, 64, 16)
    assert np.array_equal(Y, X.cumsum())


@both_plans
def test_top_k(plan):
    @tile_kernel(plan=plan)
    def top(X, values, places, k, n: tiles.Constant[int]):
        i = tiles.bid(0)
        x = tiles.load(X, (i, 0), (1, n), padding=-np.inf)
        for j in range(k):
            at = tiles.argmax(x, axis=1, keepdims=True)
            tiles.store(values, (i, j), tiles.max(x, axis=1, keepdims=True))
            tiles.store(places, (i, j), at)
            x = tiles.where(tiles.arange(n)[None, :] == at, -np.inf, x)

    X = RANDOM.integers(0, 50, (6, 100)).astype("f")  # of equal ones the first
    values, places = np.zeros((6, 5), "f"), np.zeros((6, 5), np.int64)
    tiles.launch(None, 6, top, (X, values, places, 5, 128))
    wanted = np.argsort(-X, axis=1, kind="stable")[:, :5]
    assert np.array_equal(places, wanted)
    assert np.array_equal(values, np.take_along_axis(X, wanted, 1))


@both_plans
def test_a_histogram_of_each_program_first(plan):
    """Each program counts in a tile of its own, and adds that once."""

    @tile_kernel(plan=plan)
    def histogram(X, H, n: tiles.Constant[int], bins: tiles.Constant[int]):
        x = tiles.load(X, (tiles.bid(0),), (n,), padding=-1)
        counts = tiles.sum((x[:, None] == tiles.arange(bins)[None, :]).astype(tiles.int32), axis=0)
        tiles.atomic_add(H, tiles.arange(bins), counts.astype(H.dtype))

    X, H = RANDOM.integers(0, 16, 1000).astype(np.int32), np.zeros(16, np.int32)
    tiles.launch(None, ceil_div(1000, 64), histogram, (X, H, 64, 16))
    assert np.array_equal(H, np.bincount(X, minlength=16))


def rms_norm(X, W, Y, n: tiles.Constant[int]):
    i = tiles.bid(0)
    x = tiles.load(X, (i, 0), (1, n))
    tiles.store(Y, (i, 0), x / tiles.sqrt(tiles.sum(x * x) / X.shape[1] + 1e-6) * tiles.load(W, (0,), (n,)))


def gated(X, W, Y, n: tiles.Constant[int]):
    """SwiGLU's gate: W is a row that is passed through the sigmoid."""
    x, w = tiles.load(X, (tiles.bid(0), 0), (1, n)), tiles.load(W, (0,), (n,))
    tiles.store(Y, (tiles.bid(0), 0), x * (w / (1 + tiles.exp(-w))))


def rotated(X, W, Y, n: tiles.Constant[int]):
    """Rotary positions: halves of a row turned by angles W."""
    i = tiles.bid(0)
    a, b = tiles.load(X, (i, 0), (1, n // 2)), tiles.load(X, (i, 1), (1, n // 2))
    angle = tiles.load(W, (0,), (n // 2,)) * i
    tiles.store(Y, (i, 0), a * tiles.cos(angle) - b * tiles.sin(angle))
    tiles.store(Y, (i, 1), b * tiles.cos(angle) + a * tiles.sin(angle))


def gelu(X, W, Y, n: tiles.Constant[int]):
    x = tiles.load(X, (tiles.bid(0), 0), (1, n)) + tiles.load(W, (0,), (n,))
    tiles.store(Y, (tiles.bid(0), 0), 0.5 * x * (1 + tiles.tanh(0.7978845608 * (x + 0.044715 * x**3))))


def in_numpy(kernel, X, W):
    if kernel is rms_norm:
        return X / np.sqrt((X * X).mean(1, keepdims=True) + 1e-6) * W
    if kernel is gated:
        return X * (W / (1 + np.exp(-W)))
    if kernel is gelu:
        x = X + W
        return 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x**3)))
    half = X.shape[1] // 2
    a, b = X[:, :half], X[:, half:]
    angle = W[:half] * np.arange(len(X))[:, None]
    return np.concatenate((a * np.cos(angle) - b * np.sin(angle), b * np.cos(angle) + a * np.sin(angle)), 1)


@both_plans
@pytest.mark.parametrize("kernel", [rms_norm, gated, rotated, gelu])
def test_rows(plan, kernel):
    X, W = RANDOM.standard_normal((5, 64)), RANDOM.standard_normal(64)
    Y = np.zeros_like(X)
    tiles.launch(None, 5, tile_kernel(kernel, plan=plan), (X, W, Y, 64))
    close(Y, in_numpy(kernel, X, W), 1e-13)
