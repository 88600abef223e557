"""The CPU device beside NumPy, numba and pocl, in one run: times, ratios, and the goals of the design.

./run bench cpu            every row, a minute or so
./run bench                all benchmarks
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import _measure
import numpy as np
from _measure import Contest, result_rows

N = 512
LONG = 10_000_000
TILE, BLOCK = 16, 256
BLOCKS = -(-LONG // BLOCK)
OURS = "xcuda"


def close(right, rtol=1e-4):
    return lambda result: np.testing.assert_allclose(result, right, rtol=rtol)


def then(call, result):
    """A contestant whose result is fetched only for the check, by its first call."""
    first = [True]

    def contestant():
        call()
        if first:
            first.clear()
            return result()

    return contestant


def contests(pocl, numba, ours) -> list[Contest]:
    random = np.random.default_rng(1)
    a, b = (random.random((N, N), np.float32) for _ in range(2))
    c = np.zeros_like(a)
    x, y = (random.random(LONG, np.float32) for _ in range(2))
    out = np.empty_like(x)
    x64 = random.random(LONG)
    out64 = np.empty_like(x64)
    partial = np.zeros(BLOCKS, np.float32)
    alpha = np.float32(2.5)

    naive = Contest("naive matmul 512^3 float32", close(a @ b), goal=("NumPy", 2.0))
    tiled = Contest("tiled shared-memory matmul 512^3 float32", close(a @ b), goal=("pocl", 1 / 20))
    reduction = Contest("block reduction 1e7 float32", close(x.sum(dtype=np.float64)), goal=("pocl", 1 / 8))
    saxpy = Contest("saxpy 1e7 float32", close(alpha * x + y), goal=("numba", 1.1))
    wave = np.sin(x64) * np.cos(x64) + np.exp(-x64)
    fused = Contest("sin*cos + exp 1e7 float64", close(wave, 1e-12), goal=("numba", 0.4))

    naive.contestants["NumPy"] = lambda: np.matmul(a, b, out=c)
    tiled.contestants["NumPy"] = lambda: np.matmul(a, b, out=c)
    reduction.contestants["NumPy"] = lambda: x.sum()
    saxpy.contestants["NumPy"] = lambda: alpha * x + y
    fused.contestants["NumPy"] = lambda: np.sin(x64) * np.cos(x64) + np.exp(-x64)

    if numba:
        naive.contestants["numba"] = then(lambda: numba.matmul(a, b, c), c.copy)
        reduction.contestants["numba"] = lambda: numba.total(x)
        saxpy.contestants["numba"] = then(lambda: numba.saxpy(alpha, x, y, out), out.copy)
        fused.contestants["numba"] = then(lambda: numba.fused(x64, out64), out64.copy)

    if pocl:
        da, db, dc, dx, dp = (pocl.upload(v) for v in (a, b, c, x, partial))
        size = np.int32(N)
        fetch_c = lambda: pocl.download(dc, c)  # noqa: E731
        square = ((N, N), (TILE, TILE))
        naive.contestants["pocl"] = then(pocl.caller("matmul", *square, da, db, dc, size), fetch_c)
        tiled.contestants["pocl"] = then(pocl.caller("tiled", *square, da, db, dc, size), fetch_c)
        sums = pocl.caller("block_sum", (BLOCKS * BLOCK,), (BLOCK,), dx, dp, np.int32(LONG))
        reduction.contestants["pocl"] = then(sums, lambda: pocl.download(dp, partial).sum(dtype=np.float64))

    if ours:
        from xcuda import core as cuda

        ga, gb, gx, gy, gx64 = (cuda.to_device(v) for v in (a, b, x, y, x64))
        gc, gout, gout64, gp = (cuda.device_array_like(v) for v in (c, out, out64, partial))
        square = ((N // TILE, N // TILE), (TILE, TILE))
        line = (BLOCKS, BLOCK)
        fetch = gc.copy_to_host
        naive.contestants[OURS] = then(ours.caller(ours.matrix_multiply, *square, ga, gb, gc), fetch)
        tiled.contestants[OURS] = then(ours.caller(ours.tiled_multiply, *square, ga, gb, gc), fetch)
        sums = ours.caller(ours.block_sum, *line, gx, gp)
        reduction.contestants[OURS] = then(sums, lambda: gp.copy_to_host().sum(dtype=np.float64))
        saxpy.contestants[OURS] = then(ours.caller(ours.saxpy, *line, 2.5, gx, gy, gout), gout.copy_to_host)
        fused.contestants[OURS] = then(ours.caller(ours.fused, *line, gx64, gout64), gout64.copy_to_host)
    return [naive, tiled, reduction, saxpy, fused]


def compile_times(ours: bool) -> list[tuple[str, ...]]:
    """First and later compile of a process, medians over fresh processes; ours also from the disk cache."""
    rows = [compile_row("numba", "numba", shared_cache=False)]
    if ours:
        rows.append(compile_row(OURS, OURS, shared_cache=False))
        rows.append(compile_row(f"{OURS}, from the disk cache", OURS, shared_cache=True))
    return rows


def compile_row(title: str, who: str, shared_cache: bool) -> tuple[str, ...]:
    command = [sys.executable, str(Path(__file__).with_name("_compile_once.py")), who]
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(6):
            cache = folder if shared_cache else tempfile.mkdtemp(dir=folder)
            environment = dict(os.environ, XCUDA_CACHE_DIR=cache)
            done = subprocess.run(command, env=environment, check=True, capture_output=True)
            runs.append(json.loads(done.stdout))
    runs = runs[1:]  # the first fills the shared cache, and the system's file cache
    medians = (statistics.median(run[key] for run in runs) for key in ("import", "first", "later"))
    return (title, *map(_measure.milliseconds, medians))


def optional(name: str):
    """A module, or None with the reason on stderr: its rows are then left out."""
    try:
        return __import__(name)
    except Exception as error:  # a peer that cannot start must not stop the others
        print(f"left out: {name.strip('_')} ({type(error).__name__}: {error})", file=sys.stderr)
        return None


def main():
    numba, pocl_module, ours = optional("_numba"), optional("_pocl"), optional("_ours")
    pocl = pocl_module and pocl_module.Pocl()
    versions = [f"NumPy {np.__version__}"]
    if numba:
        versions.append(f"numba {__import__('numba').__version__}")
    if pocl:
        versions.append(pocl.version)
    print(f"{_measure.today()}; {_measure.machine()}; {', '.join(versions)}\n")
    rows = []
    for contest in contests(pocl, numba, ours):
        rows += result_rows(contest, contest.run())
    print(_measure.table(rows, ("what", "who", "ms", "who / xcuda", "goal")))
    print()
    header = ("compile and run, ms", "import", "first kernel", "a later one")
    print(_measure.table(compile_times(ours is not None), header))


if __name__ == "__main__":
    main()
