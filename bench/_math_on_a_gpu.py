"""bench/math.py on a GPU: nvmath beside CuPy, torch, torch.compile and a copy of the same bytes; float32.

Rows are printed as they come; torch.compile's, whose first calls take seconds each, are last, while there is time.
"""

import gc
import math as calculus
import statistics
import sys
import time

import _measure
import numpy
import xcuda.math as nvmath

ROUNDS = 7
A_ROUND = 0.01  # seconds of a contestant's calls in one round
ROWS = ("softmax", "layer norm", "RMS norm", "GELU")  # DESIGN section 9: at least 0.85 of a copy


class Contest:
    """One function: for modules like NumPy and for torch, its arrays (torch makes them), and the bytes it must move."""

    def __init__(self, title, function, torchs, arrays, moved, tolerance=1e-4, compiled=True):
        self.title, self.function, self.torchs, self.arrays = title, function, torchs, arrays
        self.moved, self.tolerance, self.compiled = moved, tolerance, compiled


def contests(torch, written, times=1):
    """Made one after the other: each holds gigabytes. `written`: bench/math.py with the formulas; `times` the rows."""
    f = torch.nn.functional

    def normal(*shape, dtype=torch.float32):
        return torch.randn(shape, device="cuda", dtype=dtype)

    def uniform(*shape, dtype=torch.float32):
        return torch.rand(shape, device="cuda", dtype=dtype)

    rows, columns = 16384 * times, 8192
    full = 4 * rows * columns
    yield Contest(f"softmax, {rows}x{columns}", written.softmax, lambda x: torch.softmax(x, -1),
                  lambda: (normal(rows, columns),), 2 * full)  # fmt: skip
    yield Contest(f"layer norm, {rows}x{columns}", written.layer_norm,
                  lambda x, w, b: f.layer_norm(x, (columns,), w, b, 1e-5),
                  lambda: (normal(rows, columns), normal(columns), normal(columns)), 2 * full)  # fmt: skip
    yield Contest(f"RMS norm, {rows}x{columns}", written.rms_norm,
                  lambda x, w: x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * w,
                  lambda: (normal(rows, columns), normal(columns)), 2 * full)  # fmt: skip
    yield Contest(f"GELU of x + bias, residual, {rows}x{columns}", written.gelu,
                  lambda x, b, r: f.gelu(x + b, approximate="tanh") + r,
                  lambda: (normal(rows, columns), normal(columns), normal(rows, columns)), 3 * full)  # fmt: skip
    yield Contest("the article's expression, 2^26", written.pipeline,
                  lambda x, y, z: torch.sqrt(torch.sin(x) * torch.cos(y) + torch.exp(-(z**2)) + torch.log(x + 1)),
                  lambda: tuple(uniform(1 << 26) for _ in range(3)), 4 * 4 << 26)  # fmt: skip
    yield Contest("the same, float64", written.pipeline,
                  lambda x, y, z: torch.sqrt(torch.sin(x) * torch.cos(y) + torch.exp(-(z**2)) + torch.log(x + 1)),
                  lambda: tuple(uniform(1 << 26, dtype=torch.float64) for _ in range(3)), 4 * 8 << 26)  # fmt: skip
    yield Contest("AdamW step, 2^26", written.adamw, lambda p, g, a, b: written.adamw(torch, p, g, a, b),
                  lambda: tuple(uniform(1 << 26) for _ in range(4)), 7 * 4 << 26)  # fmt: skip
    words, labels = 32000, 8192 * times
    yield Contest(f"cross-entropy, {labels}x{words}", written.cross_entropy,
                  lambda x, y: f.cross_entropy(x, y, reduction="none"),
                  lambda: (normal(labels, words), torch.randint(words, (labels,), device="cuda")), 4 * labels * words,
                  tolerance=1e-3)  # fmt: skip
    half = columns // 2
    yield Contest(f"RoPE, {rows}x{columns}", written.rope,
                  lambda x, c, s: torch.cat([x[:, :half] * c - x[:, half:] * s, x[:, :half] * s + x[:, half:] * c], -1),
                  lambda: (normal(rows, columns), normal(rows, half), normal(rows, half)), 3 * full)  # fmt: skip
    n = 4096
    for name, act, torchs in (
        ("x @ W + bias", lambda m, y: y, lambda y: y),
        ("relu(x @ W + bias)", lambda m, y: m.maximum(y, 0), torch.relu),
    ):
        yield Contest(f"{name}, float16, 4096^3", lambda m, x, w, b, act=act: act(m, x @ w + b),
                      lambda x, w, b, t=torchs: t(torch.addmm(b, x, w)),
                      lambda: (normal(n, n, dtype=torch.float16) / 64, normal(n, n, dtype=torch.float16),
                               normal(n, dtype=torch.float16)), 0, tolerance=1e-2, compiled=False)  # fmt: skip
    side = 5000
    yield Contest(f"solve(a @ a.T + c eye, b), {side}",
                  lambda m, a, b: m.linalg.solve(a @ a.T + 0.01 * m.eye(side, dtype=numpy.float32), b),
                  lambda a, b: torch.linalg.solve(a @ a.T + 0.01 * torch.eye(side, device="cuda"), b),
                  lambda: (normal(side, side), normal(side, 500)), 0, tolerance=None, compiled=False)  # fmt: skip


