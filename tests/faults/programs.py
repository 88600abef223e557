"""Programs with one fault each: every kind of fault, in the first, a middle and the last block, and in unusual places.

A program's source is made here from a kind and a place, as a user would have written it; what must come of it is an
exception of a type, with the line, the thread and the block, and a device that goes on.
"""

from __future__ import annotations

import dataclasses

THREADS, BLOCKS = 32, 6
N = THREADS * BLOCKS
BAD_THREAD = 5


@dataclasses.dataclass(frozen=True)
class Kind:
    """A fault: what the kernel says before it, the statement that faults, the exception and what its message holds."""

    statement: str
    error: str
    told: str
    before: str = ""
    needs_thread: bool = True  # the message names the thread


KINDS = {
    "index": Kind("out[i + n] = 1", "IndexError", "is out of range for axis 0 of out with shape (192,)"),
    "negative index": Kind("out[-i - n] = 1", "IndexError", "is out of range for axis 0 of out"),
    "read beyond": Kind(
        "out[i] = x[i + n]", "IndexError", "is out of range for axis 0 of x with shape (192,)"
    ),
    "shared index": Kind(
        "part[i + 64] = 1", "IndexError", "of part with shape (32,)", "part = cuda.shared.array(32, np.int64)"
    ),
    "local index": Kind(
        "mine[i + 4] = 1", "IndexError", "of mine with shape (4,)", "mine = cuda.local.array(4, np.int64)"
    ),
    "division": Kind(
        "out[i] = n // (x[i] - x[i])", "ZeroDivisionError", "integer division or modulo by zero"
    ),
    "modulo": Kind("out[i] = n % (x[i] - x[i])", "ZeroDivisionError", "integer division or modulo by zero"),
    "assertion": Kind("assert x[i] < 0, 'x must be negative'", "AssertionError", "x must be negative"),
    "raise": Kind("raise ValueError('no such element')", "ValueError", "no such element"),
    "unbound": Kind(
        "out[i] = late",
        "UnboundLocalError",
        "'late' is read before it has a value",
        "if n < 0:\n        late = i",
    ),
}

KERNEL = """
import numpy as np
import xcuda.core as cuda

{helper}

@cuda.kernel
def faulty(out, x, n):
    {before}
    i = cuda.grid(1)
    out[i] = x[i]
{body}

@cuda.kernel
def right(out, x, n):
    i = cuda.grid(1)
    if i < n:
        out[i] = 2 * x[i]
"""

ANYWHERE = "    if i == {bad}:\n        {statement}  # here"
IN_A_LOOP = (
    "    for k in range(10):\n"
    "        if i == {bad} and k == 7:\n"
    "            {statement}  # here\n"
    "        out[i] += k - k"
)
IN_A_HELPER = "    if i == {bad}:\n        helper(out, x, i, n)"
AT_A_BARRIER = (
    "    cuda.syncthreads()\n"
    "    if i == {bad}:\n"
    "        {statement}  # here\n"
    "    cuda.syncthreads()\n"
    "    out[i] = x[i]"
)


@dataclasses.dataclass(frozen=True)
class Program:
    """One faulty program. how: "call", "async", "streams" (a right one beside it), or "cell" (source runs by itself)."""

    name: str
    source: str
    error: str
    told: str
    block: int | None  # the faulting block; None: the message names none
    how: str = "call"
    on: str = ""  # the only kind of device that tells of it; empty: every one

    @property
    def line(self) -> int | None:
        """Where the fault is, from 1; None where no line is named."""
        return next((n for n, text in enumerate(self.source.splitlines(), 1) if "# here" in text), None)


def made(name, kind, block, body=ANYWHERE, how="call") -> Program:
    bad = block * THREADS + BAD_THREAD
    k = KINDS[kind]
    helper = ""
    if body is IN_A_HELPER:
        helper = f"def helper(out, x, i, n):\n    {k.statement}  # here"
    source = KERNEL.format(
        helper=helper, before=k.before or "pass", body=body.format(bad=bad, statement=k.statement)
    )
    return Program(f"{kind}, {name}", source, k.error, k.told, block, how)


BARRIER = """
import xcuda.core as cuda

@cuda.kernel
def faulty(out, x, n):
    i = cuda.grid(1)
    if cuda.blockIdx.x == {block} and cuda.threadIdx.x % 2:
        cuda.syncthreads()
        out[i] = 1
    else:
        cuda.syncthreads()
        out[i] = 2
"""

