"""The variants of a kernel that the optimiser tries: what each changes, and the kernel that it makes."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

import numpy as np

from xcuda import _runtime
from xcuda.core.kernels import OPTION_NAMES, clone
from xcuda.profiler.guided.sample import is_array

# Shapes of blocks by the number of axes; xcuda's own choice is the first.
BLOCKS = {
    1: [(256, 1, 1), (64, 1, 1), (128, 1, 1), (512, 1, 1), (1024, 1, 1)],
    2: [(32, 8, 1), (16, 16, 1), (32, 4, 1), (32, 16, 1), (64, 4, 1), (128, 2, 1), (256, 1, 1), (8, 32, 1)],
    3: [(32, 4, 2), (8, 8, 4), (16, 4, 4), (32, 8, 1), (64, 2, 2), (128, 1, 1)],
}
ORDERS = {2: [(0, 1, 2), (1, 0, 2)], 3: [(0, 1, 2), (1, 0, 2), (2, 1, 0)]}
SMALL_LENGTH = 32  # a loop over so few is worth unrolling
REGISTERS = (32, 64)
TURNS = (2, 4, 8)
MOSTLY = 0.9  # of the threads that come to a branch
ROWS = (2, 4, 8)  # of a thread's tile: what its loops load of one row serves all of them
STAGED = (8, 16, 32)  # turns of a loop whose rows a block fetches into shared memory at a time


@dataclass(frozen=True)
class Variant:
    """What differs from the kernel as given. Nothing: xcuda's own choice of a launch's shape.

    fixed: ((parameter, axis or -1, value or length), ...), taken to be constant. likely: ((line from the kernel's own,
    whether the branch there is mostly taken), ...). turns: of the innermost loops, written out at once. elements: of a
    thread's vectors, 1: none. staged: turns of a loop whose rows a block fetches into shared memory at a time.
    """

    device: str
    block: tuple[int, int, int] | None = None
    order: tuple[int, int, int] | None = None
    elements: int | None = None
    fixed: tuple[tuple[int, int, float | int | bool], ...] = ()
    fastmath: bool = False
    max_registers: int = 0
    most_threads: int = 0
    rows: int | None = None
    likely: tuple[tuple[int, bool], ...] = ()
    turns: int = 0
    staged: int = 0

    def words(self, names) -> str:
        """A few words on it, with the parameters' names."""
        parts = []
        if self.block:
            parts.append("block " + "x".join(str(n) for n in self.block if n > 1 or self.block == (1, 1, 1)))
        if self.order:
            parts.append("axes on " + ", ".join("xyz"[axis] for axis in self.order))
        if self.elements:
            parts.append("one element a thread" if self.elements == 1 else f"vectors of {self.elements}")
        if self.rows:
            parts.append(f"tiles of {self.rows} rows a thread")
        if self.staged:
            parts.append(f"rows in shared memory, {self.staged} turns at a time")
        if self.fixed:
            parts.append("constant " + ", ".join(_fixed_words(names, self.fixed)))
        if self.turns:
            parts.append(f"{self.turns} turns of loops at once")
        if self.likely:
            parts.append("branches laid out as they go")
        if self.fastmath:
            parts.append("fast math")
        if self.max_registers:
            parts.append(f"at most {self.max_registers} registers")
        if self.most_threads:
            parts.append(f"launch bounds {self.most_threads}")
        return ", ".join(parts) or "the launch's shape chosen by xcuda"

    def make(self, kernel, values):
        """The kernel; `values` are a call's, of the types that its constants have."""
        changes = {"fastmath": True} if self.fastmath else {}
        if self.max_registers:
            changes["max_registers"] = self.max_registers
        if self.most_threads:
            changes["most_threads"] = self.most_threads
        made = clone(kernel, **changes)
        made.about.only_on = self.device
        fixed = [(i, axis, values[i] if axis < 0 else value) for i, axis, value in self.fixed]
        _runtime.tune(
            made,
            only_on=self.device,
            block=self.block,
            order=self.order,
            elements=self.elements,
            rows=self.rows,
            fixed=fixed,
            likely=list(self.likely),
            turns=self.turns,
            staged=self.staged,
        )
        return made

    def to_json(self) -> dict:
        """For a file; from_json is the way back."""
        return asdict(self)

    @staticmethod
    def from_json(data: dict) -> Variant:
        """Raises TypeError or ValueError for what is no variant."""

        def three(value):
            return None if value is None else tuple(map(int, value))

        fixed = tuple((int(i), int(axis), value) for i, axis, value in data["fixed"])
        likely = tuple((int(line), bool(taken)) for line, taken in data["likely"])
        shaped = {"block": three(data["block"]), "order": three(data["order"])}
        return Variant(**(data | shaped | {"fixed": fixed, "likely": likely}))


