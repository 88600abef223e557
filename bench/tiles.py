"""Tile kernels beside the libraries and Triton: products as the article writes them, softmax, attention.

    python bench/tiles.py [products] [rows] [attention] [compile] [--seconds S]

On a GPU: cuBLAS through torch, Triton where it is installed. On the CPU device: NumPy. Contestants take turns; the
median of nine rounds is told, with what each does in a second and its ratio to ours. On the CPU device each rests
before its turn, is called once, and then timed; the time of all
cores together too, the least of the rounds, which other work on the machine changes little. Each row is told on stderr
as it comes.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from _measure import goal, machine, result, table, today
from xcuda import core, tiles

ROUNDS = 9
LOG2_E = 1.4426950408889634
# DESIGN section 9 and its likes: a peer's time over ours, at least. (A copy's is what memory gives.)
GOALS = {"cuBLAS": 0.9, "NumPy": 0.9, "torch": 0.8, "Triton": 1.0, "copy": 0.85}
REST = 0.15  # s on the CPU device: OpenBLAS' threads look for more work for so long, on cores that the next one needs
ON_GPU = core.Device().kind != "cpu"


@tiles.tile_kernel(tile_size=(16, 16))
def product(A, B, result):
    tiles.store(result, tiles.compute(tiles.load_shared(A) @ tiles.load_shared(B)))


@tiles.tile_kernel(tile_size=(16, 16))
def layer(A, B, bias, result):
    whole = tiles.load_shared(A) @ tiles.load_shared(B) + tiles.load_shared(bias)
    tiles.store(result, tiles.compute(tiles.maximum(whole, 0)))


@tiles.tile_kernel
def softmax(X, Y, n: tiles.Constant[int]):
    i = tiles.bid(0)
    x = tiles.load(X, (i, 0), (1, n), padding=-np.inf)
    e = tiles.exp(x - tiles.max(x))
    tiles.store(Y, (i, 0), e / tiles.sum(e))


@tiles.tile_kernel
def layer_norm(X, W, B, Y, n: tiles.Constant[int]):
    i = tiles.bid(0)
    x = tiles.load(X, (i, 0), (1, n))
    mean = tiles.sum(x) / X.shape[1]
    x = tiles.where(tiles.arange(n)[None, :] < X.shape[1], x - mean, 0)
    scale = 1 / tiles.sqrt(tiles.sum(x * x) / X.shape[1] + 1e-5)
    tiles.store(Y, (i, 0), x * scale * tiles.load(W, (0,), (n,)) + tiles.load(B, (0,), (n,)))


@tiles.tile_kernel(fastmath=True)  # powers of 2 as the hardware has them, which torch's kernels take too
def attention(
    Q, K, V, result, scale, d: tiles.Constant[int], tm: tiles.Constant[int], tn: tiles.Constant[int]
):
    i, h = tiles.bid(0), tiles.bid(1)
    q = tiles.load(Q, (h, i, 0), (1, tm, d)).reshape((tm, d))
    top = tiles.full((tm, 1), -np.inf, tiles.float32)
    total = tiles.zeros((tm, 1), tiles.float32)
    acc = tiles.zeros((tm, d), tiles.float32)
    for j in range(tiles.num_tiles(K, 1, (1, tn, d))):
        k = tiles.load(K, (h, j, 0), (1, tn, d)).reshape((tn, d))
        v = tiles.load(V, (h, j, 0), (1, tn, d)).reshape((tn, d))
        inside = tiles.broadcast_to(j * tn + tiles.arange(tn)[None, :] < K.shape[1], (tm, tn))
        s = tiles.where(inside, q @ k.T, -np.inf)
        now = tiles.maximum(top, tiles.max(s, axis=1, keepdims=True))
        p, less = (
            tiles.exp2(s * scale - now * scale),
            tiles.exp2((top - now) * scale),
        )  # of base 2: scale * log2(e)
        total = total * less + tiles.sum(p, axis=1, keepdims=True)
        acc = tiles.mma(p.astype(Q.dtype), v, acc * less)
        top = now
    tiles.store(result, (h, i, 0), (acc / total).reshape((1, tm, d)).astype(result.dtype))


def wait():
    if ON_GPU:
        import torch

        torch.cuda.synchronize()
        core.synchronize()


def in_turns(contestants):
    """Seconds of each, which take turns, short ones several times in a row: the median, and the least of all cores'."""
    repeats = {}
    for name, call in contestants.items():
        call()
        wait()
        begin = time.perf_counter()
        call()
        wait()
        repeats[name] = max(1, int(0.01 / max(time.perf_counter() - begin, 1e-6)))
    times, cores = ({name: [] for name in contestants} for _ in range(2))
    for _ in range(ROUNDS):
        for name, call in contestants.items():
            if not ON_GPU:
                time.sleep(REST)
                call()
            wait()
            begin, own = time.perf_counter(), time.process_time()
            for _ in range(repeats[name]):
                call()
            wait()
            times[name].append((time.perf_counter() - begin) / repeats[name])
            cores[name].append((time.process_time() - own) / repeats[name])
    return {name: (statistics.median(t), min(cores[name])) for name, t in times.items()}


