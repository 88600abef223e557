"""The explicit level of tiles against NumPy: loads and stores at ragged edges, shapes, products, sums, control flow."""

import numpy as np
import pytest
from tile_kernels import close, plans, tile_kernel
from xcuda import core, tiles

RANDOM = np.random.default_rng(11)
PLANS = plans()
both_plans = pytest.mark.parametrize("plan", PLANS)


@both_plans
def test_ragged_edges_are_padded_and_left(plan):
    @tile_kernel(plan=plan)
    def copied(A, C, D):
        i, j = tiles.bid(0), tiles.bid(1)
        t = tiles.load(A, (i, j), (8, 16), padding=7)
        tiles.store(C, (i, j), t)
        tiles.store(D, (i, j), t * 0 + tiles.sum(t))

    for shape in ((1, 1), (8, 16), (13, 37), (30, 5)):
        A = RANDOM.integers(0, 9, shape)
        C, D = np.full(shape, -1), np.zeros((64, 64), np.int64)
        grid = (-(-shape[0] // 8), -(-shape[1] // 16))
        tiles.launch(None, grid, copied, (A, C, D))
        assert np.array_equal(C, A)
        padded = np.full((grid[0] * 8, grid[1] * 16), 7)
        padded[: shape[0], : shape[1]] = A
        sums = padded.reshape(grid[0], 8, grid[1], 16).sum((1, 3)).repeat(8, 0).repeat(16, 1)
        assert np.array_equal(D[: grid[0] * 8, : grid[1] * 16], sums)


@both_plans
def test_padding_modes(plan):
    @tile_kernel(plan=plan)
    def summed(X, out):
        for i, t in enumerate(
            (
                tiles.load(X, (0,), (8,), padding_mode=tiles.PaddingMode.NEG_INF),
                tiles.load(X, (0,), (8,), padding_mode=tiles.PaddingMode.ZERO),
                tiles.load(X, (0,), (8,), padding=np.inf),
            )
        ):
            tiles.store(out, (i, 0), tiles.max(t))
            tiles.store(out, (i, 1), tiles.min(t))

    X, out = np.array([1.0, 2.0, 3.0]), np.zeros((3, 2))
    summed[1, 1](X, out)
    assert np.array_equal(out, [[3, -np.inf], [3, 0], [np.inf, 1]])


@both_plans
def test_gather_and_scatter(plan):
    @tile_kernel(plan=plan)
    def moved(A, rows, C):
        r = tiles.load(rows, (0,), (8,), padding=-1)
        c = tiles.arange(16)
        t = tiles.gather(A, (r[:, None], c[None, :]), mask=r[:, None] >= 0, padding=-5)
        tiles.scatter(C, (tiles.arange(8)[:, None], 15 - c[None, :]), t)

    A, rows = RANDOM.random((10, 12)), np.array([3, 9, 0, 100, 3], np.int32)
    C = np.zeros((8, 16))
    moved[1, 1](A, rows, C)
    wanted = np.full((8, 16), -5.0)
    for i, r in enumerate(rows):
        if r < 10:
            wanted[i, :12] = A[r]
    assert np.array_equal(C, wanted[:, ::-1])


@both_plans
def test_making_and_reshaping(plan):
    @tile_kernel(plan=plan)
    def shapes(X, out):
        x = tiles.load(X, (0, 0), (8, 16))
        tiles.store(out, (0, 0), x.T.reshape((8, 16)))
        tiles.store(out, (1, 0), tiles.permute(x.reshape((4, 2, 16)), (1, 0, 2)).reshape((8, 16)))
        tiles.store(out, (2, 0), tiles.cat((x.extract((0, 1), (8, 8)), tiles.ones((8, 8), x.dtype)), 1))
        tiles.store(out, (3, 0), tiles.eye((8, 16), tiles.float64) + tiles.arange(16)[None, :])
        tiles.store(out, (4, 0), tiles.broadcast_to(tiles.expand_dims(tiles.sum(x, axis=1), 1), (8, 16)))
        x = tiles.sum(x, axis=0)
        tiles.store(out, (5, 0), tiles.full((8, 16), 2.5, tiles.float64) * x)

    X, out = RANDOM.random((8, 16)), np.zeros((48, 16))
    shapes[1, 1](X, out)
    wanted = [
        X.T.reshape(8, 16),
        X.reshape(4, 2, 16).transpose(1, 0, 2).reshape(8, 16),
        np.concatenate((X[:, 8:], np.ones((8, 8))), 1),
        np.eye(8, 16) + np.arange(16),
        np.broadcast_to(X.sum(1, keepdims=True), (8, 16)),
        np.full((8, 16), 2.5) * X.sum(0),
    ]
    close(out, np.concatenate(wanted), 1e-15)


REDUCTIONS = ["sum", "prod", "max", "min", "argmax", "argmin", "mean"]


@both_plans
@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "int64"])
def test_reductions_along_each_axis(plan, dtype):
    @tile_kernel(plan=plan)
    def reduced(X, rows, columns, whole, k: tiles.Constant[int]):
        x = tiles.load(X, (0, 0), (16, 64))
        if k == 0:
            a, b, c = tiles.sum(x, axis=1), tiles.sum(x, axis=0), tiles.sum(x)
        elif k == 1:
            a, b, c = tiles.prod(x, axis=1), tiles.prod(x, axis=0), tiles.prod(x)
        elif k == 2:
            a, b, c = tiles.max(x, axis=1), tiles.max(x, axis=0), tiles.max(x)
        elif k == 3:
            a, b, c = tiles.min(x, axis=1), tiles.min(x, axis=0), tiles.min(x)
        elif k == 4:
            a, b, c = tiles.argmax(x, axis=1), tiles.argmax(x, axis=0), tiles.argmax(x)
        elif k == 5:
            a, b, c = tiles.argmin(x, axis=1), tiles.argmin(x, axis=0), tiles.argmin(x)
        else:
            a, b, c = tiles.mean(x, axis=1), tiles.mean(x, axis=-2), x.mean()
        tiles.store(rows, (0,), a)
        tiles.store(columns, (0,), b)
        tiles.store(whole, (0,), c)

    X = (RANDOM.integers(0, 3, (16, 64)) if dtype[0] == "i" else RANDOM.uniform(0.9, 1.1, (16, 64))).astype(
        dtype
    )
    X[3, 5] = 5  # of several equal ones the first
    for k, name in enumerate(REDUCTIONS):
        wanted = [getattr(np, name)(X, axis) for axis in (1, 0, None)]
        found = [np.zeros(s, np.asarray(w).dtype) for s, w in zip((16, 64, 1), wanted, strict=True)]
        reduced[1, 1](X, *found, k)
        for f, w in zip(found, wanted, strict=True):
            exact = "arg" in name or dtype[0] == "i"
            close(
                f,
                np.asarray(w, np.float64).reshape(f.shape),
                0 if exact else 1e-2 if dtype == "float16" else 1e-5,
            )


