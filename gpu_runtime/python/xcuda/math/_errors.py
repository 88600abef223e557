"""What a user of nvmath meets beside NumPy's own errors."""

from __future__ import annotations

import sys

from xcuda.core.errors import KernelSyntaxError, display_column

_HOUSES = ("xcuda", "numpy")


class CaptureError(KernelSyntaxError):
    """A function cannot be captured: names the line, the columns, what was found and what to write instead."""


class CaptureWarning(UserWarning):
    """Something of a function happens when it is captured, and not at each of its calls."""


class BatchError(RuntimeError):
    """A function of `batch_process` failed; `index` says which, `results` has the others' (None in its place)."""

    def __init__(self, message, index, results):
        super().__init__(message)
        self.index, self.results = index, results


def user_frame():
    """The innermost frame outside of xcuda and NumPy."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _HOUSES:
        frame = frame.f_back
    return frame


def place_of(frame):
    """(file, line, column, end line, end column) of what a frame is doing; columns in UTF-8 bytes."""
    positions = list(frame.f_code.co_positions())
    line, end, column, end_column = positions[frame.f_lasti // 2]
    return frame.f_code.co_filename, line or frame.f_lineno, column or 0, end, end_column


def refusal(found, hint, place):
    """A CaptureError at a place as `place_of` gives it."""
    import linecache

    file, line, column, end, end_column = place
    text = linecache.getline(file, line).rstrip("\n")
    start = display_column(text, column)
    stop = display_column(text, end_column if end in (None, line) and end_column is not None else 10**9)
    error = CaptureError(
        f"{found}; {hint}" if hint else found, (file, line, start, text, line, max(stop, start + 1))
    )
    error.found, error.hint = found, hint
    return error


def refused(found, hint=""):
    """The same at what the user's code is doing now."""
    return refusal(found, hint, place_of(user_frame()))
