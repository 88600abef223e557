"""Attention forward by plans and tiles on this GPU: which are right against NumPy, and what each does in a second.

    python tests/gpu/attention_probe.py [--seconds 40] [--patience 10] [--only "128x128"] [--compare]

Each case runs in a process of its own, is ended after `patience` seconds, and prints a row. Needs NumPy alone; torch's
figure is told where torch is. Ends with 1 where a case hung or was wrong.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

BEGUN = time.perf_counter()
CHECKED = [
    (2, 256, 128),
    (3, 300, 128),
    (2, 200, 64),
    (1, 17, 128),
    (2, 1024, 64),
]  # heads, length, head size
TIMED = (16, 4096, 128)
SHORT = [(3, 300, 128), (2, 200, 64), TIMED, (16, 4096, 64)]
# name: (exponential, type, (tm, tn), what is asked of the plan)
CASES = {
    "exp 128x128": ("exp", "f2", (128, 128), {}),
    "exp2 128x128": ("exp2", "f2", (128, 128), {}),
    "exp2 128x64": ("exp2", "f2", (128, 64), {}),
    "exp2 64x64": ("exp2", "f2", (64, 64), {"stages": 2}),
    "exp2 64x128": ("exp2", "f2", (64, 128), {"stages": 2}),
    "exp2 256x64": ("exp2", "f2", (256, 64), {"stages": 2}),
    "exp2 128x128 s2": ("exp2", "f2", (128, 128), {"stages": 2}),
    "causal 128x128": ("causal", "f2", (128, 128), {}),
    "exp2 mma.sync 128x64": ("exp2", "f2", (128, 64), {"products": "mma"}),
    "exp2 128x128, late": ("exp2", "f2", (128, 128), {"waits": "late"}),
    "exp2 128x128, bulk": ("exp2", "f2", (128, 128), {"copies": "bulk"}),
    "exp2 128x128, bulk late": ("exp2", "f2", (128, 128), {"copies": "bulk", "waits": "late"}),
    "causal 128x128, bulk": ("causal", "f2", (128, 128), {"copies": "bulk"}),
    "exp2 128x64, bulk late": ("exp2", "f2", (128, 64), {"copies": "bulk", "waits": "late"}),
    "causal 128x128, bulk late": ("causal", "f2", (128, 128), {"copies": "bulk", "waits": "late"}),
    "exp2 32x64": ("exp2", "f2", (32, 64), {}),
}

# What decides how attention is copied, by head size and causal or not: both forms, and copies by each.
DECISIVE = [
    "exp2 128x128",
    "exp2 128x128, bulk",
    "causal 128x128",
    "causal 128x128, bulk",
    "causal 128x128, bulk late",
]
COMPARED = [name for name in CASES if name in ("exp2 128x128", "causal 128x128") or "," in name]


def kernels():
    """By name; those of base 2 are given the scale times log2(e), and may be approximate."""
    from xcuda import tiles

    def exp(Q, K, V, result, scale, d: tiles.Constant[int], tm: tiles.Constant[int], tn: tiles.Constant[int]):
        i, h = tiles.bid(0), tiles.bid(1)
        q = tiles.load(Q, (h, i, 0), (1, tm, d)).reshape((tm, d))
        top = tiles.full((tm, 1), -np.inf, tiles.float32)
        total = tiles.zeros((tm, 1), tiles.float32)
        acc = tiles.zeros((tm, d), tiles.float32)
        for j in range(tiles.num_tiles(K, 1, (1, tn, d))):
            k = tiles.load(K, (h, j, 0), (1, tn, d)).reshape((tn, d))
            v = tiles.load(V, (h, j, 0), (1, tn, d)).reshape((tn, d))
            inside = tiles.broadcast_to(j * tn + tiles.arange(tn)[None, :] < K.shape[1], (tm, tn))
            s = tiles.where(inside, (q @ k.T) * scale, -np.inf)
            now = tiles.maximum(top, tiles.max(s, axis=1, keepdims=True))
            p, less = tiles.exp(s - now), tiles.exp(top - now)
            total = total * less + tiles.sum(p, axis=1, keepdims=True)
            acc = tiles.mma(p.astype(Q.dtype), v, acc * less)
            top = now
        tiles.store(result, (h, i, 0), (acc / total).reshape((1, tm, d)).astype(result.dtype))

    def exp2(
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
            p, less = tiles.exp2(s * scale - now * scale), tiles.exp2((top - now) * scale)
            total = total * less + tiles.sum(p, axis=1, keepdims=True)
            acc = tiles.mma(p.astype(Q.dtype), v, acc * less)
            top = now
        tiles.store(result, (h, i, 0), (acc / total).reshape((1, tm, d)).astype(result.dtype))

    def causal(
        Q, K, V, result, scale, d: tiles.Constant[int], tm: tiles.Constant[int], tn: tiles.Constant[int]
    ):
        i, h = tiles.bid(0), tiles.bid(1)
        q = tiles.load(Q, (h, i, 0), (1, tm, d)).reshape((tm, d))
        rows = i * tm + tiles.arange(tm)[:, None]
        top = tiles.full((tm, 1), -np.inf, tiles.float32)
        total = tiles.zeros((tm, 1), tiles.float32)
        acc = tiles.zeros((tm, d), tiles.float32)
        for j in range(min(tiles.num_tiles(K, 1, (1, tn, d)), tiles.cdiv((i + 1) * tm, tn))):
            k = tiles.load(K, (h, j, 0), (1, tn, d)).reshape((tn, d))
            v = tiles.load(V, (h, j, 0), (1, tn, d)).reshape((tn, d))
            columns = j * tn + tiles.arange(tn)[None, :]
            s = tiles.where((columns < K.shape[1]) & (columns <= rows), q @ k.T, -np.inf)
            now = tiles.maximum(top, tiles.max(s, axis=1, keepdims=True))
            p, less = tiles.exp2(s * scale - now * scale), tiles.exp2((top - now) * scale)
            total = total * less + tiles.sum(p, axis=1, keepdims=True)
            acc = tiles.mma(p.astype(Q.dtype), v, acc * less)
            top = now
        tiles.store(result, (h, i, 0), (acc / total).reshape((1, tm, d)).astype(result.dtype))

    return {"exp": exp, "exp2": exp2, "causal": causal}


def attended(q, k, v, causal):
    s = q.astype("d") @ k.astype("d").T * q.shape[1] ** -0.5
    if causal:
        s = np.where(np.tri(*s.shape, dtype=bool), s, -np.inf)
    p = np.exp(s - s.max(1, keepdims=True))
    return p / p.sum(1, keepdims=True) @ v.astype("d")


def tell(**row):
    print(json.dumps({"at": round(time.perf_counter() - BEGUN, 2), **row}), flush=True)


def run(name, shapes):
    from xcuda import core, tiles

    which, dtype, (tm, tn), asked = CASES[name]
    kernel = tiles.tile_kernel(kernels()[which], plan=asked, fastmath=which != "exp")
    chance = np.random.default_rng(5)
    for h, n, d in shapes:
        Q, K, V = (chance.standard_normal((h, n, d), np.float32).astype(dtype) for _ in range(3))
        given = [core.to_device(x) for x in (Q, K, V)]
        out = core.full((h, n, d), 77, dtype)
        scale = float(d**-0.5 * (1 if which == "exp" else np.log2(np.e)))  # a NumPy float64 would widen
        args = (*given, out, scale, d, tm, tn)
        grid = (-(-n // tm), h)
        tiles.launch(None, grid, kernel, args)
        core.synchronize()
        found = out.copy_to_host().astype("d")
        heads = range(h) if n < 2000 else (0, h - 1)
        off = 0.0
        for head in heads:
            rows = slice(0, n) if n < 2000 else slice(0, 512)  # causal: the first rows' columns alone
            if n < 2000 or which != "causal":
                right = attended(Q[head][rows], K[head], V[head], which == "causal")
            else:
                right = attended(Q[head][rows], K[head][rows], V[head][rows], True)
            off = max(off, float(np.abs(found[head][rows] - right).max()))
        row = {"shape": [h, n, d], "off": round(off, 5), "is": "right" if off < 4e-3 else "WRONG"}
        if n == TIMED[1]:
            best = 1e9
            for _ in range(5):
                begin = time.perf_counter()
                for _ in range(10):
                    tiles.launch(None, grid, kernel, args)
                core.synchronize()
                best = min(best, (time.perf_counter() - begin) / 10)
            row["ms"] = round(best * 1e3, 3)
            row["tflops"] = round(4 * h * n * n * d / (2 if which == "causal" else 1) / best / 1e12, 1)
            row["plan"] = str(kernel.explain(*args)).split("products by: ")[1].split("\n")[0]
        tell(**row)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("--patience", type=float, default=10)
    parser.add_argument("--only", default="")
    parser.add_argument("--compare", action="store_true", help="128x128 by each way of waiting and copying")
    parser.add_argument(
        "--decide", action="store_true", help="copies by threads and in bulk, at two head sizes"
    )
    parser.add_argument("--case")
    asked = parser.parse_args()
    if asked.case:
        run(asked.case, SHORT if asked.decide else [*CHECKED, TIMED])
        return 0
    bad = []
    for name in CASES:
        left = asked.seconds - (time.perf_counter() - BEGUN)
        if (
            asked.only not in name
            or (asked.compare and name not in COMPARED)
            or (asked.decide and name not in DECISIVE)
        ):
            continue
        if left < 4:
            print(f"the time is over: {name} not tried")
            continue
        print(name, flush=True)
        command = [
            sys.executable,
            str(Path(__file__)),
            "--case",
            name,
            *(["--decide"] if asked.decide else []),
        ]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=min(asked.patience, left), check=False
            )
        except subprocess.TimeoutExpired as late:
            told = late.stdout.decode() if isinstance(late.stdout, bytes) else late.stdout or ""
            over = left < asked.patience  # the time of all, not this case's: no verdict
            print("    " + told.strip().replace("\n", "\n    "), flush=True)
            print("    the time is over, nothing is known of the rest" if over else "    HUNG", flush=True)
            if not over:
                bad.append(name)
            continue
        print("    " + done.stdout.strip().replace("\n", "\n    "), flush=True)
        if done.returncode or "WRONG" in done.stdout:
            print("    " + done.stderr.strip()[-1500:].replace("\n", "\n    "), flush=True)
            bad.append(name)
    print("hung or wrong:", ", ".join(bad) or "none")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