@both_plans
def test_a_nan_is_the_greatest_and_the_least(plan):
    @tile_kernel(plan=plan)
    def ends(X, out):
        x = tiles.load(X, (0, 0), (4, 8))
        tiles.store(out, (0, 0), tiles.max(x, axis=1, keepdims=True))
        tiles.store(out, (0, 1), tiles.min(x, axis=1, keepdims=True))
        tiles.store(out, (0, 2), tiles.argmax(x, axis=1, keepdims=True).astype(tiles.float64))

    X, out = RANDOM.random((4, 8)), np.zeros((4, 3))
    X[2, 3] = X[2, 6] = np.nan
    ends[1, 1](X, out)
    assert np.array_equal(out, np.stack([X.max(1), X.min(1), X.argmax(1)], 1), equal_nan=True)


@both_plans
@pytest.mark.parametrize("shape", [(1, 256), (8, 32), (64, 2), (1, 1)], ids=str)
def test_scans(plan, shape):
    @tile_kernel(plan=plan)
    def scanned(X, A, B, C, m: tiles.Constant[int], n: tiles.Constant[int]):
        x = tiles.load(X, (0, 0), (m, n))
        tiles.store(A, (0, 0), tiles.cumsum(x, axis=1))
        tiles.store(B, (0, 0), tiles.cumsum(x, axis=0, reverse=True))
        tiles.store(C, (0, 0), tiles.cumprod(x, axis=1))

    X = RANDOM.uniform(0.9, 1.1, shape)
    A, B, C = (np.zeros(shape) for _ in range(3))
    scanned[1, 1](X, A, B, C, *shape)
    close(A, X.cumsum(1), 1e-13)
    close(B, X[::-1].cumsum(0)[::-1], 1e-13)
    close(C, X.cumprod(1), 1e-12)


