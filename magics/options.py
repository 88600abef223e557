"""A line of options with code behind them, as %timeit has it."""

from __future__ import annotations

import keyword
import re

from IPython.core.error import UsageError

WORD = re.compile(r"\s*(\S+)")


def options_and_code(line: str, with_value: set[str]) -> tuple[str, str]:
    """("-n 3 --timeline", "f(x) - 1") of "-n 3 --timeline f(x) - 1". `with_value`: options that take the next word.

    "--" ends the options, for code that begins with a minus.
    """
    end = 0
    while (word := WORD.match(line, end)) and word[1].startswith("-"):
        if word[1] == "--":
            return line[: word.start()].strip(), line[word.end() :].strip()
        end = word.end()
        if word[1] in with_value and (following := WORD.match(line, end)):
            end = following.end()
    return line[:end].strip(), line[end:].strip()


def variable(name: str | None) -> None:
    """UsageError where -o names what can't be assigned to."""
    if name is not None and (not name.isidentifier() or keyword.iskeyword(name)):
        raise UsageError(f"-o takes a variable's name, not {name!r}")