WARP = """
import xcuda.core as cuda

@cuda.kernel
def faulty(out, x, n):
    i = cuda.grid(1)
    if cuda.blockIdx.x == {block} and cuda.threadIdx.x == 5:
        cuda.syncwarp(1)
    out[i] = x[i]
"""

ENDLESS = """
import xcuda.core as cuda
from xcuda.core.time_limit import at_most

@cuda.kernel
def endless(out):
    i = cuda.grid(1)
    while out[i] == 0:
        {inside}

out = cuda.zeros(64, "int64")
with at_most(0.1):
    endless[2, 32](out)
    cuda.synchronize()
"""

TOO_MUCH = """
import xcuda.core as cuda

kept = cuda.zeros(1000)
device = cuda.Device()
before, device.memory_limit = device.memory_limit, device.memory()["used"] + (1 << 20)
try:
    {more}
finally:
    device.memory_limit = before
"""

FUSED = """
import numpy as np
import xcuda.numeric as xnp

a = xnp.arange(10)
{statement}
"""

TILES = """
import numpy as np
import xcuda.tiles as ct

@ct.tile_kernel(tile_size=(4, 4))
def scaled(A, C):
    ct.store(C, ct.load_shared(A) * 0.5)

C = np.ones((8, 8), {dtype})
C.flags.writeable = {writeable}
scaled(np.ones((8, 8)), C)
"""


def programs() -> list[Program]:
    """All of them, in the order in which they are run."""
    found = [
        made(f"{place} block", kind, block)
        for kind in KINDS
        for place, block in (("first", 0), ("middle", 3), ("last", BLOCKS - 1))
    ]
    found += [
        made("in a helper", kind, 2, IN_A_HELPER)
        for kind in ("index", "read beyond", "division", "assertion", "raise")
    ]
    found += [
        made("in a loop", kind, 1, IN_A_LOOP)
        for kind in ("index", "read beyond", "modulo", "assertion", "raise")
    ]
    found += [
        made("between barriers", kind, 4, AT_A_BARRIER)
        for kind in ("index", "shared index", "division", "raise")
    ]
    found += [
        made("awaited", kind, 3, how="async")
        for kind in ("index", "local index", "division", "assertion", "raise")
    ]
    found += [
        made("in one of two streams", kind, 3, how="streams")
        for kind in ("index", "shared index", "modulo", "assertion", "raise")
    ]
    found += [
        Program(
            f"barrier, block {block}",
            BARRIER.format(block=block),
            "RuntimeError",
            "threads wait at",
            block,
            on="cpu",  # a GPU takes two barriers for one, and says nothing
        )
        for block in (0, 3, BLOCKS - 1)
    ]
    found += [
        Program(f"warp mask, block {block}", WARP.format(block=block), "RuntimeError", "leaves out", block)
        for block in (0, BLOCKS - 1)
    ]
    found += [
        Program(
            f"timeout, {name}",
            ENDLESS.format(inside=inside),
            "TimeLimitError",
            "ran longer than",
            None,
            "cell",
        )
        for name, inside in (("plain", "out[i] += 0"), ("at a barrier", "cuda.syncthreads()"))
    ]
    found += [
        Program(
            f"memory, {name}", TOO_MUCH.format(more=more), "DeviceMemoryError", "may not hold", None, "cell"
        )
        for name, more in (
            ("one array", "cuda.zeros(1 << 24)"),
            ("little by little", "many = [cuda.zeros(1 << 12) for _ in range(1000)]"),
        )
    ]
    found += [
        Program(
            "fused, an index beyond",
            FUSED.format(statement="(a * 2 + 1)[np.array([3, 99])] + 1"),
            "IndexError",
            "99",
            None,
            "cell",
        ),
        Program(
            "fused, shapes that don't fit",
            FUSED.format(statement="(a * 2 + 1) + xnp.arange(7)"),
            "ValueError",
            "(10,)",
            None,
            "cell",
        ),
        Program(
            "tiles, a result that is read-only",
            TILES.format(dtype="float", writeable=False),
            "ValueError",
            "'C' is read-only",
            None,
            "cell",
        ),
        Program(
            "tiles, fractions into integers",
            TILES.format(dtype="int", writeable=True),
            "KernelSyntaxError",
            "would lose",
            None,
            "cell",
        ),
    ]
    return found