@both_plans
@pytest.mark.parametrize("dtype", ["float16", "float32", "int8"])
def test_a_product_written_out(plan, dtype):
    @tile_kernel(plan=plan)
    def product(A, B, C, tm: tiles.Constant[int], tn: tiles.Constant[int], tk: tiles.Constant[int]):
        i, j = tiles.bid(0), tiles.bid(1)
        acc = tiles.zeros((tm, tn), C.dtype)
        for k in range(tiles.num_tiles(A, 1, (tm, tk))):
            a = tiles.load(A, (i, k), (tm, tk))
            b = tiles.load(B, (k, j), (tk, tn))
            acc = tiles.mma(a, b, acc)
        tiles.store(C, (i, j), acc)

    A, B = (RANDOM.integers(-9, 9, s).astype(dtype) for s in ((50, 33), (33, 70)))
    for tm, tn, tk in ((32, 32, 16), (16, 8, 16), (64, 16, 8), (1, 16, 4), (16, 1, 1), (2, 2, 64)):
        C = np.zeros((50, 70), np.int32 if dtype == "int8" else np.float32)
        product(A, B, C, tm, tn, tk)
        assert np.array_equal(C, A.astype(int) @ B.astype(int)), (tm, tn, tk)


@both_plans
def test_softmax_and_layer_norm_of_rows(plan):
    @tile_kernel(plan=plan)
    def softmax(X, Y, n: tiles.Constant[int]):
        i = tiles.bid(0)
        x = tiles.load(X, (i, 0), (1, n), padding=-np.inf)
        e = tiles.exp(x - tiles.max(x))
        tiles.store(Y, (i, 0), e / tiles.sum(e))

    @tile_kernel(plan=plan)
    def layer_norm(X, weight, bias, Y, eps, n: tiles.Constant[int]):
        i = tiles.bid(0)
        x = tiles.load(X, (i, 0), (1, n))
        inside = tiles.arange(n)[None, :] < X.shape[1]
        mean = tiles.sum(x) / X.shape[1]
        x = tiles.where(inside, x - mean, 0)
        scale = 1 / tiles.sqrt(tiles.sum(x * x) / X.shape[1] + eps)
        w, b = tiles.load(weight, (0,), (n,)), tiles.load(bias, (0,), (n,))
        tiles.store(Y, (i, 0), x * scale * w + b)

    X = RANDOM.standard_normal((9, 100))
    w, b, Y = RANDOM.random(100), RANDOM.random(100), np.zeros_like(X)
    softmax(X, Y, 128)
    e = np.exp(X - X.max(1, keepdims=True))
    close(Y, e / e.sum(1, keepdims=True), 1e-14)
    layer_norm(X, w, b, Y, 1e-5, 128)
    wanted = (X - X.mean(1, keepdims=True)) / np.sqrt(X.var(1, keepdims=True) + 1e-5) * w + b
    close(Y, wanted, 1e-13)


