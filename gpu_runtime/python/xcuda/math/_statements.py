"""What the user's code is deciding when it asks an array for its truth: found by the running instruction."""

from __future__ import annotations

import ast
import functools
import linecache

from ._errors import place_of, user_frame


@functools.lru_cache(maxsize=32)
def _parsed(filename, text):
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


def source_tree(filename):
    """The syntax tree of a file or cell; None where its source is not to be had."""
    return _parsed(filename, "".join(linecache.getlines(filename)))


def deciding():
    """(what is decided, its place as `place_of` gives it or None)."""
    place = place_of(user_frame())
    tree = source_tree(place[0])
    if tree is None:
        return "this", None
    at = place[1], place[2]
    best, kind = None, "this"
    for node in ast.walk(tree):
        test, what = _test_of(node)
        if test is None:
            continue
        first = node if isinstance(node, ast.Assert) else test  # Python jumps from where the statement begins
        if not (first.lineno, first.col_offset) <= at <= (test.end_lineno, test.end_col_offset):
            continue
        size = (test.end_lineno - test.lineno, test.end_col_offset - test.col_offset)
        if best is None or size <= best[0]:
            best, kind = (size, test), what
    if best is None:
        return "this", place
    test = best[1]
    return kind, (place[0], test.lineno, test.col_offset, test.end_lineno, test.end_col_offset)


def _test_of(node):
    if isinstance(node, ast.If):
        return node.test, "this if"
    if isinstance(node, ast.While):
        return node.test, "this while"
    if isinstance(node, ast.IfExp):
        return node.test, "this conditional expression"
    if isinstance(node, ast.Assert):
        return node.test, "this assert"
    if isinstance(node, ast.BoolOp):
        return node, "this and/or"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return node, "this not"
    if isinstance(node, ast.Compare) and len(node.ops) > 1:
        return node, "this comparison chain"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _DECIDING_CALLS:
        return node, f"this {node.func.id}()"
    return None, ""


_DECIDING_CALLS = (
    "max",
    "min",
    "any",
    "all",
    "bool",
    "sorted",
)  # Python's own, which ask for each element's truth
