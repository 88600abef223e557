"""The exceptions a user of xcuda meets, and how a place in their source becomes a caret.

Three kinds of fault stay apart: the user's (their source or their arguments), the machine's (something is missing or
full), and ours (a bug: say so). A user's compile error is a SyntaxError, so that Python, IPython and every editor
print file, line and caret by themselves.
"""

from __future__ import annotations

import unicodedata

from xcuda.core.source_lines import lines_of


class XcudaError(Exception):
    """Base of xcuda's own exceptions."""


class KernelSyntaxError(SyntaxError):
    """A kernel's source cannot be compiled: names the line, the columns, what was found and what to write instead.

    Attributes beside SyntaxError's: `found` (what was met) and `hint` (what to write instead, may be empty).
    """

    found: str = ""
    hint: str = ""


class MachineError(RuntimeError, XcudaError):
    """Something of the machine is missing or full; the message says what and how to get it."""


class DeviceMemoryError(MemoryError, XcudaError):
    """A device's memory is full; the message lists the largest arrays on it and says what to do."""


class DeviceLostError(RuntimeError, XcudaError):
    """A fault of a kernel has ended a GPU for this process: its arrays are gone, and every use of it raises this.

    The driver gives it back to a new process only; Python's variables and the CPU device are not touched.
    """


class InternalError(RuntimeError, XcudaError):
    """A bug of xcuda's own; the message says what to send."""


def display_column(line: str, utf8_column: int) -> int:
    """Columns (from 1) at which a terminal shows the character at byte `utf8_column` of `line`.

    East-Asian wide characters take two cells, combining ones none; tabs count as one, as Python's own caret does.
    """
    before = line.encode("utf-8", "surrogatepass")[:utf8_column].decode("utf-8", "replace")
    return 1 + sum(_cells(character) for character in before)


def _cells(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def kernel_syntax_error(
    found: str,
    hint: str = "",
    *,
    filename: str,
    line: int,
    column: int,
    end_line: int | None = None,
    end_column: int | None = None,
    text: str | None = None,
) -> KernelSyntaxError:
    """A KernelSyntaxError at a place given as CPython's ast gives it: lines from 1, columns from 0 in UTF-8 bytes.

    `text` is the source line; left out, it is read where the function was (files, IPython cells, `python -c`).
    """
    if text is None:
        lines = lines_of(filename, {"__name__": "__main__"})
        text = lines[line - 1] if 0 < line <= len(lines) else ""
    text = text.rstrip("\n")
    offset = display_column(text, column)
    same_line = end_line in (None, line)
    end = (
        display_column(text, end_column)
        if same_line and end_column is not None
        else display_column(text, 10**9)
    )
    message = f"{found}; {hint}" if hint else found
    error = KernelSyntaxError(message, (filename, line, offset, text, line, max(end, offset + 1)))
    error.found, error.hint = found, hint
    return error