@both_plans
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_attention(plan, causal, dtype):
    @tile_kernel(plan=plan)
    def attention(Q, K, V, out, scale, d: tiles.Constant[int], causal: tiles.Constant[bool]):
        i = tiles.bid(0)
        q = tiles.load(Q, (i, 0), (32, d))
        top = tiles.full((32, 1), -np.inf, tiles.float32)
        total = tiles.zeros((32, 1))
        acc = tiles.zeros((32, d))
        for j in range(tiles.num_tiles(K, 0, (16, d))):
            k, v = tiles.load(K, (j, 0), (16, d)), tiles.load(V, (j, 0), (16, d))
            s = q @ k.T * scale
            column = j * 16 + tiles.arange(16)[None, :]
            seen = tiles.broadcast_to(column < K.shape[0], (32, 16))
            if causal:
                seen = seen & (column <= i * 32 + tiles.arange(32)[:, None])
            s = tiles.where(seen, s, -np.inf)
            now = tiles.maximum(top, tiles.max(s, axis=1, keepdims=True))
            p, less = tiles.exp(s - now), tiles.exp(top - now)
            total = total * less + tiles.sum(p, axis=1, keepdims=True)
            acc = tiles.mma(p.astype(V.dtype), v, acc * less)
            top = now
        tiles.store(out, (i, 0), acc / total)

    Q, K, V = (RANDOM.standard_normal((70, 32)).astype(dtype) for _ in range(3))
    out = np.zeros((70, 32), "f")
    tiles.launch(None, 3, attention, (Q, K, V, out, 32**-0.5, 32, causal))
    s = Q.astype("d") @ K.astype("d").T * 32**-0.5
    s = np.where(np.tri(70, dtype=bool), s, -np.inf) if causal else s
    p = np.exp(s - s.max(1, keepdims=True))
    close(out, p / p.sum(1, keepdims=True) @ V.astype("d"), 1e-5 if dtype == "float32" else 2e-3)


@both_plans
def test_a_histogram_by_atomics(plan):
    @tile_kernel(plan=plan)
    def histogram(X, H, old):
        i = tiles.bid(0)
        x = tiles.load(X, (i,), (64,), padding=-1)
        before = tiles.atomic_add(H, x, 1, mask=x >= 0)
        tiles.store(old, (i,), before)

    X = RANDOM.integers(0, 10, 1000).astype(np.int32)
    H, old = np.zeros(10, np.int32), np.zeros(1000, np.int32)
    tiles.launch(None, 16, histogram, (X, H, old))
    assert np.array_equal(H, np.bincount(X, minlength=10))
    for k in range(10):  # each place was taken once
        assert np.array_equal(np.sort(old[X == k]), np.arange(H[k]))


@both_plans
def test_control_flow_over_numbers_and_tiles(plan):
    @tile_kernel(plan=plan)
    def steps(X, out, n):
        x = tiles.load(X, (tiles.bid(0),), (16,))
        a, b = x, x * 0
        i = 0
        while i < n:
            if i % 2 == 0:
                a, b = b + x, a
            else:
                a = tiles.where(a > b, a, b)
                if tiles.sum(a) > 100:
                    break
            i += 1
        else:
            a = a + 1000
        for j in range(3):
            if j == 1:
                continue
            a = a + j
        tiles.store(out, (tiles.bid(0),), a if n > 2 else -a)

    def reference(x, n):
        a, b, i = x, x * 0, 0
        while i < n:
            if i % 2 == 0:
                a, b = b + x, a
            else:
                a = np.where(a > b, a, b)
                if a.sum() > 100:
                    break
            i += 1
        else:
            a = a + 1000
        a = a + 2
        return a if n > 2 else -a

    X = RANDOM.integers(0, 9, 64).astype(np.int64)
    for n in (0, 1, 5, 50):
        out = np.zeros_like(X)
        steps(X, out, n)
        assert np.array_equal(out, np.concatenate([reference(x, n) for x in X.reshape(4, 16)])), n


