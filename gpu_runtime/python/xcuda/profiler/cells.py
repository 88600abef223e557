"""The hooks that a front end calls round each cell. They cost microseconds where the cell uses no device."""

from __future__ import annotations

import os
import sys
import threading

import xcuda
from xcuda.profiler import progress
from xcuda.profiler.modes import show_reports
from xcuda.profiler.peaks import begin_peaks, end_peaks
from xcuda.profiler.recording import Recording
from xcuda.profiler.uncut import uncut

_open: list[Recording] = []
_text = ""  # of the cell that runs
_label = "this cell"  # its name
_shown: list[dict] = []  # documents of reports that the cell that runs has displayed
_ranges: list = []  # the runtime, for each span that has begun and not ended
_begun = False  # any cell, ever
_prepared = False


def cell_begin(text: str, execution_count: int) -> None:
    """Marks the begin of a cell. Loads nothing: without a runtime, the log starts with the cell."""
    with uncut():
        _begin(text, execution_count)
    if (limits := sys.modules.get("xcuda.core.time_limit")) is not None:
        limits.begin_cell()


def _begin(text: str, execution_count: int) -> None:
    global _begun, _text, _label
    _begun, _text, _label = True, text, f"In [{execution_count}]"
    _open.clear()  # a cell that was interrupted before its end leaves nothing behind
    _shown.clear()
    _end_range()
    _begin_range(_label)
    full = show_reports() == "full"
    watch = "overlapping" if full else None
    recording = Recording("cell", f"In [{execution_count}]", load=False, watch=watch, summed=not full)
    _open.append(recording)
    if recording.runtime is not None and show_reports() != "off":
        progress.begin_cell(recording.mark)
    begin_peaks()


def cell_end(failed: bool = False, execution_count: int | None = None) -> dict | None:
    """The report of the cell, or None where it used no device.

    `execution_count`: the cell's, where it was not yet known at its begin.

    An end without a begin, if it is the first, is taken for the cell that loaded the runtime: all events are
    its own.
    """
    if (limits := sys.modules.get("xcuda.core.time_limit")) is not None:
        limits.end_cell()
    with uncut():
        return _end(failed, execution_count)


def _end(failed: bool, execution_count: int | None) -> dict | None:
    global _begun
    progress.end_cell()
    _end_range()
    _prepare_reports()
    if not failed and (numeric := sys.modules.get("xcuda.numeric")) is not None:
        numeric.flush()  # what the cell left to be computed is a part of it
    if failed and "xcuda.core" in sys.modules:
        from xcuda.core.memory import release_failed

        release_failed()
    end_peaks(_label if execution_count is None else f"In [{execution_count}]")
    mode = show_reports()
    if mode == "off":
        _open.clear()
        _begun = True
        return None
    full = mode == "full"
    if _open:
        recording = _open.pop()
        if execution_count is not None:
            recording.label = f"In [{execution_count}]"
        return _completed(recording.report(failed=failed, timeline=full))
    if _begun:
        return None
    _begun = True
    label = "this cell" if execution_count is None else f"In [{execution_count}]"
    whole = Recording("cell", label, load=False, from_start=True)
    return _completed(whole.report(failed=failed, timeline=full))


def _completed(report: dict | None) -> dict | None:
    if report is not None:
        from xcuda.profiler.history import remember
        from xcuda.profiler.loops import point_at_loops

        remember(report)
        point_at_loops(report, _text)
        if any(_says_the_same(report, other) for other in _shown):
            return None  # `with profile() as p: ...` and then `p.report`: the reader has it
    return report


def displayed(document: dict) -> None:
    """A report is shown by the cell that runs: its own would be left out if it said the same."""
    _shown.append(document)


def _says_the_same(report: dict, other: dict) -> bool:
    return _work_of(report) == _work_of(other)


def _work_of(document: dict) -> tuple:
    totals = document["totals"]
    counts = [totals[n] for n in ("launches", "failed", "running", "compiled", "from_cache")]
    kernels = [(row["name"], row["calls"]) for row in document["kernels"]]
    return counts, totals["copy_bytes"].get("value"), kernels


def _prepare_reports() -> None:
    """Once, when the runtime is loaded: lets whoever shows reports get ready beside the user's work."""
    global _prepared
    if not _prepared and "xcuda._runtime" in sys.modules:
        _prepared = True
        if (prepare := getattr(xcuda, "_prepare", None)) is not None:
            threading.Thread(target=prepare, name="xcuda-reports", daemon=True).start()


def _begin_range(name: str) -> None:
    """A span round the cell, where an outside profiler listens: only then is the runtime loaded for it."""
    if not os.environ.get("NVTX_INJECTION64_PATH") and not os.environ.get("XCUDA_NVTX"):
        return
    from xcuda import _runtime

    if _runtime.ranges_wanted:
        _runtime.push_range(name)
        _ranges.append(_runtime)


def _end_range() -> None:
    while _ranges:
        _ranges.pop().pop_range()


def leave_out() -> None:
    """The cell that runs shows no report of its own."""
    global _begun
    _begun = True
    _open.clear()
