"""Nodes in the user's words: sqrt(sin(x) * cos(y) + 1)."""

from __future__ import annotations

import numpy

from ._graph import Node

_INFIX = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "floor_divide": "//", "remainder": "%", "power": "**",
    "matmul": "@", "less": "<", "less_equal": "<=", "equal": "==", "not_equal": "!=", "greater": ">",
    "greater_equal": ">=", "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^", "left_shift": "<<",
    "right_shift": ">>", "operator.add": "+", "operator.sub": "-", "operator.mul": "*", "operator.truediv": "/",
    "operator.pow": "**", "operator.floordiv": "//", "operator.mod": "%",
}  # fmt: skip
# What the rewrites put in: the name shown, and how many operands of it are the user's.
_OURS = {
    "xm.gram": ("symmetric_product", 1), "xm.add_diagonal": ("add_to_diagonal", 2), "xm.solve": ("solve", 2),
    "xm.chain": ("product_in_best_order", None), "xm.solve_triangular": ("solve_triangular", 2),
    "xm.solve_diagonal": ("solve_diagonal", 2), "xm.scale_rows": ("scale_rows", 2),
    "xm.scale_columns": ("scale_columns", 2), "xm.trace_of_product": ("trace_of_product", 2),
    "xm.diagonal_of_product": ("diagonal_of_product", 2), "xm.product_of_diagonal": ("det", 1),
    "xm.structured_inverse": ("inv", 1),
}  # fmt: skip
_PREFIX = {"negative": "-", "invert": "~", "operator.neg": "-"}


def words(value, names, depth=6, inner=False):
    """The expression of a node; `names`: what inputs and kept results are called."""
    if not isinstance(value, Node):
        return _constant(value, names, depth)
    if value in names:
        return names[value]
    if depth == 0:
        return "…"
    if value.op == "constant":
        return "constant"
    given = [words(a, names, depth - 1, True) for a in value.args]
    if value.op in _INFIX and len(given) == 2:
        text = f"{given[0]} {_INFIX[value.op]} {given[1]}"
        return f"({text})" if inner else text
    if value.op in _PREFIX:
        return f"{_PREFIX[value.op]}{given[0]}"
    if value.op == "transpose" and len(given) == 1:
        return f"{given[0]}.T"
    if value.op == "getitem":
        return f"{given[0]}[{_key(value.args[1], names)}]"
    if value.op == "part":
        return f"{given[0]}[{value.args[1]}]"
    if value.op == "dim":
        return f"{given[0]}.shape[{value.args[1]}]"
    if value.op in ("astype", "reshape"):
        return f"{given[0]}.{value.op}({', '.join(given[1:])})"
    if value.op == "xm.epilogue":
        tail, a, b, *operands = value.args
        product = f"({words(a, names, depth - 1, True)} @ {words(b, names, depth - 1, True)})"
        return tail.text(words, [product, *(words(each, names, depth - 1, True) for each in operands)])
    if value.op.startswith("xm."):
        shown, count = _OURS[value.op]
        return f"{shown}({', '.join(words(a, names, depth - 1) for a in value.args[:count])})"
    given = [words(a, names, depth - 1) for a in value.args]
    given += [f"{k}={words(v, names, depth - 1)}" for k, v in value.kwargs.items()]
    return f"{value.op.removeprefix('operator.')}({', '.join(given)})"


def _key(key, names):
    if isinstance(key, tuple):
        return ", ".join(_key(k, names) for k in key)
    if isinstance(key, slice):
        parts = ["" if p is None else words(p, names) for p in (key.start, key.stop)]
        return ":".join(parts) + ("" if key.step is None else f":{words(key.step, names)}")
    return "..." if key is Ellipsis else words(key, names)


def _constant(value, names, depth):
    if isinstance(value, (tuple, list)):
        inside = ", ".join(words(v, names, depth) for v in value)
        return f"[{inside}]" if isinstance(value, list) else f"({inside}{',' * (len(value) == 1)})"
    if isinstance(value, numpy.dtype):
        return value.name
    if isinstance(value, type):
        return value.__name__
    if isinstance(value, numpy.generic):
        return repr(value.item())
    return repr(value)