def in_turns(calls, wait):
    """{name: median milliseconds of a call}; a round's calls are waited for together."""
    counts = {}
    for name, call in calls.items():
        call()
        wait()
        begin = time.perf_counter()
        call()
        wait()
        counts[name] = max(1, min(50, int(A_ROUND / (time.perf_counter() - begin))))
    times = {name: [] for name in calls}
    gc.disable()
    for _ in range(ROUNDS):
        for name, call in calls.items():
            wait()
            begin = time.perf_counter()
            for _ in range(counts[name]):
                call()
            wait()
            times[name].append((time.perf_counter() - begin) / counts[name])
    gc.enable()
    return {name: statistics.median(all) * 1e3 for name, all in times.items()}


def differs(torch, got, wanted, tolerance):
    """Why a result is none; "" where it agrees."""
    if tolerance is None:
        return ""
    for a, b in zip(*(r if isinstance(r, tuple) else (r,) for r in (got, wanted)), strict=True):
        a = torch.as_tensor(a, device="cuda")
        off = (a.double() - b.double()).abs().max().item() / max(b.double().abs().max().item(), 1e-30)
        if not off <= tolerance:
            return f"differs by {off:.1e} of the largest value"
    return ""


def shown(title, name, times, contest, copy):
    """One row: what, by whom, ms, as a multiple of ours, TB/s and its share of a copy's."""
    took = times[name]
    rate = contest.moved / took / 1e9 if contest.moved else 0
    ours = f"{took / times['xcuda']:.2f}" if name != "xcuda" and "xcuda" in times else ""
    share = f"{rate / copy:.2f}" if rate and copy else ""
    print(f"| {title} | {name} | {took:.3f} | {ours} | {rate:.2f} | {share} |" if rate else
          f"| {title} | {name} | {took:.3f} | {ours} | | |", flush=True)  # fmt: skip


def copy_rate(torch, wait):
    """TB/s, read and written."""
    a = torch.rand(1 << 27, device="cuda")
    b = torch.empty_like(a)
    return 2 * 4 * (1 << 27) / in_turns({"copy": lambda: b.copy_(a)}, wait)["copy"] / 1e9


