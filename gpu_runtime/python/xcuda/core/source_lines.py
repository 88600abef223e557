"""The lines that a function was read from: a file's, a cell's, or what `python -c` was given."""

from __future__ import annotations

import linecache
import sys


def lines_of(file: str, names: dict) -> list[str]:
    """The lines of `file`, empty where Python has none. `names`: the globals of its module."""
    linecache.checkcache(file)
    lines = linecache.getlines(file, names)
    if not lines and file == "<string>" and names.get("__name__") == "__main__":
        lines = _command().splitlines(keepends=True)
    return lines


def _command() -> str:
    """What `python -c` was given: Python itself keeps it from 3.13 on only."""
    words = sys.orig_argv
    for at, word in enumerate(words[1:-1], 1):
        if word.startswith("-") and not word.startswith("--") and word.endswith("c"):
            return words[at + 1]
        if not word.startswith("-"):  # a script's name: there is no -c
            break
    return ""
