"""Which frames of a traceback a reader needs: not the runtime's own, where it tells them something on purpose."""

from __future__ import annotations

import linecache
import os
import types

import xcuda

OWN = tuple(os.path.join(os.path.abspath(folder), "") for folder in xcuda.__path__)


def without_own(trace: types.TracebackType | None, interrupted: bool = False) -> types.TracebackType | None:
    """The traceback without the runtime's frames at its end, if the last stands at a `raise`: a sentence for the
    user, who wants their own line; so is an interrupt, wherever it meets us. Anywhere else it is a fault of ours,
    and stays whole."""
    frames = []
    while trace is not None:
        frames.append(trace)
        trace = trace.tb_next
    if not frames:
        return None
    last = frames[-1]
    told = interrupted or linecache.getline(
        last.tb_frame.f_code.co_filename, last.tb_lineno
    ).strip().startswith("raise ")
    kept = list(frames)
    while told and kept and kept[-1].tb_frame.f_code.co_filename.startswith(OWN):
        kept.pop()
    if not kept or len(kept) == len(frames):
        return frames[0]
    rebuilt = None
    for part in reversed(kept):
        rebuilt = types.TracebackType(rebuilt, part.tb_frame, part.tb_lasti, part.tb_lineno)
    return rebuilt