def rows_of(title, work, unit, contestants):
    """Rows of the table: what each does in a second, and its time as a multiple of ours."""
    times = in_turns(contestants)
    ours, our_cores = times["xcuda"]
    out = []
    for name, (seconds, cores) in times.items():
        out.append(
            (
                title if not out else "",
                name,
                f"{seconds * 1e3:.3f}",
                f"{work / seconds / unit:,.2f}",
                f"{seconds / ours:.2f}",
                *(() if ON_GPU else (f"{cores * 1e3:.3f}", f"{cores / our_cores:.2f}")),
            )
        )
        print(title, *out[-1][1:], sep="  ", file=sys.stderr, flush=True)
    return out


def arrays(dtype, *shapes):
    """Random arrays where the kernels run."""
    if not ON_GPU:
        random = np.random.default_rng(1)
        return [random.standard_normal(s, np.float32).astype(dtype) for s in shapes]
    import torch

    chance = torch.Generator(device="cuda").manual_seed(1)
    made = [torch.randn(s, generator=chance, device="cuda", dtype=torch.float32) for s in shapes]
    return [a.to(getattr(torch, dtype)) for a in made]


def empty_like_product(A, B, dtype):
    if ON_GPU:
        import torch

        return torch.empty(A.shape[0], B.shape[1], dtype=getattr(torch, dtype), device="cuda")
    return np.empty((A.shape[0], B.shape[1]), dtype)


def expect_close(found, wanted, tolerance):
    scale = float(abs(wanted).max())
    off = float(abs(found - wanted).max())
    if not off <= tolerance * scale:
        raise SystemExit(f"computes something else: off by {off} of {scale}")


def products():
    """Square and LLM-like products by type, against cuBLAS and Triton, or NumPy."""
    if ON_GPU:
        import torch

        torch.backends.cuda.matmul.allow_tf32 = False
        shapes = [(n, n, n) for n in (1024, 4096, 8192)] + [(16384, 1024, 1024), (1024, 16384, 1024)]
        types = ("float16", "bfloat16", "float32")
    else:
        shapes = [(n, n, n) for n in (256, 512, 1024, 2048)] + [
            (4096, 256, 256),
            (256, 4096, 256),
            (1000, 777, 513),
        ]
        types = ("float32", "float64")
    for dtype in types:
        for m, k, n in shapes:
            A, B = arrays(dtype, (m, k), (k, n))
            C = empty_like_product(A, B, dtype)
            product(A, B, C)
            wait()
            expect_close(C, A @ B, 2e-2 if dtype in ("float16", "bfloat16") else 1e-4)
            contestants = {"cuBLAS" if ON_GPU else "NumPy": lambda A=A, B=B: A @ B}
            if ON_GPU and dtype == "float16" and (triton := triton_product()):
                contestants["Triton"] = lambda A=A, B=B, C=C, t=triton: t(A, B, C)
            contestants["xcuda"] = lambda A=A, B=B, C=C: product(A, B, C)
            yield rows_of(f"{dtype} {m}x{k} @ {k}x{n}", 2 * m * k * n, 1e12 if ON_GPU else 1e9, contestants)


