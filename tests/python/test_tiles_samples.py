"""The kernels that cuTile's public samples are named after, in our words: vector addition to mixture of experts."""

import numpy as np
import pytest
from tile_kernels import close, compiles, plans, tile_kernel
from xcuda import tiles

RANDOM = np.random.default_rng(5)
both_plans = pytest.mark.parametrize("plan", plans())


def ceil_div(a, b):
    return -(-a // b)


@both_plans
def test_vector_addition(plan):
    @tile_kernel(plan=plan)
    def by_tiles(a, b, c, n: tiles.Constant[int]):
        i = tiles.bid(0)
        tiles.store(c, index=(i,), tile=tiles.load(a, index=(i,), shape=(n,)) + tiles.load(b, (i,), (n,)))

    @tile_kernel(plan=plan)
    def by_places(a, b, c, m: tiles.Constant[int], n: tiles.Constant[int]):
        rows = tiles.bid(0) * m + tiles.arange(m, dtype=tiles.int32)
        columns = tiles.bid(1) * n + tiles.arange(n, dtype=tiles.int32)
        at = (rows[:, None], columns[None, :])
        tiles.scatter(c, at, tiles.gather(a, at) + tiles.gather(b, at))

    a, b = RANDOM.random((2, 1000)).astype("f")
    c = np.zeros_like(a)
    by_tiles(a, b, c, 128)
    assert np.array_equal(c, a + b)
    a, b, c = (x.reshape(25, 40) for x in (a, b, np.zeros_like(c)))
    tiles.launch(None, (ceil_div(25, 8), ceil_div(40, 16)), by_places, (a, b, c, 8, 16))
    assert np.array_equal(c, a + b)


@both_plans
@pytest.mark.parametrize("persistent", [False, True])
def test_matmul(plan, persistent):
    """A swizzled order of blocks; persistent programs take several tiles each."""

    @tile_kernel(plan=plan)
    def matmul(
        A,
        B,
        C,
        tm: tiles.Constant[int],
        tn: tiles.Constant[int],
        tk: tiles.Constant[int],
        group: tiles.Constant[int],
    ):
        def place(number):
            across = tiles.cdiv(C.shape[1], tn)
            first = number // (group * across) * group
            size = min(tiles.cdiv(C.shape[0], tm) - first, group)
            within = number % (group * across)
            return first + within % size, within // size

        every = tiles.cdiv(C.shape[0], tm) * tiles.cdiv(C.shape[1], tn)
        for number in range(tiles.bid(0), every, tiles.num_blocks(0)):
            i, j = place(number)
            acc = tiles.full((tm, tn), 0, dtype=tiles.float32)
            for k in range(tiles.num_tiles(A, axis=1, shape=(tm, tk))):
                a = tiles.load(A, (i, k), (tm, tk), padding_mode=tiles.PaddingMode.ZERO)
                b = tiles.load(B, (k, j), (tk, tn), padding_mode=tiles.PaddingMode.ZERO)
                acc = tiles.mma(a, b, acc)
            tiles.store(C, (i, j), tiles.astype(acc, C.dtype))

    A, B = (RANDOM.integers(-4, 5, s).astype(np.float16) for s in ((75, 50), (50, 90)))
    C = np.zeros((75, 90), np.float16)
    grid = 4 if persistent else ceil_div(75, 32) * ceil_div(90, 32)
    tiles.launch(None, (grid,), matmul, (A, B, C, 32, 32, 16, 2))
    assert np.array_equal(C, A.astype(int) @ B.astype(int))


@both_plans
def test_batch_matmul(plan):
    @tile_kernel(plan=plan)
    def batched(A, B, C, tm: tiles.Constant[int], tn: tiles.Constant[int], tk: tiles.Constant[int]):
        q, i, j = tiles.bid(0), tiles.bid(1), tiles.bid(2)
        acc = tiles.zeros((1, tm, tn), tiles.float32)
        for k in range(tiles.num_tiles(A, 2, (1, tm, tk))):
            acc = tiles.mma(tiles.load(A, (q, i, k), (1, tm, tk)), tiles.load(B, (q, k, j), (1, tk, tn)), acc)
        tiles.store(C, (q, i, j), acc.astype(C.dtype))

    A, B = (RANDOM.standard_normal(s).astype("f") for s in ((3, 20, 33), (3, 33, 18)))
    C = np.zeros((3, 20, 18), "f")
    tiles.launch(None, (3, ceil_div(20, 16), ceil_div(18, 16)), batched, (A, B, C, 16, 16, 16))
    close(C, A.astype("d") @ B, 1e-5)


@both_plans
def test_transpose(plan):
    @tile_kernel(plan=plan)
    def turned(x, y, tm: tiles.Constant[int], tn: tiles.Constant[int]):
        i, j = tiles.bid(0), tiles.bid(1)
        tiles.store(y, (j, i), tiles.transpose(tiles.load(x, (i, j), (tm, tn))))

    for dtype in (np.float16, np.float64, np.int8, np.complex64):
        x = RANDOM.integers(-9, 9, (50, 70)).astype(dtype)
        y = np.zeros((70, 50), dtype)
        tiles.launch(None, (ceil_div(50, 16), ceil_div(70, 32)), turned, (x, y, 16, 32))
        assert np.array_equal(y, x.T)


def fft_kernel(X, Y, W0, W1, T, n: tiles.Constant[int], f0: tiles.Constant[int], f1: tiles.Constant[int]):
    """Length n = f0 * f1 as two products with small Fourier matrices; real and imaginary parts side by side."""
    i = tiles.bid(0)
    x = tiles.load(X, (i, 0, 0), (1, n, 2))
    re = x.extract((0, 0, 0), (1, n, 1)).reshape((f0, f1))
    im = x.extract((0, 0, 1), (1, n, 1)).reshape((f0, f1))

    def parts(M, rows, columns):
        m = tiles.load(M, (0, 0, 0), (rows, columns, 2))
        return (
            m.extract((0, 0, 0), (rows, columns, 1)).reshape((rows, columns)),
            m.extract((0, 0, 1), (rows, columns, 1)).reshape((rows, columns)),
        )

    w_re, w_im = parts(W0, f0, f0)
    re, im = w_re @ re - w_im @ im, w_re @ im + w_im @ re
    t_re, t_im = parts(T, f0, f1)
    re, im = re * t_re - im * t_im, re * t_im + im * t_re
    w_re, w_im = parts(W1, f1, f1)
    re, im = re @ w_re - im @ w_im, re @ w_im + im @ w_re
    re, im = tiles.transpose(re).reshape((1, n, 1)), tiles.transpose(im).reshape((1, n, 1))
    tiles.store(Y, (i, 0, 0), tiles.cat((re, im), axis=-1))


@both_plans
@pytest.mark.parametrize("factors", [(4, 8), (16, 16), (2, 4)], ids=str)
def test_fft(plan, factors):
    f0, f1 = factors
    n = f0 * f1
    j, k = np.ogrid[:f0, :f1]

    def pairs(z):
        return np.stack((z.real, z.imag), -1).astype("f")

    def fourier(m):
        return pairs(np.exp(-2j * np.pi * np.outer(np.arange(m), np.arange(m)) / m))

    x = RANDOM.standard_normal((5, n)) + 1j * RANDOM.standard_normal((5, n))
    Y = np.zeros((5, n, 2), "f")
    twiddle = pairs(np.exp(-2j * np.pi * j * k / n))
    tiles.launch(
        None,
        5,
        tile_kernel(fft_kernel, plan=plan),
        (pairs(x), Y, fourier(f0), fourier(f1), twiddle, n, f0, f1),
    )
    wanted = np.fft.fft(x)
    close(Y[..., 0], wanted.real, 1e-5)
    close(Y[..., 1], wanted.imag, 1e-5)


def attention(
    Q,
    K,
    V,
    out,
    lse,
    scale,
    d: tiles.Constant[int],
    tm: tiles.Constant[int],
    tn: tiles.Constant[int],
    group: tiles.Constant[int],
    causal: tiles.Constant[bool],
):
    """Grouped heads: `group` heads of Q share one of K and V. lse: the logarithm of each row's sum, for the way back."""
    i, h = tiles.bid(0), tiles.bid(1)
    q = tiles.load(Q, (h, i, 0), (1, tm, d)).reshape((tm, d))
    rows = i * tm + tiles.arange(tm)[:, None]
    top = tiles.full((tm, 1), -np.inf, tiles.float32)
    total, acc = tiles.zeros((tm, 1)), tiles.zeros((tm, d))
    stop = tiles.num_tiles(K, 1, (1, tn, d))
    if causal:
        stop = min(stop, tiles.cdiv((i + 1) * tm, tn))
    for j in range(stop):
        k = tiles.load(K, (h // group, j, 0), (1, tn, d)).reshape((tn, d))
        columns = j * tn + tiles.arange(tn)[None, :]
        seen = (columns < K.shape[1]) & ((columns <= rows) if causal else (columns >= 0))
        s = tiles.where(tiles.broadcast_to(seen, (tm, tn)), (q @ k.T) * scale, -np.inf)
        now = tiles.maximum(top, tiles.max(s, axis=1, keepdims=True))
        p, less = tiles.exp(s - now), tiles.exp(top - now)
        total = total * less + tiles.sum(p, axis=1, keepdims=True)
        v = tiles.load(V, (h // group, j, 0), (1, tn, d)).reshape((tn, d))
        acc = tiles.mma(p.astype(V.dtype), v, acc * less)
        top = now
    tiles.store(out, (h, i, 0), (acc / total).reshape((1, tm, d)).astype(out.dtype))
    tiles.store(lse, (h, i), (top + tiles.log(total)).reshape((1, tm)))


def attended(Q, K, V, scale, causal):
    s = np.einsum("hid,hjd->hij", Q, K) * scale
    if causal:
        s = np.where(np.tri(*s.shape[1:], dtype=bool), s, -np.inf)
    top = s.max(2, keepdims=True)
    p = np.exp(s - top)
    total = p.sum(2, keepdims=True)
    return p / total, (top + np.log(total))[..., 0], np.einsum("hij,hjd->hid", p / total, V)


@both_plans
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    ("dtype", "d", "group"),
    [("float16", 32, 2), ("float32", 64, 1), ("float16", 128, 4)],
    ids=str,
)
def test_attention_fmha(plan, causal, dtype, d, group):
    heads, n = 4, 50
    Q = RANDOM.standard_normal((heads, n, d)).astype(dtype)
    K, V = RANDOM.standard_normal((2, heads // group, n, d)).astype(dtype)
    out, lse = np.zeros((heads, n, d), dtype), np.zeros((heads, n), "f")
    kernel = tile_kernel(attention, plan=plan)
    tiles.launch(
        None, (ceil_div(n, 32), heads), kernel, (Q, K, V, out, lse, d**-0.5, d, 32, 16, group, causal)
    )
    repeated = (x.astype("d").repeat(group, 0) for x in (K, V))
    _, lse_wanted, wanted = attended(Q.astype("d"), *repeated, d**-0.5, causal)
    tolerance = 1e-5 if dtype == "float32" else 3e-3
    close(out, wanted, tolerance)
    close(lse, lse_wanted, tolerance)


def attention_backward(
    Q,
    K,
    V,
    dO,
    lse,
    delta,
    dQ,
    dK,
    dV,
    scale,
    d: tiles.Constant[int],
    tm: tiles.Constant[int],
    tn: tiles.Constant[int],
    causal: tiles.Constant[bool],
):
    """A program a tile of K: dK and dV are its own, dQ is summed by atomics."""
    j, h = tiles.bid(0), tiles.bid(1)
    k = tiles.load(K, (h, j, 0), (1, tn, d)).reshape((tn, d))
    v = tiles.load(V, (h, j, 0), (1, tn, d)).reshape((tn, d))
    dk, dv = tiles.zeros((tn, d)), tiles.zeros((tn, d))
    columns = j * tn + tiles.arange(tn)[None, :]
    start = j * tn // tm if causal else 0
    for i in range(start, tiles.num_tiles(Q, 1, (1, tm, d))):
        q = tiles.load(Q, (h, i, 0), (1, tm, d)).reshape((tm, d))
        do = tiles.load(dO, (h, i, 0), (1, tm, d)).reshape((tm, d))
        rows = i * tm + tiles.arange(tm)[:, None]
        seen = (rows < Q.shape[1]) & (columns < K.shape[1])
        if causal:
            seen = seen & (columns <= rows)
        p = tiles.where(seen, tiles.exp((q @ k.T) * scale - tiles.load(lse, (h, i), (1, tm)).T), 0)
        dv = tiles.mma(p.T, do, dv)
        ds = p * (do @ v.T - tiles.load(delta, (h, i), (1, tm)).T) * scale
        dk = tiles.mma(ds.T, q, dk)
        tiles.atomic_add(dQ, (h, rows, tiles.arange(d)[None, :]), ds @ k, mask=rows < Q.shape[1])
    tiles.store(dK, (h, j, 0), dk.reshape((1, tn, d)))
    tiles.store(dV, (h, j, 0), dv.reshape((1, tn, d)))


@both_plans
@pytest.mark.parametrize("causal", [False, True])
def test_attention_backward(plan, causal):
    heads, n, d = 2, 37, 32
    Q, K, V, dO = RANDOM.standard_normal((4, heads, n, d)).astype("f")
    scale = d**-0.5
    p, lse, out = attended(*(x.astype("d") for x in (Q, K, V)), scale, causal)
    delta = (dO * out).sum(2)
    found = [np.zeros_like(Q) for _ in range(3)]
    tiles.launch(
        None,
        (ceil_div(n, 16), heads),
        tile_kernel(attention_backward, plan=plan),
        (Q, K, V, dO, lse.astype("f"), delta.astype("f"), *found, scale, d, 16, 16, causal),
    )
    ds = p * (np.einsum("hid,hjd->hij", dO, V) - delta[..., None]) * scale
    wanted = (
        np.einsum("hij,hjd->hid", ds, K),
        np.einsum("hij,hid->hjd", ds, Q),
        np.einsum("hij,hid->hjd", p, dO),
    )
    for f, w in zip(found, wanted, strict=True):
        close(f, w, 1e-5)


@both_plans
def test_layer_norm_forward_and_backward(plan):
    @tile_kernel(plan=plan)
    def forward(X, W, B, Y, mean, rstd, eps, n: tiles.Constant[int]):
        i = tiles.bid(0)
        total = tiles.zeros((1, n))
        for j in range(tiles.num_tiles(X, 1, (1, n))):
            total += tiles.load(X, (i, j), (1, n))
        m = tiles.sum(total, axis=1, keepdims=True) / X.shape[1]
        total = tiles.zeros((1, n))
        for j in range(tiles.num_tiles(X, 1, (1, n))):
            x = tiles.load(X, (i, j), (1, n))
            x = tiles.where(j * n + tiles.arange(n)[None, :] < X.shape[1], x - m, 0)
            total += x * x
        r = 1 / tiles.sqrt(tiles.sum(total, axis=1, keepdims=True) / X.shape[1] + eps)
        tiles.store(mean, (i,), m.reshape((1,)))
        tiles.store(rstd, (i,), r.reshape((1,)))
        for j in range(tiles.num_tiles(X, 1, (1, n))):
            x = (tiles.load(X, (i, j), (1, n)) - m) * r
            tiles.store(Y, (i, j), x * tiles.load(W, (j,), (n,)) + tiles.load(B, (j,), (n,)))

    @tile_kernel(plan=plan)
    def backward(dY, X, W, mean, rstd, dX, dW, dB, n: tiles.Constant[int]):
        i = tiles.bid(0)
        inside = tiles.arange(n) < X.shape[1]
        x = (tiles.load(X, (i, 0), (1, n)).reshape((n,)) - mean[i]) * rstd[i]
        x = tiles.where(inside, x, 0)
        dy = tiles.load(dY, (i, 0), (1, n)).reshape((n,))
        g = dy * tiles.load(W, (0,), (n,))
        c1, c2 = tiles.sum(x * g) / X.shape[1], tiles.sum(g) / X.shape[1]
        tiles.store(dX, (i, 0), ((g - x * c1 - c2) * rstd[i]).reshape((1, n)))
        tiles.atomic_add(dW, tiles.arange(n), dy * x, mask=inside)
        tiles.atomic_add(dB, tiles.arange(n), dy, mask=inside)

    m, n = 7, 100
    X, dY = RANDOM.standard_normal((2, m, n)).astype("f")
    W, B = RANDOM.standard_normal((2, n)).astype("f")
    Y, mean, rstd = np.zeros_like(X), np.zeros(m, "f"), np.zeros(m, "f")
    tiles.launch(None, m, forward, (X, W, B, Y, mean, rstd, 1e-5, 32))
    x = X.astype("d")
    centred = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)
    close(Y, centred * W + B, 1e-5)
    found = [np.zeros_like(X), np.zeros_like(W), np.zeros_like(B)]
    tiles.launch(None, m, backward, (dY, X, W, mean, rstd, *found, 128))
    g = dY * W
    mean_of = lambda t: t.mean(1, keepdims=True)  # noqa: E731
    wanted = (
        (g - centred * mean_of(centred * g) - mean_of(g)) / np.sqrt(x.var(1, keepdims=True) + 1e-5),
        (dY * centred).sum(0),
        dY.sum(0),
    )
    for f, w in zip(found, wanted, strict=True):
        close(f, w, 1e-5)


def experts(
    X,
    W,
    ids,
    experts_of,
    routed,
    out,
    tm: tiles.Constant[int],
    tn: tiles.Constant[int],
    tk: tiles.Constant[int],
):
    """A grouped product: block i's tokens `ids` all go to expert `experts_of[i]`; ids past the end are padding."""
    i, j = tiles.bid(0), tiles.bid(1)
    token = tiles.gather(ids, i * tm + tiles.arange(tm), padding=-1)
    e = tiles.gather(experts_of, i)
    acc = tiles.zeros((tm, tn))
    for k in range(tiles.num_tiles(X, 1, (tm, tk))):
        columns = k * tk + tiles.arange(tk)
        x = tiles.gather(X, (token[:, None], columns[None, :]), mask=token[:, None] >= 0)
        w = tiles.load(W, (e, k, j), (1, tk, tn)).reshape((tk, tn))
        acc = tiles.mma(x, w, acc)
    weight = tiles.gather(routed, token, mask=token >= 0)
    acc = acc * weight[:, None]
    at = (token[:, None], j * tn + tiles.arange(tn)[None, :])
    tiles.atomic_add(out, at, acc, mask=token[:, None] >= 0)


@both_plans
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_moe(plan, dtype):
    tokens, features, wide, count, tm = 41, 40, 50, 3, 16
    X = RANDOM.standard_normal((tokens, features)).astype(dtype)
    W = RANDOM.standard_normal((count, features, wide)).astype(dtype)
    expert, routed = RANDOM.integers(0, count, tokens), RANDOM.random(tokens).astype("f")
    ids, experts_of = [], []
    for e in range(count):  # each expert's tokens, filled up to whole blocks
        own = np.flatnonzero(expert == e)
        blocks = ceil_div(len(own), tm)
        ids.append(np.pad(own, (0, blocks * tm - len(own)), constant_values=-1))
        experts_of += [e] * blocks
    ids, experts_of = np.concatenate(ids).astype(np.int32), np.array(experts_of, np.int32)
    out = np.zeros((tokens, wide), "f")
    kernel = tile_kernel(experts, plan=plan)
    args = (X, W, ids, experts_of, routed, out, tm, 32, 16)
    tiles.launch(None, (len(experts_of), ceil_div(wide, 32)), kernel, args)
    wanted = np.einsum("tf,tfw->tw", X.astype("d"), W.astype("d")[expert]) * routed[:, None]
    close(out, wanted, 1e-5)


@both_plans
def test_gathered_parts_of_a_product(plan):
    """AllGatherMatmul's sum: A lies in parts, one a device; here all parts are on this one."""

    @tile_kernel(plan=plan)
    def gathered(A0, A1, B, C, t: tiles.Constant[int]):
        i, j = tiles.bid(0), tiles.bid(1)
        acc = tiles.zeros((t, t))
        for part, A in enumerate((A0, A1)):
            for k in range(tiles.cdiv(A.shape[1], t)):
                rows = part * A.shape[1] + k * t + tiles.arange(t)
                b = tiles.gather(
                    B,
                    (rows[:, None], j * t + tiles.arange(t)[None, :]),
                    mask=k * t + tiles.arange(t)[:, None] < A.shape[1],
                )
                acc = tiles.mma(tiles.load(A, (i, k), (t, t)), b, acc)
        tiles.store(C, (i, j), acc)

    A, B = RANDOM.standard_normal((30, 40)).astype("f"), RANDOM.standard_normal((40, 20)).astype("f")
    C = np.zeros((30, 20), "f")
    args = (A[:, :20].copy(), A[:, 20:].copy(), B, C, 16)
    tiles.launch(None, (2, 2), gathered, args)
    close(C, A.astype("d") @ B, 1e-5)


@pytest.mark.parametrize(
    ("kernel", "args", "target"),
    [
        (
            attention,
            [((4, 64, 64), "e")] * 4 + [((4, 64), "f"), 0.1, 64, 64, 32, 1, True],
            "sm_90",
        ),
        (
            attention_backward,
            [((2, 64, 32), "f")] * 4
            + [((2, 64), "f")] * 2
            + [((2, 64, 32), "f")] * 3
            + [0.1, 32, 16, 16, True],
            "sm_80",
        ),
        (
            experts,
            [((64, 64), "e"), ((2, 64, 64), "e"), ((64,), "i"), ((4,), "i"), ((64,), "f"), ((64, 64), "f")]
            + [32, 32, 32],
            "sm_100",
        ),
        (
            fft_kernel,
            [((4, 256, 2), "f")] * 2 + [((16, 16, 2), "f")] * 3 + [256, 16, 16],
            "sm_90",
        ),
    ],
    ids=["attention", "attention_backward", "moe", "fft"],
)
def test_they_compile_without_spills(kernel, args, target):
    made = [np.zeros(a[0], a[1]) if isinstance(a, tuple) else a for a in args]
    found = compiles(tiles.tile_kernel(kernel), made, (target,))
    assert found["local_bytes"] == 0
