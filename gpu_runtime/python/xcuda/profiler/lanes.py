"""A report's timeline as tracks on which no two events overlap: one a stream, and one or more of the host."""

from __future__ import annotations

from typing import NamedTuple

HOST = "host"


class Track(NamedTuple):
    group: str  # "cpu", "cuda:0", "host"
    name: str  # "stream 1", "compiles and copies"
    events: list[dict]  # of the document, in order; `end` is a number


def tracks(document: dict) -> list[Track]:
    """Devices first, streams in their order, the host last. ValueError where the report has no timeline."""
    found: dict[tuple[str, int], list[dict]] = {}
    host: list[dict] = []
    for event in events_of(document):
        if event["end"] is None:
            continue
        if event["kind"] == "launch":
            found.setdefault((event["device"], event["stream"]), []).append(event)
        else:
            host.append(event)
    streams = [
        Track(device, f"stream {number}" if number else "default stream", in_order(events))
        for (device, number), events in sorted(found.items())
    ]
    lanes = side_by_side(host)
    names = [f"compiles and copies{f' ({i + 1})' if i else ''}" for i in range(len(lanes))]
    return streams + [Track(HOST, name, lane) for name, lane in zip(names, lanes, strict=True)]


def unfinished(document: dict) -> list[dict]:
    """Events whose end is not known: launches still running, or not measured one by one."""
    return [event for event in events_of(document) if event["end"] is None]


def events_of(document: dict) -> list[dict]:
    if "timeline" not in document:
        raise ValueError(
            "this report has no timeline: cells' own reports leave it out; profile the cell with %%cuda_profile, or "
            "run it in `with profiler.profile() as p:`"
        )
    return document["timeline"]["events"]


def in_order(events: list[dict]) -> list[dict]:
    """A stream's launches run one after the other: what overlaps is the clocks' difference, and is cut off."""
    placed: list[dict] = []
    for event in sorted(events, key=lambda e: (e["begin"], e["end"])):
        begin = max(event["begin"], placed[-1]["end"]) if placed else event["begin"]
        placed.append(event | {"begin": begin, "end": max(event["end"], begin)})
    return placed


def side_by_side(events: list[dict]) -> list[list[dict]]:
    """Lanes for events that may overlap (threads that compile at once): each goes to the first one that is free."""
    lanes: list[list[dict]] = []
    for event in sorted(events, key=lambda e: (e["begin"], e["end"])):
        free = next((lane for lane in lanes if lane[-1]["end"] <= event["begin"]), None)
        if free is None:
            lanes.append([event])
        else:
            free.append(event)
    return lanes
