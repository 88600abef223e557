"""Where a cell's Python loop launches a kernel again and again: the line that advice on short launches points at."""

from __future__ import annotations

import ast
from functools import lru_cache

RULE = "many-short-launches"


@lru_cache(maxsize=64)  # a cell that is run again is not parsed again
def loops_launching(text: str, kernel: str) -> list[int]:
    """Lines of the innermost loops in `text` that call `kernel`; none where the text is not plain Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return []
    found: list[int] = []
    _search(tree, kernel, None, found)
    return list(dict.fromkeys(found))


def point_at_loops(document: dict, text: str) -> None:
    """Adds to the advice on short launches the line of the loop in the cell `text` that makes them."""
    for advice in document["advice"]:
        if advice["rule"] != RULE:
            continue
        lines = loops_launching(text, advice["kernel"])
        if len(lines) == 1:
            advice["text"] += f" They come from the loop in line {lines[0]} of this cell."
        elif lines:
            told = ", ".join(map(str, lines[:-1])) + f" and {lines[-1]}"
            advice["text"] += f" They come from the loops in lines {told} of this cell."


LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _search(node: ast.AST, kernel: str, loop: int | None, found: list[int]) -> None:
    if isinstance(node, LOOPS):
        loop = node.lineno
    if loop is not None and isinstance(node, ast.Call) and _called(node.func) == kernel:
        found.append(loop)
    for child in ast.iter_child_nodes(node):
        _search(child, kernel, loop, found)


def _called(function: ast.expr) -> str | None:
    """The name behind k(...), k[grid, block](...), k.async_call(...) and module.k(...)."""
    if isinstance(function, ast.Subscript):
        function = function.value
    if isinstance(function, ast.Attribute):
        if function.attr != "async_call":
            return function.attr
        return _called(function.value)
    return function.id if isinstance(function, ast.Name) else None
