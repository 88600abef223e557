"""Our figures against Nsight Compute's, of the same kernels on the same GPU in one run: times, DRAM bytes, occupancy.

    python tests/gpu/truth.py            the comparison, as a Markdown table
    python tests/gpu/truth.py --launch   only launches the kernels, for ncu to look at

Ours are taken three ways: by events as a cell's report does, by CUPTI's activity records as `profiler.profile()` does, and
by hardware counters. Ends with 1 where registers, occupancy or DRAM bytes differ by more than they may; times are shown.
"""

import csv
import io
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from xcuda import core as cuda
from xcuda import profiler
from xcuda.profiler.recording import Recording

WARM, CALLS = 2, 5
LEAST_REGISTERS = 16  # that the hardware gives a thread: ncu tells no fewer
BIG = 1 << 26
SIDE = 8192


@cuda.kernel
def copy(a, b):
    i = cuda.grid(1)
    if i < a.shape[0]:
        b[i] = a[i]


@cuda.kernel
def scale64(a):
    i = cuda.grid(1)
    if i < a.shape[0]:
        a[i] = a[i] * 1.5


@cuda.kernel
def saxpy(x, y, t):
    i = cuda.grid(1)
    if i < x.shape[0]:
        y[i] = t * x[i] + y[i]


@cuda.kernel
def triad(a, b, c):
    i = cuda.grid(1)
    if i < a.shape[0]:
        a[i] = b[i] + 2.0 * c[i]


@cuda.kernel
def fused(x, y, z):
    i = cuda.grid(1)
    if i < x.shape[0]:
        z[i] = math.sqrt(abs(math.sin(x[i]) * math.cos(y[i]))) + math.exp(-y[i] * y[i])


@cuda.kernel
def stencil(a, b):
    i = cuda.grid(1)
    if 0 < i < a.shape[0] - 1:
        b[i] = 0.25 * a[i - 1] + 0.5 * a[i] + 0.25 * a[i + 1]


@cuda.kernel
def heat(a, b):
    j, i = cuda.grid(2)
    if 0 < i < a.shape[0] - 1 and 0 < j < a.shape[1] - 1:
        b[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])


@cuda.kernel
def transpose(a, b):
    j, i = cuda.grid(2)
    if i < a.shape[0] and j < a.shape[1]:
        b[j, i] = a[i, j]


@cuda.kernel
def transpose_tiled(a, b):
    tile = cuda.shared.array((32, 33), "float32")
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.blockIdx.x * 32 + tx, cuda.blockIdx.y * 32 + ty
    for k in range(0, 32, 8):
        tile[ty + k, tx] = a[i + k, j]
    cuda.syncthreads()
    j, i = cuda.blockIdx.y * 32 + tx, cuda.blockIdx.x * 32 + ty
    for k in range(0, 32, 8):
        b[i + k, j] = tile[tx, ty + k]


@cuda.kernel
def block_sums(a, out):
    part = cuda.shared.array(256, "float32")
    t, i = cuda.threadIdx.x, cuda.grid(1)
    part[t] = a[i]
    cuda.syncthreads()
    step = 128
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        out[cuda.blockIdx.x] = part[0]


@cuda.kernel
def matmul(a, b, c):
    j, i = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        t = 0.0
        for k in range(a.shape[1]):
            t += a[i, k] * b[k, j]
        c[i, j] = t


@cuda.kernel
def every_fourth(a, b):
    i = cuda.grid(1)
    if i < b.shape[0]:
        b[i] = a[4 * i]


@cuda.kernel
def gather(a, index, b):
    i = cuda.grid(1)
    if i < b.shape[0]:
        b[i] = a[index[i]]


@cuda.kernel
def divergent(a, b):
    i = cuda.grid(1)
    if i < a.shape[0]:
        x = a[i]
        if i % 2 == 0:
            for _ in range(64):
                x = x * 0.5 + 1.0
        b[i] = x


@cuda.kernel
def short(a):
    i = cuda.grid(1)
    if i < a.shape[0]:
        a[i] = a[i] + 1.0


