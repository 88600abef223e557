"""What ProfileGuidedOptimizer makes of four kernels as people write them, on the present device.

./run bench guided              all four
python bench/guided.py NAMES    these; --device cpu or cuda:0, --seconds of search for each, --json FILE

Goals (issue 6): 2x, 2x, 1.2x and 1.5x on a GPU, and nowhere slower than 1.02x of the kernel as given. Device times,
medians of turns, measured anew after the search.
"""

import argparse
import json
import math
import sys

import _measure
import numpy as np
import xcuda.core as cuda
from xcuda.profiler import ProfileGuidedOptimizer
from xcuda.profiler.guided import measure
from xcuda.profiler.guided.sample import Sample

SLOWEST = 1.02


@cuda.kernel
def matrix_multiply(A, B, C):
    i, j = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        temp = 0.0
        for k in range(A.shape[1]):
            temp += A[i, k] * B[k, j]
        C[i, j] = temp


@cuda.kernel
def transpose(out, a):
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = a[j, i]


@cuda.kernel
def two_ways(out, x, threshold):
    i = cuda.grid(1)
    if i < out.size:
        if x[i] > threshold:
            t = x[i]
            for _ in range(8):
                t = math.sin(t) * math.exp(-t) + x[i]
            out[i] = t
        else:
            t = 1 - x[i]
            for _ in range(8):
                t = math.cos(t) * math.log(t + 2) + x[i]
            out[i] = t


@cuda.kernel
def scaled(out, x, a):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a * x[i] + out[i]


def products(n):
    rng = np.random.default_rng(1)
    return rng.random((n, n), np.float32), rng.random((n, n), np.float32), np.zeros((n, n), np.float32)


def squares(n):
    return np.zeros((n, n), np.float32), np.random.default_rng(2).random((n, n), np.float32)


def halves(n):
    return np.zeros(n, np.float32), np.random.default_rng(3).random(n, np.float32), np.float32(0.5)


def lines(n):
    return np.zeros(n, np.float32), np.random.default_rng(4).random(n, np.float32), np.float32(2)


# Name: (kernel as given for arguments, arguments by size, size on a GPU and on the CPU device, goal on a GPU).
WORK = {
    "matmul": (lambda A, B, C: matrix_multiply, products, 2048, 512, 2.0),
    "matmul 16x16": (
        lambda A, B, C: matrix_multiply[(-(-C.shape[0] // 16), -(-C.shape[1] // 16)), (16, 16)],
        products,
        2048,
        512,
        2.0,
    ),  # fmt: skip
    "transpose": (
        lambda out, a: transpose[(-(-out.shape[0] // 32), -(-out.shape[1] // 8)), (32, 8)],
        squares,
        8192,
        2048,
        2.0,
    ),  # fmt: skip
    "divergent": (lambda out, x, t: two_ways, halves, 1 << 25, 1 << 20, 1.2),
    "small block": (lambda out, x, a: scaled[-(-out.size // 32), 32], lines, 1 << 26, 1 << 22, 1.5),
}


def contest(name, device, seconds):
    """(given seconds, optimised seconds, report): measured side by side after the search."""
    make, arguments, large, small, _ = WORK[name]
    values = arguments(large if device.kind == "cuda" else small)
    held = [cuda.to_device(v) if isinstance(v, np.ndarray) else v for v in values]
    given = make(*values)
    optimizer = ProfileGuidedOptimizer(seconds=seconds, keep=False, devices=[device.label])
    chosen = optimizer.optimize(given, *held)
    sample = Sample(tuple(held))
    written = [i for i, v in enumerate(values) if isinstance(v, np.ndarray)]
    before, after = measure.side_by_side(
        [given, chosen], sample, written, [device.label] * 2, max(1, seconds / 2)
    )
    return before, after, chosen.report


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(WORK)}; all by default")
    parser.add_argument("--device", help="cpu or cuda:0; the present one by default")
    parser.add_argument("--seconds", type=float, default=4.0, help="of search for each kernel")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--report", action="store_true", help="every variant that was tried, too")
    options = parser.parse_args()
    unknown = [n for n in options.names if n not in WORK]
    if unknown:
        parser.error(f"there is no {unknown[0]!r}; there are {', '.join(WORK)}")
    device = cuda.Device(options.device) if options.device else cuda.Device()
    device.use()
    gpu = device.kind == "cuda"
    rows, figures, missed = [], {}, []
    for name in options.names or WORK:
        goal = WORK[name][-1]
        before, after, report = contest(name, device, options.seconds)
        gain = before / after
        verdict = (
            "slower than as given" if gain * SLOWEST < 1 else "goal missed" if gpu and gain < goal else ""
        )
        if verdict:
            missed.append(name)
        rows.append((
            name, _measure.milliseconds(before * 1e3), _measure.milliseconds(after * 1e3), f"{gain:.2f}x",
            f"{goal:g}x" if gpu else f">= {1 / SLOWEST:.2f}x", report.winner, verdict,
        ))  # fmt: skip
        figures[name] = {"given": before, "chosen": after, "gain": gain, "winner": report.winner}
        _measure.goal(f"{name} optimised, gain", gain, goal if gpu else 1 / SLOWEST, least=True)
        if options.report:
            print(report, end="\n\n", flush=True)
    print(f"{_measure.today()}, {_measure.machine()}, {device.label} {device.name}")
    print(_measure.table(rows, ("kernel", "as given", "optimised", "gain", "goal", "by", "")), end="\n\n")
    if options.json:
        with open(options.json, "w") as file:
            json.dump(figures, file, indent=1)
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