@both_plans
def test_what_a_program_wrote_it_can_read(plan):
    @tile_kernel(plan=plan)
    def turned(A):
        t = tiles.load(A, (0, 0), (16, 16))
        tiles.store(A, (0, 0), t.T + 1)
        t = tiles.load(A, (0, 0), (16, 16))
        tiles.store(A, (0, 0), t.T * 2)

    A = RANDOM.random((16, 16))
    wanted = (A.T + 1).T * 2
    turned[1, 1](A)
    assert np.array_equal(A, wanted)


@both_plans
def test_the_functions_of_numpy_by_element(plan):
    @tile_kernel(plan=plan)
    def many(X, out):
        x = tiles.load(X, (0,), (32,))
        y = np.hypot(tiles.sin(x), tiles.cos(x)) + tiles.tanh(x) - tiles.sqrt(abs(x)) + x**2 + (x // 0.5) % 3
        tiles.store(out, (0,), tiles.where((x > 0) & (x < 1), y, np.exp2(x)))

    X, out = RANDOM.standard_normal(32), np.zeros(32)
    many[1, 1](X, out)
    y = np.hypot(np.sin(X), np.cos(X)) + np.tanh(X) - np.sqrt(abs(X)) + X**2 + (X // 0.5) % 3
    close(out, np.where((X > 0) & (X < 1), y, np.exp2(X)), 1e-14)


def test_a_name_may_hold_one_shape_after_the_other():
    @tiles.tile_kernel
    def falling(X, out):
        x = tiles.load(X, (0, 0), (8, 16))
        x = tiles.sum(x, axis=1)
        x = x.reshape((2, 4))
        x = tiles.sum(x)
        tiles.store(out, (0,), x)

    @tiles.tile_kernel
    def mixed(X, out, n):
        x = tiles.load(X, (0, 0), (8, 16))
        if n > 0:
            x = tiles.sum(x, axis=1)
        tiles.store(out, (0,), tiles.sum(x))

    @tiles.tile_kernel
    def looped(X, out, n):
        x = tiles.load(X, (0, 0), (8, 16))
        for _ in range(n):
            x = x.T
        tiles.store(out, (0,), tiles.sum(x))

    X, out = RANDOM.random((8, 16)), np.zeros(1)
    falling[1, 1](X, out)
    close(out, X.sum().reshape(1), 1e-14)
    with pytest.raises(SyntaxError, match="'x' is a tile of one shape or another here"):
        mixed[1, 1](X, out, 1)
    with pytest.raises(
        SyntaxError, match=r"'x' is a tile of \(8, 16\) before the loop and a tile of \(16, 8\)"
    ):
        looped[1, 1](X, out, 1)


def test_launches_on_streams_and_grids():
    @tiles.tile_kernel
    def placed(out):
        x, y, z = tiles.bid(0), tiles.bid(1), tiles.bid(2)
        n = tiles.num_blocks(0) * 100 + tiles.num_blocks(1) * 10 + tiles.num_blocks(2)
        tiles.store(out, (x, y, z, 0), x * 100 + y * 10 + z)
        tiles.store(out, (x, y, z, 1), n)

    out = core.zeros((2, 3, 4, 2), np.int64)
    stream = core.stream()
    tiles.launch(stream, (2, 3, 4), placed, (out,))
    stream.synchronize()
    found = out.copy_to_host()
    x, y, z = np.indices((2, 3, 4))
    assert np.array_equal(found[..., 0], x * 100 + y * 10 + z)
    assert (found[..., 1] == 234).all()


def test_constants_make_a_version_each():
    @tiles.tile_kernel
    def scaled(X, out, n: tiles.Constant[int], mode: tiles.Constant[str] = "twice"):
        x = tiles.load(X, (tiles.bid(0),), (n,))
        tiles.store(out, (tiles.bid(0),), x * 2 if mode == "twice" else x)

    X = RANDOM.random(50)
    for n, mode in ((8, "twice"), (16, "once"), (8, "once"), (8, "twice")):
        out = np.zeros(50)
        scaled(X, out, n, mode)
        assert np.array_equal(out, X * 2 if mode == "twice" else X)
    assert len(scaled.specialisations) == 3