def kernels():
    """(kernel, grid, block, arguments, whether its model of DRAM traffic is meant to hold)."""
    rng = np.random.default_rng(1)
    x = rng.random(BIG, dtype=np.float32)
    a, b, c = (cuda.to_device(x) for _ in range(3))
    d = cuda.to_device(rng.random(BIG))
    m, n = cuda.to_device(x.reshape(SIDE, -1)), cuda.zeros((SIDE, BIG // SIDE), "float32")
    square, turned = cuda.to_device(x.reshape(SIDE, SIDE)), cuda.zeros((SIDE, SIDE), "float32")
    index = cuda.to_device(rng.permutation(BIG).astype(np.int32))
    small = [cuda.to_device(x[: 1024 * 1024].reshape(1024, 1024)) for _ in range(3)]
    sums, quarter, few = (
        cuda.zeros(BIG // 256, "float32"),
        cuda.zeros(BIG // 4, "float32"),
        cuda.zeros(1000, "float32"),
    )
    line, plane = BIG // 256, (BIG // SIDE // 32, SIDE // 8)
    yield copy, line, 256, (a, b), True
    yield scale64, line, 256, (d,), True
    yield saxpy, line, 256, (a, b, 2.0), True
    yield triad, line, 256, (a, b, c), True
    yield fused, line, 256, (a, b, c), True
    yield stencil, line, 256, (a, b), True
    yield heat, plane, (32, 8), (m, n), True
    yield transpose, (SIDE // 32, SIDE // 8), (32, 8), (square, turned), False
    yield transpose_tiled, (SIDE // 32, SIDE // 32), (32, 8), (square, turned), True
    yield block_sums, line, 256, (a, sums), True
    yield matmul, (32, 128), (32, 8), tuple(small), False
    yield every_fourth, line // 4, 256, (a, quarter), False
    yield gather, line, 256, (a, index, b), False
    yield divergent, line, 256, (a, b), True
    yield short, 4, 256, (few,), False


def launch_all(each=lambda kernel, launch, regular: launch()):
    for kernel, grid, block, arguments, regular in kernels():

        def launch(times=1, run=kernel[grid, block], arguments=arguments):
            for _ in range(times):
                run(*arguments)
                cuda.synchronize()

        launch(WARM)
        each(kernel.__name__, launch, regular)


def ours() -> dict[str, dict]:
    rows = {}

    def measure(name, launch, regular):
        recording = Recording("block", name)
        launch(CALLS)
        (by_events,) = recording.report(wait=10.0, measure=True)["kernels"]
        with profiler.profile() as p:
            launch(CALLS)
        told = p.report.document["collection"]["activity"]
        (by_activity,) = p.report.kernels
        with profiler.profile(metrics=["dram_bytes", "achieved_occupancy"]) as p:
            launch(CALLS)
        counted = p.report.document["collection"]["counters"]
        (by_counters,) = p.report.kernels
        values = by_counters.get("counters", {}).get("values", {})
        rows[name] = {
            "regular": regular,
            "events": value(by_events["time"]["mean"]),
            "activity": value(by_activity["time"]["mean"]) if "source" in told else None,
            "counters": value(by_counters["time"]["min"]) if values else None,
            "registers": value(by_events["registers"]),
            "occupancy": value(by_events["occupancy"]["share"]),
            "achieved": value(values.get("achieved_occupancy", {})),
            "modelled": total(by_events, "bytes_read", "bytes_written"),
            "dram": total(values, "dram_read", "dram_written"),
            "why": told.get("absent") or counted.get("absent"),
        }

    launch_all(measure)
    return rows


def value(figure: dict) -> float | None:
    return figure.get("value")


def total(figures: dict, *names) -> float | None:
    values = [value(figures.get(name, {})) for name in names]
    return None if None in values else sum(values)


# The names that ncu has for what is compared.
NCU = {
    "time": "gpu__time_duration.sum",
    "read": "dram__bytes_read.sum",
    "written": "dram__bytes_write.sum",
    "registers": "launch__registers_per_thread",
    "occupancy": "sm__maximum_warps_per_active_cycle_pct",
    "achieved": "sm__warps_active.avg.pct_of_peak_sustained_active",
}


def theirs(ncu: str) -> dict[str, dict]:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "ncu.csv"
        told = subprocess.run(
            [
                ncu,
                "--csv",
                "--page",
                "raw",
                "--print-units",
                "base",
                "--clock-control",
                "none",
                "--cache-control",
                "none",
            ]
            + ["--metrics", ",".join(NCU.values()), "--log-file", log, sys.executable, __file__, "--launch"],
            capture_output=True,
            text=True,
            env=os.environ | {"XCUDA_DEVICE": "cuda:0"},
        )
        lines = log.read_text().splitlines() if log.exists() else []
    table = [line for line in lines if line.startswith('"')]
    if told.returncode or not table:
        raise SystemExit(f"ncu failed: {told.stderr.strip()[-500:]} {' '.join(lines[-3:])}")
    samples: dict[str, list[dict]] = {}
    for row in csv.DictReader(io.StringIO("\n".join(table))):
        if row["ID"]:  # the row under the header has the units
            samples.setdefault(row["Kernel Name"].split("(")[0], []).append(row)
    return {
        name: {
            key: statistics.median(float(row[metric].replace(",", "")) for row in rows[WARM:])
            for key, metric in NCU.items()
        }
        for name, rows in samples.items()
    }


def find(name: str, theirs: dict) -> dict | None:
    """Our entry names are the function's, with what tells its types behind."""
    found = [
        key for key in theirs if key == name or key.startswith((f"{name}_", f"k_{name}_", f"xcuda_{name}"))
    ]
    return theirs[min(found, key=len)] if found else None


def compare(mine: dict, other: dict) -> tuple[list[str], list[str]]:
    """A row of cells, and what is out of its bounds."""
    off = []

    def time(key):
        if mine[key] is None:
            return "–"
        us, true = mine[key] * 1e6, other["time"] * 1e-3
        if abs(us - true) > max(0.05 * true, 1.0):
            off.append(f"time by {key} {us:.2f} us")
        return f"{us:.2f}"

    big = other["read"] + other["written"] > 1 << 22  # below, what other work leaves in the caches is as much

    def bytes_of(key, most, bound):
        if mine[key] is None or not big:
            return "–"
        true = other["read"] + other["written"]
        ratio = mine[key] / true if true else float("nan")
        if bound and abs(ratio - 1) > most:
            off.append(f"bytes {key} {ratio:.3f}")
        return f"{ratio:.3f}"

    cells = [f"{other['time'] * 1e-3:.2f}", time("events"), time("activity"), time("counters")]
    cells += [f"{(other['read'] + other['written']) / 1e6:.1f}", bytes_of("dram", 0.05, True)]
    cells += [
        bytes_of("modelled", 0.15, mine["regular"])
        if mine["regular"]
        else f"({bytes_of('modelled', 1, False)})"
    ]
    registers = f"{mine['registers']:.0f}"
    if max(mine["registers"], LEAST_REGISTERS) != other["registers"]:
        off.append("registers")
        registers += f" ({other['registers']:.0f})"
    occupancy = f"{100 * mine['occupancy']:.1f}"
    if abs(100 * mine["occupancy"] - other["occupancy"]) > 0.1:
        off.append("occupancy")
        occupancy += f" ({other['occupancy']:.1f})"
    achieved = "–" if mine["achieved"] is None else f"{100 * mine['achieved']:.1f}, {other['achieved']:.1f}"
    return [*cells, registers, occupancy, achieved], off


def main() -> int:
    if "--launch" in sys.argv:
        launch_all(lambda name, launch, regular: launch(CALLS))
        return 0
    ncu = shutil.which("ncu") or shutil.which("ncu", path="/usr/local/cuda/bin:/opt/nvidia/nsight-compute")
    if ncu is None:
        print("There is no ncu here (it comes with the CUDA toolkit): nothing was compared.")
        return 77
    mine = ours()
    if path := os.environ.get("XCUDA_TRUTH_JSON"):
        Path(path).write_text(json.dumps(mine, indent=1))
    others = theirs(ncu)
    head = ["kernel", "ncu, us", "events", "CUPTI", "counters", "ncu, DRAM MB", "counters /", "modelled /"]
    head += ["registers", "occupancy, %", "achieved, %: ours, ncu"]
    print(f"| {' | '.join(head)} |\n| --- |{' ---: |' * (len(head) - 1)}")
    wrong, slow = [], []
    for name, row in mine.items():
        other = find(name, others)
        if other is None:
            wrong.append(f"{name}: ncu saw {', '.join(others)}")
            continue
        cells, off = compare(row, other)
        print(f"| {name} | {' | '.join(cells)} |")
        slow += [f"{name}: {each}" for each in off if each.startswith("time")]
        wrong += [f"{name}: {each}" for each in off if not each.startswith("time")]
    why = {row["why"] for row in mine.values() if row["why"]}
    print(
        f"\nresult: {len(mine)} kernels, medians of {CALLS} calls; times within 5 % or 1 us but for: {'; '.join(slow) or 'none'}."
    )
    print(
        f"result: registers, occupancy, bytes (5 % counted, 15 % modelled) but for: {'; '.join(wrong) or 'none'}."
    )
    if why:
        print("\n".join(f"result: {each}" for each in sorted(why)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