def main(seconds):
    """Prints the table; ends within about `seconds`."""
    begin = time.perf_counter()
    try:
        import torch
    except ImportError:
        raise SystemExit(
            "bench/math.py on a GPU: its arrays and peers are torch's, which is not installed"
        ) from None
    try:
        import cupy
    except ImportError:
        cupy = None
    wait = torch.cuda.synchronize
    copy = copy_rate(torch, wait)
    libraries = f"torch {torch.__version__}, CuPy {cupy.__version__ if cupy else 'not here'}"
    print(f"{torch.cuda.get_device_name()}, {libraries}; {_measure.today()}; "
          f"a copy of 2^27 float32 moves {copy:.2f} TB/s\n")  # fmt: skip
    print(
        "| what | by | ms | / xcuda | TB/s | of a copy |\n| --- | --- | ---: | ---: | ---: | ---: |",
        flush=True,
    )
    ratios, later, goals = {}, [], []
    for contest in contests(torch, sys.modules["__main__"]):
        if time.perf_counter() - begin > seconds * 0.8:
            print(f"| {contest.title} | left out: the time is over | | | | |", flush=True)
            continue
        try:
            times = one(torch, cupy, contest, wait, copy)
        except Exception as error:  # the rows after it are wanted all the same
            print(f"| {contest.title} | {type(error).__name__}: {str(error)[:80]} | | | | |", flush=True)
            continue
        if contest.compiled and "xcuda" in times:
            later.append((contest, times))
        for name, took in times.items():
            if name != "xcuda" and "xcuda" in times:
                ratios.setdefault(name, []).append(took / times["xcuda"])
            if name == "xcuda" and contest.title.startswith(ROWS):
                goals.append((f"{contest.title}, of a copy", contest.moved / took / 1e9 / copy, 0.85))
            if name == "CuPy" and contest.title.startswith("solve") and "xcuda" in times:
                goals.append((f"{contest.title}, CuPy's time over ours", took / times["xcuda"], 1.5))
    compile_rows(torch, later, wait, copy, begin, seconds, ratios)
    print()
    for name, all_of_it in ratios.items():
        mean = calculus.exp(sum(map(calculus.log, all_of_it)) / len(all_of_it))
        _measure.result(f"{name} / xcuda, geometric mean of {len(all_of_it)}: {mean:.2f}")
    for contest, times in later:
        if "torch.compile" in times:
            ratio = times["torch.compile"] / times["xcuda"]
            _measure.goal(f"{contest.title}, torch.compile's time over ours", ratio, 1, least=True)
    for title, share, least in goals:
        _measure.goal(title, share, least, least=True)
    print(f"{time.perf_counter() - begin:.0f} s in all", flush=True)


def one(torch, cupy, contest, wait, copy):
    """Milliseconds of ours, CuPy's and torch's, the rows printed."""
    torch.cuda.empty_cache()
    given = contest.arrays()
    from xcuda import core, numeric

    ours = [numeric.asarray(core.as_device_array(t)) for t in given]
    fused = nvmath.jit(lambda *arrays: contest.function(nvmath, *arrays))
    calls = {"torch": lambda: contest.torchs(*given)}
    if cupy is not None:
        theirs = [cupy.asarray(t) for t in given]
        calls["CuPy"] = lambda: contest.function(cupy, *theirs)
    calls["xcuda"] = lambda: fused(*ours)
    wanted = calls["torch"]()
    firsts = {}
    for name in list(calls):
        wait()
        begin = time.perf_counter()
        try:
            problem = differs(torch, calls[name](), wanted, contest.tolerance)
        except Exception as error:  # a peer's fault ends its row, not the table
            problem = f"{type(error).__name__}: {str(error).splitlines()[0][:80]}"
        firsts[name] = time.perf_counter() - begin
        if problem:
            print(f"| {contest.title} | {name}: {problem} | | | | |", flush=True)
            del calls[name]
    del wanted
    times = in_turns(calls, wait)
    for name in times:
        shown(contest.title if name == "torch" else "", name, times, contest, copy)
    if "xcuda" in times:
        print(f"| | xcuda's first call | {firsts['xcuda'] * 1e3:.0f} | | | |", flush=True)
    return times


def compile_rows(torch, later, wait, copy, begin, seconds, ratios):
    """torch.compile's, the slowest to begin with, and ours in turns with it alone."""
    from xcuda import core, numeric

    for contest, times in later:
        if time.perf_counter() - begin > seconds * 0.85:
            print(f"| {contest.title} | torch.compile: the time is over | | | | |", flush=True)
            continue
        given = contest.arrays()
        compiled = torch.compile(contest.torchs)
        started = time.perf_counter()
        try:
            compiled(*given)
        except Exception as error:  # no compiler for it here, say
            print(f"| {contest.title} | torch.compile: {type(error).__name__} | | | | |", flush=True)
            continue
        wait()
        first = time.perf_counter() - started
        ours = [numeric.asarray(core.as_device_array(t)) for t in given]
        fused = nvmath.jit(lambda *arrays, f=contest.function: f(nvmath, *arrays))
        pair = {"torch.compile": lambda c=compiled, g=given: c(*g), "xcuda": lambda f=fused, o=ours: f(*o)}
        times.update(in_turns(pair, wait))
        shown(contest.title, "torch.compile", times, contest, copy)
        shown("", "xcuda", times, contest, copy)
        print(f"| | its first call | {first * 1e3:.0f} | | | |", flush=True)
        ratios.setdefault("torch.compile", []).append(times["torch.compile"] / times["xcuda"])
        del given, compiled, ours, fused, pair
        torch.cuda.empty_cache()