def triton_product():
    """Triton's tutorial product, or None."""
    try:
        import triton
        import triton.language as tl
    except ImportError:
        return None

    @triton.jit
    def kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, G: tl.constexpr):
        pid = tl.program_id(0)
        per_m, per_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
        group = pid // (G * per_n)
        size = min(per_m - group * G, G)
        pm, pn = group * G + (pid % (G * per_n)) % size, (pid % (G * per_n)) // size
        om, on, ok = pm * BM + tl.arange(0, BM), pn * BN + tl.arange(0, BN), tl.arange(0, BK)
        pa, pb = a + om[:, None] * K + ok[None, :], b + ok[:, None] * N + on[None, :]
        acc = tl.zeros((BM, BN), tl.float32)
        for _ in range(0, tl.cdiv(K, BK)):
            acc = tl.dot(tl.load(pa), tl.load(pb), acc)
            pa += BK
            pb += BK * N
        tl.store(c + om[:, None] * N + on[None, :], acc.to(tl.float16))

    def run(A, B, C):
        M, K, N = *A.shape, B.shape[1]
        grid = (triton.cdiv(M, 128) * triton.cdiv(N, 256),)
        kernel[grid](A, B, C, M, N, K, BM=128, BN=256, BK=64, G=8, num_warps=8, num_stages=3)

    return run


def rows():
    """Row-wise kernels, which memory bounds: softmax and layer norm."""
    m, n = (16384, 8192) if ON_GPU else (4096, 1000)
    X, W, B = arrays("float32", (m, n), (n,), (n,))
    width = 1 << (n - 1).bit_length()
    if ON_GPU:
        import torch

        Y = torch.empty_like(X)
        copied = {"copy": lambda: Y.copy_(X)}
        peers = {"torch": lambda: torch.softmax(X, 1), **copied}
        norms = {"torch": lambda: torch.nn.functional.layer_norm(X, (n,), W, B), **copied}
    else:
        Y = np.empty_like(X)

        def numpy_softmax():
            e = np.exp(X - X.max(1, keepdims=True))
            return e / e.sum(1, keepdims=True)

        def numpy_layer_norm():
            d = X - X.mean(1, keepdims=True)
            return d / np.sqrt((d * d).mean(1, keepdims=True) + 1e-5) * W + B

        copied = {"copy": lambda: np.copyto(Y, X)}
        peers, norms = {"NumPy": numpy_softmax, **copied}, {"NumPy": numpy_layer_norm, **copied}
    softmax(X, Y, width)
    wait()
    expect_close(Y, next(iter(peers.values()))(), 1e-5)
    yield rows_of(
        f"softmax {m}x{n} float32", 2 * m * n * 4, 1e9, {**peers, "xcuda": lambda: softmax(X, Y, width)}
    )
    layer_norm(X, W, B, Y, width)
    wait()
    expect_close(Y, next(iter(norms.values()))(), 1e-5)
    yield rows_of(
        f"layer norm {m}x{n} float32",
        2 * m * n * 4,
        1e9,
        {**norms, "xcuda": lambda: layer_norm(X, W, B, Y, width)},
    )


