"""The timeline of a report as a picture: a row a stream and one for the host's compiles and copies."""

from __future__ import annotations

import math

from xcuda import _svg as svg
from xcuda.magics.figures import in_unit
from xcuda.profiler.lanes import HOST, Track, tracks

WIDTH, LEFT, RIGHT, TOP, ROW, BAR = 760, 190, 30, 8, 26, 16
# Bars closer than this are one: a loop of launches is drawn as a block, its count in the title.
GAP = 0.75


def timeline(document: dict) -> tuple[str, str]:
    """(SVG, sentence that says what it shows). ValueError where the report has no timeline."""
    rows = tracks(document)
    events = [event for row in rows for event in row.events]
    if not events:
        raise ValueError("nothing that was measured lies on the timeline")
    begin, end = min(e["begin"] for e in events), max(e["end"] for e in events)
    scale = (WIDTH - LEFT - RIGHT) / max(end - begin, 1e-9)
    colours = svg.colours_of(label(event) for event in events)
    parts, y = [], TOP
    bottom = TOP + ROW * len(rows)
    for tick in ticks(end - begin):
        x = LEFT + tick * scale
        parts += [
            svg.line(x, TOP, x, bottom, dashed=True),
            svg.text(x, bottom + 14, in_unit(tick, "s"), "middle"),
        ]
    for row in rows:
        parts.append(svg.text(0, y + BAR / 2 + 8, svg.shortened(f"{row.group}: {row.name}", 28)))
        parts += bars(row, y + 4, begin, scale, colours)
        y += ROW
    height = bottom + 22
    names, more = svg.legend(LEFT, height, colours)
    parts, height = parts + names, height + more
    told = (
        f"Timeline of {document['scope']['label']}: {len(events)} events in {in_unit(end - begin, 's')} on "
        f"{len(rows)} track{'' if len(rows) == 1 else 's'}"
    )
    return svg.picture(WIDTH, math.ceil(height + 4), parts, told), told


def label(event: dict) -> str:
    return f"compile {event['name']}" if event["kind"] == "compile" else event["name"]


def bars(row: Track, y: float, origin: float, scale: float, colours: dict[str, str]) -> list[str]:
    """Neighbours of one name that would touch make one bar."""
    merged: list[list] = []  # name, begin, end, count, busy
    for event in row.events:
        name, last = label(event), merged[-1] if merged else None
        if last and last[0] == name and (event["begin"] - last[2]) * scale < GAP:
            last[2], last[3] = event["end"], last[3] + 1
            last[4] += event["end"] - event["begin"]
        else:
            merged.append([name, event["begin"], event["end"], 1, event["end"] - event["begin"]])
    return [
        svg.box(
            LEFT + (begin - origin) * scale,
            y,
            (end - begin) * scale,
            BAR if row.group != HOST else BAR * 0.7,
            colours[name],
            f"{name}: {in_unit(busy, 's')}" + (f" in {count} pieces" if count > 1 else ""),
        )
        for name, begin, end, count, busy in merged
    ]


def ticks(span: float) -> list[float]:
    """Round numbers from 0 to `span`, five or so."""
    if span <= 0:
        return [0.0]
    step = 10.0 ** math.floor(math.log10(span / 4))
    step *= next(m for m in (1, 2, 5, 10) if span / (step * m) <= 6)
    return [step * i for i in range(int(span / step) + 1)]
