"""A line that tells what takes long while a cell runs: a compile, a copy, a kernel. Nothing appears in a cell's first
second, and nothing is asked of the runtime in it."""

from __future__ import annotations

import contextlib
import os
import queue
import sys
import threading
import time
from collections.abc import Callable

import xcuda

AFTER = 1.0  # seconds before a line appears
EVERY = 0.5  # and between lines
LINGERS = 30.0  # seconds after a cell in which the thread looks for the next by itself

_after: float | None = None if os.environ.get("XCUDA_PROGRESS", "") in ("0", "off") else AFTER


def show_progress(after: float | bool | None = None) -> float | None:
    """After how many seconds a compile, copy or kernel is told of while a cell runs; None: never.

    With an argument, sets it from the next cell on: seconds, True (1 s) or False. XCUDA_PROGRESS=off is False at
    first. ValueError for less than 0 seconds.
    """
    global _after
    if isinstance(after, bool):
        _after = AFTER if after else None
    elif after is not None:
        if not after >= 0:
            raise ValueError(f"a line of progress appears after 0 seconds or more, not after {after!r}")
        _after = float(after)
    return _after


VERBS = {
    "compile": ("compiling {}", "compiled {}"),
    "copy": ("copying {}", "copied {}"),
    "launch": ("{}", "{} ran for"),
}


def line(what: str, name: str, seconds: float, share: float | None) -> str:
    """ "compiling k for sm_90, 2 s"; "k: 37 % of its blocks begun, 3 s, about 5 s left"."""
    told = VERBS[what][0].format(name or "a kernel")
    spent = f"{seconds:.0f} s"
    if share is None:
        return f"{told}, {spent}" if what != "launch" else f"{told}: running, {spent}"
    left = f", about {seconds * (1 - share) / share:.0f} s left" if 0 < share < 1 else ""
    return f"{told}: {100 * share:.0f} % of its blocks begun, {spent}{left}"


def last_line(what: str, name: str, seconds: float) -> str:
    """ "compiled k for sm_90, 2.3 s": what stays in the place of the line."""
    return f"{VERBS[what][1].format(name or 'a kernel')}{' ' if what == 'launch' else ', '}{seconds:.1f} s"


class Teller:
    """Tells of one cell after the other, on a thread of its own.

    `show(text, which)` shows a line: the "first" of its cell, then a "next" or the "last" in its place.
    `under_way(mark)` is the runtime's. The thread is woken by no cell that comes soon after another: it would take
    Python's lock from the cell's own code.
    """

    def __init__(self, show: Callable[[str, str], None], under_way: Callable[[int], list]):
        self.show, self.under_way = show, under_way
        # Of all below; held while a line is shown, so that none comes after `end`.
        self.lock = threading.Lock()
        # An Event's lock can be left taken by an interrupt.
        self.wake: queue.SimpleQueue[None] = queue.SimpleQueue()
        self.cell = 0  # its number; 0 where none runs
        self.cells = 0
        self.begun = 0.0  # when the last cell began
        self.mark = 0
        self.longest: tuple[str, str, float] | None = None  # of what was told of
        self.pid: int | None = None  # of the process that the thread is in
        self.asleep: float | None = None  # for so long at most, if nobody wakes it; None: for good

    def begin(self, mark: int) -> None:
        after = show_progress()
        with self.lock:
            self.cells += 1
            self.cell, self.mark, self.longest = self.cells, mark, None
            self.begun = time.monotonic()
            if self.pid != os.getpid():
                self.pid, self.asleep = os.getpid(), None
                threading.Thread(target=self.run, name="xcuda-progress", daemon=True).start()
            too_long = self.asleep is None or (after is not None and after < self.asleep)
        if too_long:
            self.wake.put(None)

    def end(self) -> None:
        """Ends the cell: a line that stands there is replaced by what it was about and how long that took."""
        with self.lock:
            if self.longest is not None:
                self.shown(last_line(*self.longest), "last")
            self.cell, self.longest = 0, None

    def shown(self, text: str, which: str) -> None:
        try:
            self.show(text, which)
        except Exception:  # the front end is gone: the cell goes on without a line
            self.show = lambda text, which: None

    def run(self) -> None:
        while True:
            with self.lock:
                cell, after = self.cell, show_progress()
                since = time.monotonic() - self.begun
                due = bool(cell) and after is not None and since >= after
                if due:
                    self.asleep = min(EVERY, max(after, 0.01))
                elif cell and after is not None:
                    self.asleep = after - since
                else:
                    self.asleep = EVERY if since < LINGERS and after is not None else None
                sleep = self.asleep
            if due and not self.tell(cell, after):
                continue
            with contextlib.suppress(queue.Empty):
                self.wake.get(timeout=sleep)

    def tell(self, cell: int, after: float) -> bool:
        """Shows what is under way, if it has been for so long. False where the cell is over."""
        with self.lock:
            if self.cell != cell:
                return False
            slow = [each for each in self.under_way(self.mark) if each[2] >= after]
            if slow:
                what, name, seconds, share = max(slow, key=lambda each: each[2])
                first = self.longest is None
                if first or seconds >= self.longest[2] or (what, name) == self.longest[:2]:
                    self.longest = (what, name, seconds)
                self.shown(line(what, name, seconds, share), "first" if first else "next")
            return True


_teller: Teller | None = None


def begin_cell(mark: int) -> None:
    """A cell begins, whose events come after `mark`. Lines are shown by xcuda._show_line, if there is one."""
    global _teller
    if _after is None:
        return
    if _teller is None:
        show = getattr(xcuda, "_show_line", None)
        if show is None:
            return
        _teller = Teller(show, lambda since: sys.modules["xcuda._runtime"].under_way(since))
    _teller.begin(mark)


def end_cell() -> None:
    if _teller is not None and _teller.cell:
        _teller.end()
