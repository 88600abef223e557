"""A report leaves as JSON, CSV, a data frame and a trace; two reports side by side."""

from __future__ import annotations

import csv
import io
import json
import sys

import numpy as np
import pytest
import xcuda.core as cuda
from jupyterlab_sanitizer import sanitized
from report_documents import absent, computed, crowded, document, kernel, measured, valid
from test_magics_render import Structure
from xcuda import profiler
from xcuda.magics.render import render_comparison
from xcuda.profiler import Report


@cuda.kernel
def halve(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = x[i] / 2


def event(kind="launch", name="k", begin=0.0, end=1.0, stream=0, device="cpu", state="done", **more):
    return {
        "kind": kind, "name": name, "device": device, "stream": stream, "begin": begin, "end": end, "state": state,
    } | more  # fmt: skip


def with_events(*events, left_out=0):
    return valid(document(timeline={"events": list(events), "left_out": left_out}))


def trace_of(report) -> dict:
    return json.loads(Report(report).to_trace())


def spans(trace: dict) -> dict:
    """(pid, tid): [(begin, end, name), ...] in order."""
    found = {}
    for e in trace["traceEvents"]:
        if e["ph"] == "X":
            found.setdefault((e["pid"], e["tid"]), []).append((e["ts"], e["ts"] + e["dur"], e["name"]))
    return {track: sorted(events) for track, events in found.items()}


def no_overlap(trace: dict) -> bool:
    return all(
        after[0] >= before[1] - 1e-6
        for events in spans(trace).values()
        for before, after in zip(events, events[1:], strict=False)
    )


def names(trace: dict, what: str) -> list[str]:
    return [e["args"]["name"] for e in trace["traceEvents"] if e["ph"] == "M" and e["name"] == what]


def test_a_block_has_a_timeline_and_a_cell_has_none():
    x = cuda.to_device(np.ones(1000, np.float32))
    profiler.cell_begin("...", 3)
    with profiler.profile() as p:
        for _ in range(3):
            halve(x)
    events = valid(p.report.document)["timeline"]["events"]
    launches = [e for e in events if e["kind"] == "launch"]
    assert [e["name"] for e in launches] == ["halve"] * 3
    duration = p.report.document["scope"]["time"]["value"]
    assert all(-1e-3 < e["begin"] <= e["end"] <= duration + 1e-3 for e in launches)
    total = p.report.kernels[0]["time"]["total"]["value"]
    assert sum(e["end"] - e["begin"] for e in launches) == pytest.approx(total)
    cell = profiler.cell_end()
    assert "timeline" not in cell
    with pytest.raises(
        ValueError, match="no timeline: cells' own reports leave it out; profile the cell with"
    ):
        Report(cell).to_trace()


def test_the_full_mode_gives_cells_a_timeline_and_off_gives_nothing():
    x = np.ones(10, np.float32)
    try:
        profiler.show_reports("full")
        profiler.cell_begin("...", 4)
        halve(x)
        assert valid(profiler.cell_end())["timeline"]["events"]
        profiler.show_reports("off")
        profiler.cell_begin("...", 5)
        halve(x)
        assert profiler.cell_end() is None
    finally:
        profiler.show_reports("on")
    assert profiler.show_reports() == "on"
    with pytest.raises(ValueError, match="reports are on, off, full, not 'loud'"):
        profiler.show_reports("loud")


def test_streams_and_the_host_have_tracks_of_their_own():
    x, y = (cuda.to_device(np.ones(1000, np.float32)) for _ in range(2))

    @cuda.kernel
    def just_compiled(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = x[i] + 5

    stream = cuda.Stream()
    with profiler.profile() as p:
        just_compiled(x)
        with stream:
            just_compiled(y)
        cuda.to_device(np.ones(100, np.float32))
        stream.synchronize()
    trace = json.loads(p.report.to_trace())
    assert names(trace, "process_name")[-1] == "host"
    assert set(names(trace, "thread_name")) >= {"default stream", "stream 1", "compiles and copies"}
    found = [name for events in spans(trace).values() for _, _, name in events]
    assert found.count("just_compiled") == 2
    assert "compile just_compiled" in found and "to device" in found
    assert no_overlap(trace)


def test_no_two_events_of_a_track_overlap():
    trace = trace_of(
        with_events(
            event(begin=0, end=1.000002), event(begin=1, end=2),  # the clocks' difference
            event("compile", "a", 0, 3), event("compile", "b", 1, 2), event("to device", "to device", 2, 2.5, bytes=8),
            event(begin=0.5, end=0.7, stream=2),
        )
    )  # fmt: skip
    assert no_overlap(trace)
    assert names(trace, "thread_name").count("compiles and copies (2)") == 1
    assert sum(len(events) for events in spans(trace).values()) == 6


def test_what_was_not_measured_is_a_mark_and_not_a_span():
    trace = trace_of(
        with_events(event(end=None, state="not measured"), event(end=None, state="running"), event())
    )
    marks = [e for e in trace["traceEvents"] if e["ph"] == "i"]
    assert [m["args"]["state"] for m in marks] == ["not measured", "running"]
    assert sum(len(events) for events in spans(trace).values()) == 1


def test_names_of_any_kind_stay_whole():
    name = 'a"b\\</script>\n\u2028é\x00'
    text = Report(with_events(event(name=name))).to_trace()
    assert text.isascii() and "\n" not in text
    assert any(e["name"] == name for e in json.loads(text)["traceEvents"])


def test_json_comes_back(tmp_path):
    report = Report(crowded())
    text = report.to_json(tmp_path / "r.json", indent=1)
    assert (tmp_path / "r.json").read_text() == text
    assert Report.from_json(text).document == report.document
    for path in (tmp_path / "r.json", str(tmp_path / "r.json")):
        assert Report.from_json(path).document == report.document
    with pytest.raises(FileNotFoundError):
        Report.from_json(tmp_path / "none.json")
    with pytest.raises(ValueError, match="this is no report: it is no JSON"):
        Report.from_json("{")
    with pytest.raises(ValueError, match="this JSON is no report: its schema is not xcuda.report/1"):
        Report.from_json("[1]")


def test_csv_has_a_row_a_kernel_and_units_in_its_header(tmp_path):
    text = Report(crowded()).to_csv(tmp_path / "r.csv")
    assert (tmp_path / "r.csv").read_text() == text
    blur, scale, gpu = csv.DictReader(io.StringIO(text))
    assert blur["kernel"] == "blur" and float(blur["time_mean_s"]) == 7.1e-4 and blur["calls"] == "3"
    assert scale["time_mean_s"] == "" and blur["occupancy_share"] == ""  # absent, never zero
    assert (gpu["block_x"], gpu["block_y"], gpu["occupancy_limit"]) == ("32", "8", "registers")
    assert "," in blur["signature"]


def test_a_spreadsheet_takes_no_name_for_a_formula():
    (row,) = csv.DictReader(io.StringIO(Report(document([kernel("=cmd()")])).to_csv()))
    assert row["kernel"] == "'=cmd()"


def test_pandas_has_the_same_columns():
    pandas = pytest.importorskip("pandas")
    frame = Report(crowded()).to_pandas()
    assert list(frame.columns) == Report(crowded()).to_csv().splitlines()[0].split(",")
    assert frame["time_mean_s"][0] == 7.1e-4 and pandas.isna(frame["time_mean_s"][1])


def test_without_pandas_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="to_pandas needs pandas: pip install pandas; to_csv"):
        Report(document()).to_pandas()


def of(seconds, name="k", **changes):
    return kernel(name, time={k: measured(seconds) for k in ("total", "mean", "min", "max")}, **changes)


def compared(before, after):
    return Report(document(before)).compare(Report(document(after)))


def test_what_became_faster_and_by_what():
    found = compared(
        [of(4e-3, "a"), of(1e-3, "b"), of(1e-3, "c")],
        [
            of(1e-3, "a", block=[128, 1, 1], bytes_read=measured(1 << 20, "B")),
            of(1.02e-3, "b"),
            of(3e-3, "c"),
        ],
    )
    assert [p.name for p in found.faster()] == ["a"]
    assert [p.name for p in found.slower()] == ["c"]
    (a,) = found.faster()
    assert a.ratio == 4
    assert a.changes == ["block: 256 → 128", "bytes read: 8 MiB → 1 MiB"]
    text = repr(found)
    assert "a: 4 ms → 1 ms a call, 4x as fast" in text
    assert "b: 1 ms → 1.02 ms a call, about as fast" in text and "c: 1 ms → 3 ms a call, 3x as slow" in text


def test_kernels_are_paired_by_name_and_types_then_by_name():
    float64 = "(float64[::1])"
    found = compared(
        [of(1e-3, "a"), of(2e-3, "a", signature=float64), of(1e-3, "old")],
        [of(2e-3, "a", signature=float64), of(1e-3, "a"), of(1e-3, "new")],
    )
    assert [p.ratio for p in found.pairs] == [1, 1]
    assert [k["name"] for k in found.gone] == ["old"] and [k["name"] for k in found.new] == ["new"]
    assert "old: only before" in repr(found) and "new: only after" in repr(found)
    (types,) = compared([of(2e-3, signature=float64)], [of(1e-3)]).pairs
    assert types.changes[0] == "argument types: (float64[::1]) → (float32[::1], float32[::1])"


def test_the_one_kernel_of_each_is_one_written_anew():
    (pair,) = compared([of(3e-3, "first")], [of(1e-3, "second")]).pairs
    assert pair.name == "first → second" and pair.ratio == pytest.approx(3)


def test_absent_times_have_no_ratio():
    running = kernel("k", time={k: absent("still running") for k in ("total", "mean", "min", "max")})
    found = compared([running], [of(1e-3)])
    assert found.pairs[0].ratio is None and found.faster() == []
    assert "– → 1 ms a call, not both measured" in repr(found)
    occupancy = {"share": computed(0.5, "share"), "limit": "registers"}
    assert "occupancy: – → 50%" in compared([of(1e-3)], [of(1e-3, occupancy=occupancy)]).pairs[0].changes


def test_only_reports_are_compared():
    with pytest.raises(TypeError, match="a report is compared with a Report, not with dict"):
        Report(document()).compare({})


def test_a_comparisons_html_survives_the_sanitizer():
    found = compared([of(4e-3, "<a>"), of(1e-3, "b")], [of(1e-3, "<a>", grid=[1, 1, 1]), of(1e-3, "n&m")])
    page = render_comparison(found)[0]["text/html"]
    whole, left = Structure(page), Structure(sanitized(page))
    assert whole.tags == left.tags and whole.text == left.text
    assert "&lt;a&gt;" in page and "4x as fast" in whole.text and "color" not in page


def test_real_reports_compare():
    reports = []
    for n in (1 << 20, 1 << 10):
        x = cuda.to_device(np.ones(n, np.float32))
        halve(x)
        with profiler.profile() as p:
            halve(x)
        reports.append(p.report)
    (pair,) = reports[0].compare(reports[1]).pairs
    assert pair.before["flops"]["value"] == 1 << 20 and pair.after["flops"]["value"] == 1 << 10
    assert any(change.startswith("bytes read: 4 MiB → 4 KiB") for change in pair.changes)
