"""%cuda_source: the text generated for a kernel, beside the user's Python by line."""

from __future__ import annotations

import inspect
import linecache
import re
from typing import NamedTuple

from IPython.core.error import UsageError

LINE = re.compile(r'\s*#\s*line\s+(\d+)(?:\s+"((?:[^"\\]|\\.)*)")?')


GENERATED = "xcuda"  # the file that statements of the passes are said to be from


class Weights(NamedTuple):
    """Instructions that each line became on a GPU."""

    target: str
    lines: dict[int, int]

    @property
    def most(self) -> int:
        return max(self.lines.values(), default=0)


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
    def lines(self) -> list[tuple[float, str]]:
        """(how many em in what does not fit goes on, the line) of each."""
        rows = self.cpp.split("\n")
        return [(round(0.6 * (len(row) - len(row.lstrip()) + 4), 1), row or " ") for row in rows]

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


def source_of(kernel, name: str, form: str, version: int, target: str | None = None) -> Text:
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
    if form in ("ptx", "sass"):
        return machine_code_of(kernel, chosen, form, target)
    return beside(chosen, weights_of(kernel, chosen, target))


def weights_of(kernel, version: dict, target: str | None) -> Weights | None:
    """How many instructions the lines became; None where no compiler for GPUs is here, unless a target is asked for."""
    from xcuda.magics import machine_code
    from xcuda.profiler import line_table

    try:
        made = machine_code.compiled_for(kernel, version["signature"], target)
        code, first = inspect.getsourcelines(kernel.py_func)
    except (UsageError, OSError, TypeError, AttributeError):
        if target:
            raise
        return None
    table = machine_code.section(made["cubin"], ".debug_line")
    file = kernel.py_func.__code__.co_filename
    counts = line_table.instructions(table, file, range(first, first + len(code)))
    return Weights(made["target"], {line: n for line, n in counts.items() if line})


def machine_code_of(kernel, version: dict, form: str, target: str | None) -> Text:
    """PTX as it is, SASS beside the Python."""
    from xcuda.magics import machine_code
    from xcuda.magics.render import template

    made = machine_code.compiled_for(kernel, version["signature"], target)
    if form == "ptx":
        return Text(f"// PTX of {made['entry']} {made['signature']}\n{machine_code.ptx(made['cubin'])}")
    parts: list[Passage] = []
    file = kernel.py_func.__code__.co_filename
    for piece in machine_code.sass(made["cubin"]):
        line = piece.line if piece.file == file or piece.file.endswith("/" + file) else 0
        where = file if line else ""
        if parts and (parts[-1].file, parts[-1].line) == (where, line):
            parts[-1] = parts[-1]._replace(cpp=parts[-1].cpp + "\n" + piece.text)
        else:
            python = linecache.getline(file, line).rstrip("\n") if line else ""
            parts.append(Passage(where, line, python, piece.text))
    shown = {"entry": made["entry"], "signature": made["signature"], "device": made["target"], "how": "SASS"}
    page = template("source.html").render(version=shown, passages=parts, weights=None, counts={}, what="SASS")
    return Text(plain_beside(shown, parts, None), page)


def without_line_marks(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not LINE.match(line))


def beside(version: dict, weights: Weights | None = None) -> Text:
    from xcuda.magics.render import template

    parts = passages(version["text"])
    counts = counts_of(parts, weights)
    page = template("source.html").render(
        version=version, passages=parts, weights=weights, counts=counts, what="generated C++"
    )
    return Text(plain_beside(version, parts, weights), page)


def counts_of(parts: list[Passage], weights: Weights | None) -> dict[int, int]:
    """Of each passage's number its line's instructions; a line that has several passages tells them at the first."""
    counts, told = {}, set()
    for i, part in enumerate(parts):
        if weights and part.line in weights.lines and part.line not in told:
            counts[i] = weights.lines[part.line]
            told.add(part.line)
    return counts


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


def plain_beside(version: dict, parts: list[Passage], weights: Weights | None) -> str:
    width = min(max(len(part.python) for part in parts) + 7, 64)
    counts = counts_of(parts, weights)
    lines = [f"{version['entry']} {version['signature']} for {version['device']}"]
    if weights:
        lines.append(f"before a line: the instructions that it became on {weights.target}")
    column = len(str(weights.most)) + 1 if weights else 0
    for number, part in enumerate(parts):
        count = f"{counts.get(number, ''):>{column - 1}} " if weights else ""
        if part.folds:
            lines.append(
                f"{'':<{width + column}} | … {part.height} lines of xcuda's own (%cuda_source --text shows them)"
            )
            continue
        left = f"{part.line:>4}  {part.python}" if part.line else ""
        for i, cpp in enumerate(part.cpp.splitlines()):
            cell = left if i == 0 else ""
            cell = cell if len(cell) <= width else cell[: width - 1] + "…"
            lines.append(f"{count if i == 0 else ' ' * column}{cell:<{width}} | {cpp}")
    return "\n".join(lines)
