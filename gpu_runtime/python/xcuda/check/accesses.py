"""`draw`: which elements each thread of a small launch reads and writes, as a picture and as lines of text."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math

from xcuda import _runtime
from xcuda.check.copies import host_copies
from xcuda.check.session import _hooked, _Looked

MOST_DRAWN, MOST = 20_000, 100_000  # accesses that are written down: for a picture, for a proof
_DID = ("reads", "writes", "changes")


@dataclasses.dataclass(frozen=True)
class Access:
    """One access of one thread.

    did: "reads", "writes" or "changes" (an atomic operation). block, thread: (x, y, z). array: its name in the kernel,
    index: one number an axis. line: of the kernel's file or cell. phase: how many barriers the thread had passed.
    """

    did: str
    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    array: str
    index: tuple[int, ...]
    line: int
    phase: int

    @property
    def element(self) -> str:
        """As it is written: `x[3, 4]`."""
        return f"{self.array}[{', '.join(map(str, self.index))}]"


@dataclasses.dataclass(frozen=True)
class Drawing:
    """What `draw` gives: a picture in a notebook, lines of text elsewhere.

    kernel, grid, block_shape: the launch. drawn_block: (x, y, z) of the only block that was looked at, None for all.
    arrays: {name: shape}, with shared arrays; shared: their names. accesses: in the order of the run. complete: False
    where there were more. error: what ended the launch, "" for nothing. svg: the picture, for a file.
    """

    kernel: str
    grid: tuple[int, int, int]
    block_shape: tuple[int, int, int]
    drawn_block: tuple[int, int, int] | None
    arrays: dict[str, tuple[int, ...]]
    shared: frozenset[str]
    accesses: tuple[Access, ...]
    complete: bool
    error: str
    left_out: str = ""  # why only one block was looked at

    def __iter__(self):
        return iter(self.accesses)

    def __len__(self) -> int:
        return len(self.accesses)

    def of(self, thread, block=(0, 0, 0)) -> list[Access]:
        """The accesses of one thread; thread and block are ints or (x, y, z)."""
        thread, block = _triple(thread), _triple(block)
        return [a for a in self.accesses if (a.thread, a.block) == (thread, block)]

    @functools.cached_property
    def _picture(self):
        from xcuda.check.pictured import pictured

        return pictured(self)

    @property
    def svg(self) -> str:
        """The picture, as SVG."""
        return self._picture[0]

    @property
    def notes(self) -> list[str]:
        """What the picture leaves out, and what ended the launch: a sentence each."""
        return [note for note in (self.left_out, *self._picture[1], self.error) if note]

    def __repr__(self) -> str:
        from xcuda.check.pictured import accesses_text

        return accesses_text(self)

    def _repr_html_(self) -> str:
        from xcuda.check.pictured import accesses_html

        return accesses_html(self)


def draw(kernel, *arguments, block=None) -> Drawing:
    """Draws what each thread of a launch of a kernel, or of kernel[grid, block], reads and writes.

    The kernel runs on the CPU device over copies, with its checks; nothing that the caller holds is changed. Arrays
    that are read stand on the left, those that are written on the right, and there is a row of the picture for what is
    done between two barriers. block: the only block to look at, an int or (x, y, z); without it all blocks of a launch
    of up to 64 threads, the first one of a larger launch.

    Raises TypeError for what is no kernel, IndexError for a block that the launch does not have, and what the call
    itself would raise for such arguments.
    """
    made = []

    def look(callee, values):
        before = _runtime.set_launch_hook(None)
        try:
            made.append(_drawn(callee, values, block))
        finally:
            _runtime.set_launch_hook(before)
        raise _Looked

    _only_kernels(kernel, "draw")
    with contextlib.suppress(_Looked), _hooked(look):
        kernel(*arguments)
    return made[0]


def _only_kernels(kernel, who: str) -> None:
    if not isinstance(kernel, (_runtime.Kernel, _runtime.Configured)):
        raise TypeError(f"{who} takes a kernel, or kernel[grid, block], not {type(kernel).__name__}")


def _drawn(callee, values, block) -> Drawing:
    from xcuda.check.pictured import MOST_THREADS

    grid, shape = _runtime.launch_shape(callee, tuple(host_copies(values)))
    left_out = ""
    if block is None:
        threads = math.prod((*grid, *shape))
        number = -1 if threads <= MOST_THREADS or math.prod(grid) == 1 else 0
        if number == 0:
            left_out = f"Of the launch's {threads:,} threads only block (0, 0, 0) is drawn: block= names another one."
    else:
        at = _triple(block)
        if any(not 0 <= i < n for i, n in zip(at, grid, strict=True)):
            raise IndexError(f"there is no block {at} in this launch: it has {tuple(grid)}")
        number = at[0] + grid[0] * (at[1] + grid[1] * at[2])
    drawn = traced(callee, host_copies(values), number, MOST_DRAWN, to_the_end=False)
    return dataclasses.replace(drawn, left_out=left_out)


def traced(callee, copies, number: int = -1, most: int = MOST, to_the_end: bool = True) -> Drawing:
    """Runs a launch over host arrays, which are written to; number: the only block, -1 for all."""
    kernel = callee.kernel if isinstance(callee, _runtime.Configured) else callee
    found = _runtime.thread_accesses(callee, tuple(copies), number, most, to_the_end)
    if found is None:
        raise TypeError(f"{kernel.__name__} is a kernel of tiles: its threads are the compiler's")
    grid, shape = tuple(found["grid"]), tuple(found["block"])
    arrays = {name: tuple(extents) for name, _, extents in found["arrays"]}
    names = [name for name, _, _ in found["arrays"]]
    at_block = functools.cache(functools.partial(_at, lengths=grid))
    at_thread = functools.cache(functools.partial(_at, lengths=shape))
    accesses, changed = [], None
    for did, block, thread, array, element, line, phase in found["touches"]:
        if did == 0 and changed == (block, thread, array, element):
            continue  # the reading that an atomic operation does itself
        changed = (block, thread, array, element) if did == 2 else None
        index = _index(element, arrays[names[array]])
        accesses.append(
            Access(_DID[did], at_block(block), at_thread(thread), names[array], index, line, phase)
        )
    return Drawing(
        kernel=kernel.__name__,
        grid=grid,
        block_shape=shape,
        drawn_block=None if number < 0 else at_block(number),
        arrays=arrays,
        shared=frozenset(name for name, shared, _ in found["arrays"] if shared),
        accesses=tuple(accesses),
        complete=not found["cut"],
        error="" if found["fault"] is None else "{}: {}".format(*found["fault"]),
    )


def _triple(at) -> tuple[int, int, int]:
    at = (at,) if hasattr(at, "__index__") else tuple(at)
    return tuple(int(i) for i in (*at, 0, 0)[:3])


def _at(number, lengths):
    return number % lengths[0], number // lengths[0] % lengths[1], number // lengths[0] // lengths[1]


def _index(element: int, extents) -> tuple[int, ...]:
    index = []
    for length in reversed(extents):
        index.append(element % length)
        element //= length
    return tuple(reversed(index))
