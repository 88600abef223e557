"""How bench/ measures: contestants take turns, so that a busy moment of the machine meets all of them."""

from __future__ import annotations

import gc
import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ROUNDS = 9  # the median of these is told
REPEATS = 3  # each round keeps the best of these


@dataclass
class Contest:
    """One thing done by several contestants, `ours` last. Each gives its result, once, to be checked."""

    title: str
    check: Callable[[object], None]
    contestants: dict[str, Callable[[], object]] = field(default_factory=dict)
    goal: tuple[str, float] | None = None  # (peer, ours as a multiple of it at most)

    def run(self) -> dict[str, float]:
        """Median milliseconds of each contestant."""
        for name, contestant in self.contestants.items():
            try:
                self.check(contestant())
            except AssertionError as wrong:
                raise SystemExit(f"{self.title}: {name} computes something else: {wrong}") from wrong
            contestant()
        best: dict[str, list[float]] = {name: [] for name in self.contestants}
        gc.disable()
        for _ in range(ROUNDS):
            for name, contestant in self.contestants.items():
                best[name].append(min(timed(contestant) for _ in range(REPEATS)))
        gc.enable()
        return {name: statistics.median(times) * 1e3 for name, times in best.items()}


def timed(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def table(rows: list[tuple[str, ...]], header: tuple[str, ...]) -> str:
    """A Markdown table with padded columns: the first to the left, figures to the right."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]

    def line(row):
        first, *others = row
        figures = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        return "| " + " | ".join([first.ljust(widths[0]), *figures]) + " |"

    rule = "| " + " | ".join(["-" * widths[0], *("-" * (w - 1) + ":" for w in widths[1:])]) + " |"
    return "\n".join([line(header), rule, *map(line, rows)])


def milliseconds(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def result_rows(contest: Contest, times: dict[str, float], ours: str = "xcuda") -> list[tuple[str, ...]]:
    """(what, contestant, ms, contestant/ours, goal) for each contestant."""
    rows = []
    for name, value in times.items():
        what = contest.title if not rows else ""
        ratio = f"{value / times[ours]:.2f}" if ours in times and name != ours else ""
        goal = ""
        if contest.goal and name == contest.goal[0] and ours in times:
            multiple = times[ours] / value
            reached = "yes" if multiple <= contest.goal[1] else f"no, {multiple:.3g}x"
            goal = f"xcuda <= {contest.goal[1]:.3g}x: {reached}"
        rows.append((what, name, milliseconds(value), ratio, goal))
    return rows


def goal(what: str, figure: float, bound: float, *, least: bool = False) -> bool:
    """Prints a line that tests/gpu/summary.py collects: whether a figure is at most the bound, or at least."""
    reached = figure >= bound if least else figure <= bound
    sign = ">=" if least else "<="
    print(f"goal: {what}: {figure:.3g} ({sign} {bound:.3g}): {'yes' if reached else 'no'}", flush=True)
    return reached


def result(text: str) -> None:
    """Prints a line that tests/gpu/summary.py collects."""
    print(f"result: {text}", flush=True)


def today() -> str:
    """The date, and how busy the machine was before the measurement: a busy one spoils it."""
    return f"{time.strftime('%Y-%m-%d')}, load {os.getloadavg()[0]:.1f} at the start"


def machine() -> str:
    """The processor's name, its cores and memory, as this process sees them."""
    told = Path("/proc/cpuinfo").read_text()
    models = [line.split(":")[1].strip() for line in told.splitlines() if line.startswith("model name")]
    vector = "AVX-512" if "avx512f" in told else "AVX2" if "avx2" in told else "SSE"
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    cores = len(os.sched_getaffinity(0))
    return f"{models[0]}, {cores} cores, {vector}, {memory:.0f} GiB, Python {platform.python_version()}"
