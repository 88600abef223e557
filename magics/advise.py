"""%cuda_advise: what profiler.analyze found in a kernel, with the user's lines."""

from __future__ import annotations

import ast
import html

from IPython.core.error import UsageError
from xcuda.magics.source import Text


def call_of(line: str) -> tuple[str, list[str]] | None:
    """("k[4, 2]", ["y", "x[1:]"]) of "k[4, 2](y, x[1:])" and of "k[4, 2] y x[1:]"; None for what has no brackets."""
    line = line.strip()
    if not any(bracket in line for bracket in "[(") or line.startswith("-"):
        return None
    try:
        call = ast.parse(line, mode="eval").body
    except SyntaxError:
        words = _words(line)
        return words[0], words[1:]
    if not isinstance(call, ast.Call):
        return line, []
    if call.keywords or any(isinstance(a, ast.Starred) for a in call.args):
        raise UsageError("%cuda_advise takes a call's arguments one by one, in order and without names")
    return ast.get_source_segment(line, call.func), [ast.get_source_segment(line, a) for a in call.args]


def _words(line: str) -> list[str]:
    """Parts between blanks that are in no brackets."""
    words, depth = [""], 0
    for character in line:
        depth += (character in "([{") - (character in ")]}")
        if character.isspace() and depth <= 0:
            words.append("")
        else:
            words[-1] += character
    return [word for word in words if word]


def advise(kernel, name: str, arguments: list) -> Text:
    """`arguments`: of a call; none: stand-ins of the types that the kernel last ran with."""
    from xcuda import _runtime, profiler

    if not isinstance(kernel, (_runtime.Kernel, _runtime.Configured)):
        raise UsageError(f"{name} is no kernel but {type(kernel).__name__}: name a @cuda.kernel function")
    try:
        found = profiler.analyze(kernel, *(arguments or _last_types(kernel, name)))
    except TypeError as error:
        raise UsageError(str(error)) from None
    return Text(_plain(found), _html(found))


def _last_types(kernel, name: str) -> list[str]:
    from xcuda.core.signatures import split

    signatures, last = kernel.signatures, kernel.last_launch
    if not signatures:
        raise UsageError(
            f"{name} has not been called yet: call it, or name its arguments (%cuda_advise {name} A B)"
        )
    if last is not None and not last["automatic"]:
        raise UsageError(
            f"{name} was launched with a grid and a block, which go with the lengths of its arrays: name them "
            f"(%cuda_advise {name}[grid,block] A B)"
        )
    return [part.removesuffix(" (weak)") for part in split(signatures[-1])]


def _plain(found) -> str:
    lines = [_head(found)]
    for finding in found:
        lines += ["", f"line {finding.line}: {_source(finding)}", f"  {finding.evidence}"]
        lines.append(f"  -> {finding.advice}{_gain(finding)}")
        if finding.rewrite is not None:
            lines += [f"     {text}" for text in str(finding.rewrite).splitlines()]
    return "\n".join(lines)


def _html(found) -> str:
    rows = "".join(
        f'<tr><td style="text-align: right; vertical-align: top; padding: 0.2em 1em 0.2em 0">{finding.line}</td>'
        '<td style="text-align: left; vertical-align: top; padding: 0.2em 1em 0.2em 0">'
        f"<code>{html.escape(_source(finding))}</code></td>"
        f'<td style="text-align: left; padding: 0.2em 0">{html.escape(finding.evidence)}<br>'
        f"<b>{html.escape(finding.advice)}</b>{html.escape(_gain(finding))}{_rewrite(finding)}</td></tr>"
        for finding in found
    )
    head = f"<div>{html.escape(_head(found))}</div>"
    return head + (f'<table style="border-collapse: collapse"><tbody>{rows}</tbody></table>' if rows else "")


def _head(found) -> str:
    shape = f"{found.kernel}, grid {found.grid}, block {found.block}"
    count = len(found)
    what = f"{count} finding{'s' if count != 1 else ''}" if count else "nothing to change"
    seen = f"{found.records} steps of {found.blocks} block{'s' if found.blocks != 1 else ''} looked at"
    return f"{shape}: {what} ({seen}{'' if found.complete else ', the rest of them left out'})"


def _rewrite(finding) -> str:
    """The changed lines, folded: most of them are long."""
    if finding.rewrite is None:
        return ""
    text = html.escape(str(finding.rewrite))
    return f"<details><summary>as Python</summary><pre>{text}</pre></details>"


def _source(finding) -> str:
    from xcuda.core._cells import source_line

    return source_line(finding.file, finding.line)


def _gain(finding) -> str:
    return f" (about {finding.gain:.3g}x there)" if finding.gain else ""
