"""What of a traceback or a warning leads a reader to their line: frames that are not the runtime's own, and the cell's
number in place of the file that stands for it."""

from __future__ import annotations

import linecache
import os
import types
import warnings

import xcuda

OWN = tuple(os.path.join(os.path.abspath(folder), "") for folder in xcuda.__path__)


def without_own(trace: types.TracebackType | None, told: bool = False) -> types.TracebackType | None:
    """The traceback without the runtime's frames at its end, if the error is one that is told, or the last stands at a
    `raise`: a sentence for the user, who wants their own line. Anywhere else it is a fault of ours, and stays
    whole."""
    frames = []
    while trace is not None:
        frames.append(trace)
        trace = trace.tb_next
    if not frames:
        return None
    last = frames[-1]
    told = told or linecache.getline(last.tb_frame.f_code.co_filename, last.tb_lineno).strip().startswith(
        "raise "
    )
    kept = list(frames)
    while told and kept and kept[-1].tb_frame.f_code.co_filename.startswith(OWN):
        kept.pop()
    if not kept or len(kept) == len(frames):
        return frames[0]
    rebuilt = None
    for part in reversed(kept):
        rebuilt = types.TracebackType(rebuilt, part.tb_frame, part.tb_lasti, part.tb_lineno)
    return rebuilt


def name_cells_in_warnings(shell) -> None:
    """ "Cell In[3], line 5: RuntimeWarning: ...", as tracebacks say it."""
    plain = warnings.formatwarning

    def formatted(message, category, filename, lineno, line=None):
        text = plain(message, category, filename, lineno, line)
        cell = shell.compile.format_code_name(filename)
        return text.replace(f"{filename}:{lineno}:", f"{' '.join(cell)}, line {lineno}:", 1) if cell else text

    warnings.formatwarning = formatted
