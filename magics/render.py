"""A report as a notebook and a terminal show it. What a cell shows must survive JupyterLab's sanitiser: only
<details>, <table>, <meter> and literal styles, no colours of text or ground."""

from __future__ import annotations

from functools import cache

from xcuda.magics import figures
from xcuda.magics.report_page import page
from xcuda.magics.rows import Row, kernel_figures, shown
from xcuda.profiler import Report, show_reports
from xcuda.profiler.history import sparkline, trend
from xcuda.profiler.shown import renderers

MIME = "application/vnd.xcuda.report.v1+json"


PICTURES = ("timeline", "roofline")
MOST_KERNELS = 30  # whose figures are shown


def render_report(
    document: dict, metrics: tuple[str, ...] = (), pictures: tuple[str, ...] = (), unfolded: bool = False
) -> tuple[dict, dict]:
    """`pictures`: names out of PICTURES, drawn under the figures; where one can't be, the reason stands there.

    Cells' own reports are unfolded and have the pictures that can be drawn where `%cuda_report full` asks for it.
    """
    keep = shown(metrics)
    full = document["scope"]["kind"] == "cell" and show_reports() == "full"
    drawn = [drawing(document, name, missing="") for name in PICTURES] if full else []
    drawn += [drawing(document, name) for name in pictures]
    line, rest = quiet_line(document), collected(document)
    rows = [[row for row in kernel_figures(k) if row.key in keep] for k in document["kernels"][:MOST_KERNELS]]
    html = page(document, line, rows, unfolded or full, drawn, rest)
    # What a notebook keeps of a report is its figures: ten thousand launches' times would only swell it.
    data = {key: part for key, part in document.items() if key != "timeline"}
    return {"text/plain": plain(document, line, rows, rest), "text/html": html, MIME: data}, {}


def drawing(document: dict, name: str, missing: str = "No {}: {}.") -> str:
    """HTML of one of PICTURES, or the sentence that says why there is none."""
    from html import escape
    from importlib import import_module

    from xcuda import _svg as svg

    try:
        picture, told = getattr(import_module(f"xcuda.magics.{name}"), name)(document)
    except ValueError as reason:
        return escape(missing.format(name, reason))
    return svg.image(picture, told)


def render_benchmark(benchmark) -> tuple[dict, dict]:
    html = template("benchmark.html").render(b=benchmark)
    return {"text/plain": repr(benchmark), "text/html": html}, {}


def render_comparison(comparison) -> tuple[dict, dict]:
    from xcuda.profiler.comparison import words

    html = template("comparison.html").render(c=comparison, lines=comparison.lines(), words=words)
    return {"text/plain": repr(comparison), "text/html": html}, {}


