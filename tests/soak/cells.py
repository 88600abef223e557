"""The cells of a soak: a bounded set of texts, each with what must come of it, so that memory has nothing to grow for."""

from __future__ import annotations

import random
from dataclasses import dataclass

SETUP = """
import numpy as np
import xcuda.core as cuda
from xcuda import profiler
import xcuda.numeric as xnp

@cuda.kernel
def scaled(out, x, by):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = by * x[i]

@cuda.kernel
def block_sums(sums, x):
    part = cuda.shared.array(64, np.int64)
    t = cuda.threadIdx.x
    part[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    step = 32
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = part[0]

@cuda.kernel
def endless(x):
    while x[0] == 0:
        x[1] += 1
"""

# The log keeps 65,536 events, of launches, copies and arrays: a process grows until it is full, and then no more.
FILL = """
from xcuda import _runtime
_begun = _runtime.profile_mark()
while _runtime.profile_mark() - _begun < 66_000:
    for n in range(1, 200):
        x = cuda.to_device(np.arange(n))
        out = cuda.zeros(n, np.int64)
        scaled(out, x, n % 7)
"""


@dataclass(frozen=True)
class Cell:
    """kind; the text; the result's text (None: none is looked at); the exception's name where one must come."""

    kind: str
    text: str
    result: str | None = None
    error: str | None = None


def launch(rng: random.Random) -> Cell:
    n, by = rng.choice([1, 100, 4096, 50_000]), rng.randrange(2, 6)
    return Cell(
        "launch",
        f"x = cuda.to_device(np.arange({n}))\nout = cuda.zeros({n}, np.int64)\nscaled(out, x, {by})\n"
        f"int(out.copy_to_host().sum())",
        str(by * n * (n - 1) // 2),
    )


def shared(rng: random.Random) -> Cell:
    blocks = rng.choice([1, 7, 64])
    n = 64 * blocks
    return Cell(
        "barriers",
        f"s = np.zeros({blocks}, np.int64)\nblock_sums[{blocks}, 64](s, np.arange({n}))\nint(s.sum())",
        str(n * (n - 1) // 2),
    )


def host(rng: random.Random) -> Cell:
    n = rng.choice([10, 1000])
    return Cell("host arrays", f"o = np.zeros({n})\nscaled(o, np.ones({n}), 3)\nfloat(o.sum())", f"{3.0 * n}")


def fault(rng: random.Random) -> Cell:
    n = rng.choice([10, 300])
    return Cell(
        "error", f"scaled(cuda.zeros({n}), cuda.zeros({n - 1}), 2)\ncuda.synchronize()", error="IndexError"
    )


def refused(rng: random.Random) -> Cell:
    word = rng.choice(["yield i", "import os", "x[i].nothing()"])
    text = f"@cuda.kernel\ndef wrong(x):\n    i = cuda.grid(1)\n    {word}\nwrong[1, 1](np.zeros(1))"
    return Cell("error", text, error="KernelSyntaxError")


def python_error(rng: random.Random) -> Cell:
    return Cell("error", f"held = cuda.zeros(1000)\n{rng.randrange(5)} / 0", error="ZeroDivisionError")


def redefine(rng: random.Random) -> Cell:
    by = rng.randrange(2, 12)
    return Cell(
        "redefine",
        f"@cuda.kernel\ndef again(x):\n    i = cuda.grid(1)\n    if i < x.shape[0]:\n        x[i] *= {by}\n"
        f"y = np.ones(5)\nagain(y)\nfloat(y[4])",
        f"{float(by)}",
    )


def free(rng: random.Random) -> Cell:
    what = rng.choice(["--unused", "big", "big big"])
    return Cell("free", f"big = cuda.zeros({rng.choice([1000, 200_000])})\n%cuda_free {what}")


def profile(rng: random.Random) -> Cell:
    return Cell(
        "profile", f"%%cuda_profile -q -o r -n {rng.randrange(1, 4)}\nscaled(np.zeros(100), np.ones(100), 2)"
    )


def check(rng: random.Random) -> Cell:
    return Cell("check", f"len(cuda.check(scaled, np.zeros(64), np.ones(64), {rng.randrange(2, 5)}))", "0")


def arrays(rng: random.Random) -> Cell:
    n = rng.choice([10, 5000])
    return Cell("numeric", f"a = xnp.arange({n})\nint((a * 2 + 1).sum())", str(n * n))


def interrupt(rng: random.Random) -> Cell:
    text = rng.choice(["e = cuda.zeros(2, np.int64)\nprint('begun')\nendless[1, 1](e)\ncuda.synchronize()",
                       "print('begun')\nwhile True: pass"])  # fmt: skip
    return Cell("interrupt", text, error="KeyboardInterrupt")


# How often each comes, of 100.
KINDS = (
    (launch, 25), (shared, 12), (host, 12), (fault, 10), (refused, 4), (python_error, 5), (redefine, 10), (free, 8),
    (profile, 5), (check, 3), (arrays, 4), (interrupt, 2),
)  # fmt: skip


def cell(rng: random.Random) -> Cell:
    [make] = rng.choices([make for make, _ in KINDS], [weight for _, weight in KINDS])
    return make(rng)