def attentions():
    """Attention forward, head size 128."""
    h, n, d = (16, 4096, 128) if ON_GPU else (2, 256, 64)
    dtype = "float16" if ON_GPU else "float32"
    Q, K, V = arrays(dtype, *[(h, n, d)] * 3)
    scale = d**-0.5
    tm, tn = (128, 128) if ON_GPU else (32, 32)
    if ON_GPU:
        import torch

        out = torch.empty_like(Q)
        peers = {
            "torch": lambda: torch.nn.functional.scaled_dot_product_attention(Q[None], K[None], V[None])[0]
        }
    else:
        out = np.empty_like(Q)

        def numpy_attention():
            s = (Q @ K.transpose(0, 2, 1)) * scale
            p = np.exp(s - s.max(2, keepdims=True))
            return (p / p.sum(2, keepdims=True)) @ V

        peers = {"NumPy": numpy_attention}

    def ours():
        tiles.launch(None, (-(-n // tm), h), attention, (Q, K, V, out, scale * LOG2_E, d, tm, tn))

    ours()
    wait()
    expect_close(out, next(iter(peers.values()))(), 1e-2 if ON_GPU else 1e-4)
    yield rows_of(
        f"attention {h}x{n}x{d} {dtype}", 4 * h * n * n * d, 1e12 if ON_GPU else 1e9, {**peers, "xcuda": ours}
    )


FIRST = """
import sys, time
import numpy as np
sys.path.insert(0, {folder!r})
from tiles import product
A, B, C = (np.ones((512, 512), {dtype!r}) for _ in range(3))
begin, own = time.perf_counter(), time.process_time()
product(A, B, C)
print(time.perf_counter() - begin, time.process_time() - own)
"""


def compile_times():
    """Seconds of the article's kernel's first call in a process of its own: compiled, and from the disk cache."""
    for dtype in ("float16", "float32"):
        text = FIRST.format(folder=str(Path(__file__).parent), dtype=dtype)
        times = {"compiled": [], "from disk": []}
        for _ in range(5):
            with tempfile.TemporaryDirectory() as cache:
                for name in times:
                    run = subprocess.run(
                        [sys.executable, "-c", text],
                        env={**os.environ, "XCUDA_CACHE_DIR": cache},
                        capture_output=True,
                        text=True,
                        check=True,
                    )
                    times[name].append([float(seconds) for seconds in run.stdout.split()])
        rows = []
        for name, t in times.items():
            wall, cores = zip(*t, strict=True)
            row = (f"first call, {dtype}", name, f"{statistics.median(wall) * 1e3:.1f}", "", "")
            rows.append(row if ON_GPU else (*row, f"{min(cores) * 1e3:.1f}", ""))
        yield rows


PARTS = {"products": products, "rows": rows, "attention": attentions, "compile": compile_times}


def main():
    print(f"{core.Device().name if ON_GPU else machine()}; {today()}\n")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all by default")
    parser.add_argument("--seconds", type=float, default=math.inf, help="what there is no time for is named")
    options = parser.parse_args()
    if unknown := [part for part in options.parts if part not in PARTS]:
        parser.error(f"there is no {unknown[0]!r}; there are {', '.join(PARTS)}")
    ends = time.monotonic() + options.seconds
    found, ratios = [], []
    for part in options.parts or list(PARTS):
        title = part
        for rows_of_one in PARTS[part]():
            found += rows_of_one
            title = rows_of_one[0][0]
            ratios += [(title, row[1], float(row[4])) for row in rows_of_one if row[1] in GOALS and row[4]]
            if time.monotonic() > ends:
                break
        if time.monotonic() > ends:
            result(f"no time for what comes after {title}")
            break
    columns = ("what", "by", "ms", "TFLOP/s or GB/s" if ON_GPU else "GFLOP/s or GB/s", "time / ours")
    print(table(found, columns if ON_GPU else (*columns, "ms of all cores", "cores' / ours")), end="\n\n")
    for title, peer, ratio in ratios:
        goal(f"{title}, {peer}'s time over ours", ratio, GOALS[peer], least=True)
    for kind in ("float16", "bfloat16", "float32"):
        of_kind = [r for title, peer, r in ratios if peer == "cuBLAS" and title.startswith(f"{kind} ")]
        if of_kind:
            mean = statistics.geometric_mean(of_kind)
            result(
                f"{kind} products, geometric mean of {len(of_kind)}: {mean:.2f} of cuBLAS, least {min(of_kind):.2f}"
            )


if __name__ == "__main__":
    main()
