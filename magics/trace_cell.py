"""%%cuda_trace: a cell's timeline as a file for Perfetto."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from IPython.core.error import UsageError
from xcuda.magics.profile_cell import profile_cell


def trace_cell(shell, cell: str, file: str, quiet: bool) -> None:
    path = Path(file.strip("\"'")).expanduser()
    if path.is_dir() or not path.parent.is_dir():
        reason = "is a folder" if path.is_dir() else f"can't be written: there is no folder {path.parent}"
        raise UsageError(f"{path} {reason}")
    options = SimpleNamespace(
        output=None, quiet=quiet, metrics=None, counters=False, number=1, timeline=False, roofline=False
    )
    report = profile_cell(shell, cell, options, "%%cuda_trace", overlapping=True)
    if report is None:
        return
    try:
        report.to_trace(path)
    except OSError as error:
        raise UsageError(f"{path} can't be written: {error.strerror}") from None
    count = len(report.document["timeline"]["events"])
    print(
        f"{count} event{'s' if count != 1 else ''} written to {path}; ui.perfetto.dev and chrome://tracing open it"
    )
