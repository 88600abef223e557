"""A report as a trace for chrome://tracing and Perfetto: a process a device and one of the host, a track a stream."""

from __future__ import annotations

from xcuda.profiler.lanes import HOST, tracks, unfinished


def as_trace(document: dict) -> dict:
    """The trace's JSON object; times in microseconds from the begin of the profiled block."""
    events, groups = [], {}
    for number, track in enumerate(tracks(document)):
        process = _process(groups, track.group, events)
        events.append(_named("thread_name", process, number, track.name))
        events.append(_meta("thread_sort_index", process, number, {"sort_index": number}))
        events += [_complete(event, process, number) for event in track.events]
    if left := unfinished(document):
        process, number = _process(groups, HOST, events), len(events)
        events.append(_named("thread_name", process, number, "launches without a measured time"))
        events += [
            {
                "ph": "i",
                "s": "t",
                "name": event["name"],
                "cat": event["kind"],
                "ts": _micro(event["begin"]),
                "pid": process,
                "tid": number,
                "args": {"state": event["state"], "device": event["device"], "stream": event["stream"]},
            }
            for event in left
        ]
    scope = document["scope"]
    told = {"scope": scope["label"], "schema": document["schema"]}
    told["left_out"] = document["timeline"]["left_out"]
    return {"traceEvents": events, "displayTimeUnit": "ns", "otherData": told}


def _process(groups: dict[str, int], group: str, events: list[dict]) -> int:
    if group not in groups:
        groups[group] = len(groups) + 1
        events.append(_named("process_name", groups[group], 0, group))
    return groups[group]


def _named(what: str, process: int, thread: int, name: str) -> dict:
    return _meta(what, process, thread, {"name": name})


def _meta(what: str, process: int, thread: int, args: dict) -> dict:
    return {"ph": "M", "name": what, "pid": process, "tid": thread, "args": args}


def _complete(event: dict, process: int, thread: int) -> dict:
    args = {name: event[name] for name in ("device", "stream", "bytes") if name in event}
    if event["state"] != "done":
        args["state"] = event["state"]
    name = f"compile {event['name']}" if event["kind"] == "compile" else event["name"]
    # Rounded ends, not rounded lengths: neighbours stay neighbours.
    begin, end = _micro(event["begin"]), _micro(event["end"])
    return {
        "ph": "X",
        "name": name,
        "cat": event["kind"],
        "ts": begin,
        "dur": round(end - begin, 3),
        "pid": process,
        "tid": thread,
        "args": args,
    }


def _micro(seconds: float) -> float:
    return round(seconds * 1e6, 3)
