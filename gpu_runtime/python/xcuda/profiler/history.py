"""What the same work took in earlier cells: a person who tries a change sees under the cell whether it helped."""

from __future__ import annotations

from collections import OrderedDict, deque

RUNS = 20  # kept of each group of kernels
GROUPS = 200

_runs: OrderedDict[tuple[str, ...], deque] = OrderedDict()


def remember(document: dict) -> None:
    """Adds a cell's report to the history, and to it the earlier runs: those cells that launched the same kernels.

    A cell has no name that outlives an edit, and editing is what one does between two runs: kernels' names do.
    A run that failed, or is not over, is left out.
    """
    names = tuple(sorted({k["name"] for k in document["kernels"] if not k.get("foreign")}))
    totals = document["totals"]
    time = totals["device_time"]
    if (
        not names
        or "value" not in time
        or totals["failed"]
        or totals["running"]
        or document["scope"]["failed"]
    ):
        return
    runs = _runs.setdefault(names, deque(maxlen=RUNS))
    _runs.move_to_end(names)
    while len(_runs) > GROUPS:
        _runs.popitem(last=False)
    launches = totals.get("timed", totals["launches"])
    runs.append({"label": document["scope"]["label"], "time": time, "launches": launches})
    if len(runs) > 1:
        document["history"] = list(runs)


BARS = "▁▂▃▄▅▆▇█"


def sparkline(history: list[dict]) -> str:
    """A character a run, as high as its time within the runs' largest."""
    times = [run["time"]["value"] for run in history]
    top = max(times) or 1.0
    return "".join(BARS[min(int(t / top * len(BARS)), len(BARS) - 1)] for t in times)


def trend(history: list[dict]) -> str:
    """The last run against the one before, a launch: "1.8x faster than In [4]"; "" where they hardly differ."""
    before, now = history[-2], history[-1]
    a, b = (run["time"]["value"] / max(run["launches"], 1) for run in (before, now))
    if not a or not b or 0.95 < a / b < 1.05:
        return ""
    ratio, word = (a / b, "faster") if a > b else (b / a, "slower")
    return (
        f"{ratio:,.0f}x {word} than {before['label']}"
        if ratio >= 100
        else f"{ratio:.3g}x {word} than {before['label']}"
    )