def _fixed_words(names, fixed) -> list[str]:
    words = [f"{names[i]} = {value}" for i, axis, value in fixed if axis < 0]
    for parameter in dict.fromkeys(i for i, axis, _ in fixed if axis >= 0):
        lengths = {axis: value for i, axis, value in fixed if i == parameter}
        shape = ", ".join(str(lengths.get(axis, ":")) for axis in range(max(lengths) + 1))
        words.append(f"{names[parameter]} of shape ({shape}{',' if max(lengths) == 0 else ''})")
    return words


def stages(kernel, values, layout, is_gpu, may_shape, branches=()):
    """The steps of the search: functions from the best variant so far to those to try next.

    layout: _runtime.layout's of these values. may_shape: the launch's shape may be changed. branches: seen.branches'.
    """
    axes = len(layout["domain"])
    steps = []
    if may_shape:
        steps.append(lambda best: [replace(best, block=b) for b in BLOCKS[axes]])
        if is_gpu and layout["free"]:
            steps.append(lambda best: _layouts(best, axes, layout))
            if layout["most_rows"] > 1:
                steps.append(lambda best: [replace(best, rows=r) for r in ROWS if r <= layout["most_rows"]])
                steps.append(lambda best: [replace(best, block=b) for b in BLOCKS[axes]] if best.rows else [])
                steps.append(lambda best: [replace(best, elements=n) for n in (2, 8)] if best.rows else [])
    steps.append(lambda best: [replace(best, fixed=f) for f in constants(values)])
    if may_shape and is_gpu and layout["free"]:  # lengths that are known by now make more tiles possible
        steps.append(
            lambda best: [replace(best, staged=n) for n in STAGED] if layout["staged"] or best.fixed else []
        )
        steps.append(lambda best: [replace(best, block=b) for b in BLOCKS[axes]] if best.staged else [])
    if is_gpu and layout["loops"]:
        steps.append(lambda best: [replace(best, turns=n) for n in TURNS])
    if skewed := likely(branches):
        steps.append(lambda best: [replace(best, likely=skewed)])
    if not kernel.about.options[OPTION_NAMES.index("fastmath")] and _has_floats(values):
        steps.append(lambda best: [replace(best, fastmath=True)])
    if is_gpu:
        steps.append(lambda best: _resources(best))
    return steps


def likely(branches) -> tuple[tuple[int, bool], ...]:
    """The branches that nearly all threads leave on one side: (line from the kernel's own, whether it is taken)."""
    found = {}
    for row in branches:
        if (line := row.get("from_kernel")) is not None:
            found.setdefault(line, []).append(row["taken"])
    sides = ((line, shares[0]) for line, shares in found.items() if len(shares) == 1)  # else: which of them?
    return tuple((line, share > 0.5) for line, share in sides if not 1 - MOSTLY < share < MOSTLY)


def _layouts(best, axes, layout):
    orders = [o for o in ORDERS.get(axes, []) if o != tuple(layout["order"])]
    found = [replace(best, order=o) for o in orders]
    if (most := layout["elements"]) > 1:
        found += [replace(best, elements=n) for n in dict.fromkeys((1, max(most // 2, 1), most * 2))]
    return found


def _resources(best):
    found = [replace(best, max_registers=n) for n in REGISTERS]
    if best.block:
        threads = best.block[0] * best.block[1] * best.block[2]
        found.append(replace(best, most_threads=threads))
    return found


def constants(values):
    """Sets of constants worth trying: the numbers; numbers and small lengths; all lengths too. Each is one more."""
    numbers, small, all_lengths = [], [], []
    for i, value in enumerate(values):
        if not is_array(value):
            plain = value.item() if isinstance(value, np.generic) else value
            numbers.append((i, -1, plain))
            continue
        for axis, length in enumerate(value.shape):
            all_lengths.append((i, axis, int(length)))
            if length <= SMALL_LENGTH:
                small.append((i, axis, int(length)))
    sets = []
    for one in (numbers, numbers + small, numbers + all_lengths):
        if one and tuple(one) not in sets:
            sets.append(tuple(one))
    return sets


def _has_floats(values) -> bool:
    return any(np.dtype(v.dtype).kind in "fc" for v in values if is_array(v)) or any(
        isinstance(v, float) for v in values
    )
