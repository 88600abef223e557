"""%cuda_source: the text generated for a kernel, beside the user's Python by line."""

from __future__ import annotations

import linecache
import re
from typing import NamedTuple

from IPython.core.error import UsageError

LINE = re.compile(r'\s*#\s*line\s+(\d+)(?:\s+"((?:[^"\\]|\\.)*)")?')


GENERATED = "xcuda"  # the file that statements of the passes are said to be from


class Passage(NamedTuple):
    """Lines of C++ that came from one line of Python; 0: from none."""

    file: str
    line: int
    python: str
    cpp: str

    @property
    def height(self) -> int:
        return self.cpp.count("\n") + 1

    @property
    def folds(self) -> bool:
        """Set-up that no line of the user's Python asked for."""
        return not self.line and self.height > 3


class Text:
    """Something to read, as text and, where it was made, as HTML."""

    def __init__(self, plain: str, html: str | None = None):
        self.plain = plain
        self.html = html

    def __repr__(self):
        return self.plain

    def _repr_mimebundle_(self, include=None, exclude=None):
        bundle = {"text/plain": self.plain}
        if self.html is not None:
            bundle["text/html"] = self.html
        return bundle


def source_of(kernel, name: str, form: str, version: int) -> Text:
    from xcuda import _runtime

    try:
        versions = _runtime.specialisations(kernel)
    except TypeError:
        raise UsageError(
            f"{name} is no kernel but {type(kernel).__name__}: name a @cuda.kernel function"
        ) from None
    if not versions:
        raise UsageError(
            f"{name} has not been compiled yet: call it once, its arguments' types make the text"
        )
    if not -len(versions) <= version < len(versions):
        raise UsageError(
            f"{name} has {len(versions)} compiled version{'s' if len(versions) > 1 else ''}, from 0"
        )
    if form == "ir":
        return Text(_runtime.ir_text(kernel))
    if form == "asm":
        return Text(_runtime.assembly_text(kernel, version % len(versions)))
    chosen = versions[version]
    if form == "text":
        return Text(without_line_marks(chosen["text"]))
    return beside(chosen)


def without_line_marks(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not LINE.match(line))


def beside(version: dict) -> Text:
    from xcuda.magics.render import template

    parts = passages(version["text"])
    html = template("source.html").render(version=version, passages=parts)
    return Text(plain_beside(version, parts), html)


def passages(text: str) -> list[Passage]:
    """Cuts the C++ at its #line marks; neighbours from the same Python line are one passage."""
    found: list[Passage] = []
    file, line = "", 0
    for cpp in text.splitlines():
        if mark := LINE.match(cpp):
            line = int(mark[1])
            file = re.sub(r"\\(.)", r"\1", mark[2]) if mark[2] is not None else file
            if file == GENERATED:
                file, line = "", 0
            continue
        if cpp[:1] not in ("", " ", "}"):
            file, line = "", 0  # a function begins: no statement of the user's
        if found and (found[-1].file, found[-1].line) == (file, line):
            found[-1] = found[-1]._replace(cpp=found[-1].cpp + "\n" + cpp)
        elif cpp.strip():
            python = linecache.getline(file, line).rstrip("\n") if line else ""
            found.append(Passage(file, line, python, cpp))
    return [p._replace(cpp=p.cpp.rstrip()) for p in found]


def plain_beside(version: dict, parts: list[Passage]) -> str:
    width = min(max(len(part.python) for part in parts) + 7, 64)
    lines = [f"{version['entry']} {version['signature']} for {version['device']}"]
    for part in parts:
        if part.folds:
            lines.append(
                f"{'':<{width}} | … {part.height} lines of xcuda's own (%cuda_source --text shows them)"
            )
            continue
        left = f"{part.line:>4}  {part.python}" if part.line else ""
        for i, cpp in enumerate(part.cpp.splitlines()):
            cell = left if i == 0 else ""
            cell = cell if len(cell) <= width else cell[: width - 1] + "…"
            lines.append(f"{cell:<{width}} | {cpp}")
    return "\n".join(lines)
