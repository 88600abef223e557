"""A kernel's figures in the order in which a person asks for them, the same for HTML and for plain text."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from xcuda.magics import figures


class Row(NamedTuple):
    key: str  # the figure's name in the report, by which `metrics` picks
    label: str
    text: str
    origin: str  # measured, computed, modelled, or why it is absent
    meter: float | None = None  # a share to draw


# How the CPU device runs a block's threads: the first word of each part of a kernel's `how`.
HOW = {
    "lanes": "threads side by side in vector lanes",
    "tiles": "threads side by side in vector lanes, a tile of results in registers",
    "regions": "split at its barriers",
    "threads": "threads one after the other",
    "fibers": "each thread a fiber of its own",
}


def _how(part: str) -> str:
    word, _, shape = part.partition(" ")
    alone = word == "tiles" and shape.startswith("1x1x")  # one vector register a tile: lanes, and no more
    return HOW.get("lanes" if alone else word, part)


def kernel_figures(kernel: dict) -> list[Row]:
    time, calls = kernel["time"], kernel["calls"]
    mean = figures.text(time["mean"])
    if calls > 1 and "value" in time["min"]:
        mean += f" (from {figures.text(time['min'])} to {figures.text(time['max'])})"
    some = f", {kernel['timed']} of them timed" if "timed" in kernel else ""
    label = "time" if calls == 1 else f"time of a call, {calls} calls{some}"
    rows = [Row("time", label, mean, figures.origin(time["mean"]))]
    if calls > 1:
        rows.append(
            Row(
                "time",
                "time of those" if some else "time in all",
                figures.text(time["total"]),
                figures.origin(time["total"]),
            )
        )
    chosen = "chosen by xcuda" if kernel["automatic_shape"] else "as given"
    chosen = "another library's" if kernel.get("foreign") else chosen
    rows.append(
        Row(
            "shape",
            "grid, block",
            f"{figures.shape(kernel['grid'])}, {figures.shape(kernel['block'])}",
            chosen,
        )
    )
    if kernel["how"]:
        words = [_how(part) for part in kernel["how"].split(", ")]
        rows.append(Row("shape", "runs with", ", ".join(words), "computed"))
    if "workers" in kernel:
        rows.append(_workers(kernel["workers"], calls))
    rows.append(_occupancy(kernel["occupancy"]))
    for key, name in (
        ("registers", "registers"),
        ("local_bytes", "local memory"),
        ("shared_bytes", "shared memory"),
        ("bytes_read", "bytes read"),
        ("bytes_written", "bytes written"),
        ("flops", "floating-point operations"),
        ("bandwidth", "memory rate"),
        ("flop_rate", "arithmetic rate"),
    ):
        rows.append(Row(key, name, figures.text(kernel[key]), figures.origin(kernel[key])))
    rows.append(_roofline(kernel["roofline"]))
    return list(_absent_together(rows)) + _counters(kernel.get("counters"))


def _workers(workers: dict, calls: int) -> Row:
    """The threads of the CPU device that shared a call."""
    mean, longest = figures.text(workers["mean"]), figures.text(workers["longest"])
    text = f"{workers['count']['value']:.3g} at work for {mean} each, the longest for {longest}"
    some = f", {workers['calls']} calls that were shared" if workers["calls"] < calls else ""
    return Row("time", f"workers of a call{some}", text, figures.origin(workers["mean"]))


def _counters(counters: dict | None) -> list[Row]:
    if counters is None:
        return []
    from xcuda.profiler.counters import LABELS

    told = "measured, counters" + (f", mean of {counters['calls']} calls" if counters["calls"] > 1 else "")
    return [
        Row(
            key,
            LABELS.get(key, key),
            figures.counted(figure),
            figure.get("absent") or told,
            figures.value(figure) if figure.get("unit") == "share" else None,
        )
        for key, figure in counters["values"].items()
    ]


def _absent_together(rows: list[Row]):
    """Neighbours that are absent for one reason make one row."""
    last = None
    for row in rows:
        if last and "–" == last.text == row.text and last.origin == row.origin:
            last = last._replace(label=f"{last.label}, {row.label}")
            continue
        if last:
            yield last
        last = row
    yield last


def _occupancy(occupancy: dict) -> Row:
    share = occupancy["share"]
    text = figures.text(share)
    if "limit" in occupancy:
        text += f", limited by {occupancy['limit']}"
    return Row("occupancy", "occupancy", text, figures.origin(share), figures.value(share))


def _roofline(roofline: dict) -> Row:
    share = roofline["share"]
    text = figures.text(share)
    if "bound" in roofline:
        ceiling = "copy bandwidth" if roofline["bound"] == "memory" else "multiply-add peak"
        text += f" of the {ceiling}"
        if share["value"] > 1:
            text += " (data stayed in a cache)" if roofline["bound"] == "memory" else ""
    return Row("roofline", "share of the roofline", text, figures.origin(share), figures.value(share))


ALWAYS = {"shape"}


@cache
def shown(metrics: tuple[str, ...]) -> set[str]:
    """Keys of the rows to show: all, or those of the named metrics (xcuda.profiler.METRICS)."""
    if not metrics:
        from xcuda.profiler.counters import LABELS

        return {
            "time", "shape", "occupancy", "registers", "local_bytes", "shared_bytes",
            "bytes_read", "bytes_written", "flops", "bandwidth", "flop_rate", "roofline",
        } | set(LABELS)  # fmt: skip
    from xcuda.profiler import METRICS

    return ALWAYS.union(*(METRICS[name] for name in metrics))