@cache
def template(name: str):
    """A template of this package, with the figures' filters."""
    from jinja2 import Environment, PackageLoader

    environment = Environment(
        loader=PackageLoader("xcuda.magics"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters.update(
        figure=figures.text,
        origin=figures.origin,
        shape=figures.shape,
        place=figures.place,
        signature=figures.signature,
    )
    environment.globals.update(in_unit=figures.in_unit)
    return environment.get_template(name)


def quiet_line(document: dict) -> str:
    """The one line that a cell shows before it is unfolded."""
    totals = document["totals"]
    parts = []
    if totals["launches"]:
        names = list(dict.fromkeys(k["name"] for k in document["kernels"] if not k.get("foreign")))
        parts.append(", ".join(names) if len(names) <= 2 else f"{len(names)} kernels")
        if totals["launches"] > 1:
            parts.append(f"{totals['launches']} launches")
        where = ", ".join(d["device"] for d in document["devices"])
        if "value" in totals["device_time"]:
            some = f" for {totals['timed']} of them" if "timed" in totals else ""
            parts.append(f"{figures.text(totals['device_time'])}{some} on {where}")
        if totals["running"]:
            parts.append(f"{totals['running']} still running")
        if totals["failed"]:
            parts.append(f"{totals['failed']} stopped by an error")
    if count := totals.get("foreign_launches"):
        parts.append(f"{count} of other libraries, {figures.text(totals['foreign_time'])}")
    if totals["compiled"]:
        parts.append(f"compiled in {figures.text(totals['compile_time'])}")
    elif totals["from_cache"]:
        parts.append("from the compile cache")
    if figures.value(totals["copy_bytes"]):
        parts.append(f"copied {figures.text(totals['copy_bytes'])}")
    for device in document["devices"]:
        if change := figures.value(device["memory_change"]):
            parts.append(f"memory {'+' if change > 0 else '−'}{figures.in_unit(abs(change), 'B')}")
    if history := document.get("history"):
        parts.append(" ".join(filter(None, [sparkline(history), trend(history)])))
    if document["advice"]:
        parts.append(f"{len(document['advice'])} hint{'s' if len(document['advice']) > 1 else ''}")
    return " · ".join(parts) or "the device was used, no kernel ran"


def collected(document: dict) -> list[str]:
    """Sentences on what was to be collected and could not be, and on how kernels were run for it."""
    collection, told = document.get("collection", {}), []
    activity, counters = collection.get("activity", {}), collection.get("counters", {})
    if "absent" in activity:
        told.append(f"Other libraries' kernels are not in this report: {activity['absent']}.")
    if "absent" in counters:
        told.append(
            f"There are no hardware counters: {counters['absent']}. Bytes and operations are modelled."
        )
    elif counters.get("calls") == 0:
        told.append(
            "No launch was counted: graphs, kernels that print and those on pinned memory are left out."
        )
    elif "calls" in counters:
        told.append("While counters are read, other libraries' kernels are not seen.")
    if activity.get("overlapping") is False and len({e["stream"] for e in _launched(document)}) > 1:
        told.append(
            "Kernels of different streams ran one after the other, for exact times; --timeline lets them overlap."
        )
    return told


def _launched(document: dict) -> list[dict]:
    events = document.get("timeline", {}).get("events", [])
    return [event for event in events if event["kind"] == "launch"]


def plain(document: dict, line: str, figures_of: list[list[Row]], rest: list[str]) -> str:
    """The report for a terminal: the quiet line, then each kernel's figures and the advice, indented."""
    lines = [f"xcuda: {line}"]
    for kernel, figures_here in zip(document["kernels"], figures_of, strict=False):
        at = figures.place(kernel["place"])
        lines.append(f"  {kernel['name']}{figures.signature(kernel)}{f'  [{at}]' if at else ''}")
        rows = [row for row in figures_here if row.text != "–"]
        width = max((len(row.label) for row in rows), default=0)
        lines += [f"    {row.label:<{width}}  {row.text}  ({row.origin})" for row in rows]
        lines += [f"    warning: {warning}" for warning in kernel["warnings"]]
    if len(document["kernels"]) > len(figures_of):
        lines.append(f"  and {len(document['kernels']) - len(figures_of)} more rows in the report's data")
    for advice in document["advice"]:
        at = figures.place(advice["place"])
        lines += folded(f"hint: {advice['text']}{f' [{at}]' if at else ''}")
    lines += [f"  {told}" for told in rest]
    if document["lost_events"]:
        lines.append(f"  {document['lost_events']} earlier events were lost: the log keeps the last 65536")
    return "\n".join(lines)


def folded(text: str, width: int = 110) -> list[str]:
    """The words in lines of at most `width`, indented: textwrap takes ten times as long, at each cell with a hint."""
    lines, line = [], " "
    for word in text.split():
        if len(line) + 1 + len(word) > width and line.strip():
            lines.append(line)
            line = "   "
        line += f" {word}"
    return [*lines, line]


# For results that show themselves, as generate_report() and benchmark(f) do.
Report.renderer = staticmethod(render_report)
renderers.update(benchmark=render_benchmark, comparison=render_comparison)
