"""Plans of fused kernels side by side on a GPU: rows read again, held in registers or streamed, how many threads a
multiprocessor has room for, elements and threads of each.

    python tests/gpu/rows_probe.py [NAMES] [--seconds 40]    needs a GPU, torch and NumPy; about half a minute

Functions are those of bench/math.py with TIMES the rows, so that the host's part of a call lies hidden behind the GPU's
(NAMES: what their titles begin with); every plan's result is compared with torch's. A line a plan: its milliseconds, its
share of what a copy takes (of 2^27 float32; one of as many bytes has a line), what the host has to do for a call, waiting left
out, and its kernels' own time.
"""

import argparse
import importlib.util
import statistics
import sys
import time
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent.parent / "bench"
TIMES = 4
ROWS = {"softmax", "layer norm", "RMS norm", "cross-entropy"}


def formulas():
    """bench/math.py, whose name the standard library has."""
    spec = importlib.util.spec_from_file_location("formulas", BENCH / "math.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def plans(title):
    """(name, (held, values of a thread, threads of a multiprocessor, streamed), threads of a block, elements of a thread)."""
    if any(title.startswith(name) for name in ROWS):
        yield "as it is", (None,), 0, 0
        yield "rows read again", (False,), 0, 0
        for values in (8, 16, 32):
            for threads in (0, 1536, 2048):
                room = f", room for {threads} threads" if threads else ""
                yield f"held, {values} a thread{room}", (True, values, threads, False), 0, 0
        if title.startswith("cross-entropy"):  # what has whole rows as a result is not streamed
            for values, threads in ((8, 2048), (16, 0), (16, 1536), (16, 2048), (32, 1536)):
                room = f", room for {threads} threads" if threads else ""
                yield f"streamed, {values} a thread{room}", (True, values, threads, True), 0, 0
        return
    yield "as it is", (None,), 0, 0
    if title.startswith("RoPE"):  # its concatenation is launched at once, as the device has it
        return
    yield "one element a thread", (None,), 0, 1
    for threads in (128, 512):
        yield f"{threads} threads a block", (None,), threads, 0


def call_of(contest, ours, plan, xnp, runtime):
    """The function as that plan has it, on arrays whose readers stay in the graph."""
    _, held, threads, elements = plan

    def call():
        runtime.set_numeric_held_rows(*held)
        made = contest.function(xnp, *(runtime.numeric_alias(a) for a in ours))
        made = list(made) if isinstance(made, tuple) else [made]
        runtime.numeric_compute(made, threads=threads, elements=elements)
        runtime.set_numeric_held_rows(None)
        return tuple(made) if len(made) > 1 else made[0]

    return call


def host_time(call, wait, calls=8):
    """Median microseconds until a call is back, the GPU idle before it."""
    times = []
    for _ in range(calls):
        wait()
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    wait()
    return statistics.median(times) * 1e6


def kernel_time(call, calls=5):
    """Milliseconds that the kernels of a call take, by the profiler's clock; a word where that can't be had."""
    from xcuda import core, profiler

    try:
        with profiler.profile() as p:
            for _ in range(calls):
                call()
            core.synchronize()
        return f"{sum(k['time']['total']['value'] for k in p.report.kernels) / calls * 1e3:.3f}"
    except Exception as error:  # the other figures are wanted all the same
        return type(error).__name__


def probe(contest, gpu, torch, copy):
    """Prints the function's lines."""
    from xcuda import _runtime, core, numeric

    torch.cuda.empty_cache()
    given = contest.arrays()
    ours = [numeric.asarray(core.as_device_array(t)) for t in given]
    wanted = contest.torchs(*given)
    calls = {"torch": lambda: contest.torchs(*given)}
    half = torch.empty(int(contest.moved) // 8, device="cuda")  # so many bytes in all, read and written
    other = torch.empty_like(half)
    calls["copy of as many bytes"] = lambda: other.copy_(half)
    for plan in plans(contest.title):
        call = call_of(contest, ours, plan, numeric, _runtime)
        try:
            problem = gpu.differs(torch, call(), wanted, contest.tolerance)
        except Exception as error:  # the other plans are wanted all the same
            problem = f"{type(error).__name__}: {str(error)[:120]}"
        if problem:
            print(f"| {contest.title} | {plan[0]} | {problem} | | | |", flush=True)
        else:
            calls[plan[0]] = call
    del wanted
    kernels = {
        name: kernel_time(call)
        for name, call in calls.items()
        if name in {p[0] for p in plans(contest.title)}
    }
    for name, took in gpu.in_turns(calls, torch.cuda.synchronize).items():
        rate = contest.moved / took / 1e9
        share = rate / copy if copy else 0
        host = host_time(calls[name], torch.cuda.synchronize)
        print(
            f"| {contest.title} | {name} | {took:.3f} | {rate:.2f} | {share:.2f} | {host:.0f} | {kernels.get(name, '')} |",
            flush=True,
        )


def main():
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="what the functions' titles begin with; none: all")
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("--times", type=int, default=TIMES, help="the rows of bench/math.py so many times")
    options = parser.parse_args()
    begin = time.perf_counter()
    sys.path.append(str(BENCH))
    import _math_on_a_gpu as gpu
    import torch

    copy = gpu.copy_rate(torch, torch.cuda.synchronize)
    print(f"{torch.cuda.get_device_name()}; a copy of 2^27 float32 moves {copy:.2f} TB/s\n")
    print(
        "| what | plan | ms | TB/s | of a copy | host, us | kernels, ms |\n| --- | --- | ---: | ---: | ---: | ---: | ---: |",
        flush=True,
    )
    for contest in gpu.contests(torch, formulas(), options.times):
        if not contest.moved or (
            options.names and not any(contest.title.startswith(n) for n in options.names)
        ):
            continue
        if time.perf_counter() - begin > options.seconds * 0.85:
            print(f"| {contest.title} | left out: the time is over | | | | |", flush=True)
            continue
        probe(contest, gpu, torch, copy)
    print(f"\n{time.perf_counter() - begin:.0f} s in all", flush=True)


if __name__ == "__main__":
    main()
