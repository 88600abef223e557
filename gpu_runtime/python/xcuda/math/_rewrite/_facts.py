"""What is known of a matrix by how it is made: symmetric, positive, triangular, diagonal."""

from __future__ import annotations

import numpy

from .._graph import Node

NOTHING: frozenset = frozenset()
_SWAPPED = {"lower": "upper", "upper": "lower"}
_PRODUCTS = ("matmul", "dot", "linalg.matmul")


def transposed(node):
    """What the node is the transpose of (2-dimensional); None where it is none."""
    if not isinstance(node, Node) or not node.is_array or node.ndim != 2:
        return None
    if node.op in ("transpose", "permute_dims"):
        axes = node.args[1] if len(node.args) > 1 else node.kwargs.get("axes")
        if axes is None or tuple(axes) in ((1, 0), (-1, -2), (-1, 0), (1, -2)):
            return node.args[0]
    if node.op == "swapaxes" and {a % 2 for a in node.args[1:]} == {0, 1}:
        return node.args[0]
    return node.args[0] if node.op in ("matrix_transpose", "linalg.matrix_transpose") else None


def is_product(node):
    """A product of two matrices."""
    return (
        isinstance(node, Node)
        and node.op in _PRODUCTS
        and not node.kwargs
        and all(isinstance(a, Node) and a.is_array and a.ndim == 2 for a in node.args)
    )


def is_number(value):
    """A number, or an array without axes."""
    if isinstance(value, Node):
        return not value.is_array and value.spec is None or value.is_array and value.ndim == 0
    return isinstance(value, (int, float, numpy.number)) and not isinstance(value, bool)


def positive_number(value):
    """True where a number is above 0: at the capture, for those that may change (a solution checks again)."""
    if isinstance(value, Node):
        return not value.is_array and isinstance(value.value, (int, float, numpy.number)) and value.value > 0
    return is_number(value) and value > 0


def scaled_identity(node):
    """(n, factor) of factor * eye(n); None where the node is none."""
    if not isinstance(node, Node):
        return None
    if node.op in ("eye", "identity"):
        n = node.args[0]
        m = node.args[1] if len(node.args) > 1 and node.op == "eye" else node.kwargs.get("M")
        k = node.args[2] if len(node.args) > 2 else node.kwargs.get("k", 0)
        square = m is None or m is n or m == n
        return (n, 1) if square and k == 0 and isinstance(k, int) and node.spec.dtype.kind == "f" else None
    if node.op == "multiply" and len(node.args) == 2:
        for one, other in (node.args, node.args[::-1]):
            found = scaled_identity(one)
            if found is not None and found[1] == 1 and is_number(other):
                return found[0], other
    if node.op == "divide" and isinstance(node.args[1], (int, float)) and node.args[1]:
        found = scaled_identity(node.args[0])
        if found is not None and found[1] == 1:
            return found[0], 1 / node.args[1]
    return None


def facts(node, depth=8):
    """Some of "symmetric", "semidefinite", "positive", "lower", "upper", "diagonal"."""
    if not isinstance(node, Node) or not node.is_array or node.ndim != 2 or depth == 0:
        return NOTHING
    rule = _RULES.get(node.op)
    found = rule(node, depth - 1) if rule else NOTHING
    scaled = scaled_identity(node)
    if scaled is not None:
        found = (
            found
            | {"diagonal", "symmetric"}
            | ({"positive", "semidefinite"} if positive_number(scaled[1]) else set())
        )
    return frozenset(found)


def _of_product(node, depth):
    a, b = node.args[:2]
    if not all(isinstance(x, Node) and x.is_array for x in (a, b)):
        return NOTHING
    if transposed(b) is a or transposed(a) is b:
        return {"symmetric", "semidefinite"} if node.spec.dtype.kind == "f" else NOTHING
    return facts(a, depth) & facts(b, depth) & {"lower", "upper", "diagonal"}


def _of_sum(node, depth):
    a, b = node.args[:2]
    if isinstance(a, Node) and isinstance(b, Node) and (transposed(b) is a or transposed(a) is b):
        return {"symmetric"}
    left, right = facts(a, depth), facts(b, depth)
    both = left & right & {"symmetric", "semidefinite", "lower", "upper", "diagonal"}
    if {"semidefinite"} <= left & right and "positive" in left | right:
        both = both | {"positive"}
    return both


def _of_difference(node, depth):
    return (
        facts(node.args[0], depth) & facts(node.args[1], depth) & {"symmetric", "lower", "upper", "diagonal"}
    )


def _scaled(node, depth):
    a, b = node.args[:2]
    for one, other in ((a, b), (b, a)):
        if is_number(other):
            found = facts(one, depth)
            return found if positive_number(other) else found - {"positive", "semidefinite"}
    return facts(a, depth) & facts(b, depth) & {"symmetric", "lower", "upper", "diagonal"}


def _of_transpose(node, depth):
    inner = transposed(node)
    return {_SWAPPED.get(f, f) for f in facts(inner, depth)} if inner is not None else NOTHING


def _shifted(node, depth):
    found = facts(node.args[0], depth)
    if "semidefinite" in found and positive_number(node.args[1]):
        found = found | {"positive"}
    return found - {"diagonal"} if "diagonal" not in found else found


def _cholesky(node, depth):
    return {"upper"} if node.kwargs.get("upper") else {"lower"}


_RULES = {
    "xm.gram": lambda node, depth: {"symmetric", "semidefinite"},
    "xm.add_diagonal": _shifted,
    **dict.fromkeys(_PRODUCTS, _of_product),
    "add": _of_sum,
    "subtract": _of_difference,
    "multiply": _scaled,
    "divide": lambda node, depth: _scaled(node, depth) if is_number(node.args[1]) else NOTHING,
    "transpose": _of_transpose,
    "swapaxes": _of_transpose,
    "matrix_transpose": _of_transpose,
    "tril": lambda node, depth: {"lower"} if len(node.args) == 1 and not node.kwargs else NOTHING,
    "triu": lambda node, depth: {"upper"} if len(node.args) == 1 and not node.kwargs else NOTHING,
    "linalg.cholesky": _cholesky,
    "diag": lambda node, depth: {"diagonal", "symmetric"} if _is_diagonal(node) else NOTHING,
    "linalg.inv": lambda node, depth: facts(node.args[0], depth),
    "cov": lambda node, depth: {"symmetric", "semidefinite"},
    "corrcoef": lambda node, depth: {"symmetric", "semidefinite"},
    "copy": lambda node, depth: facts(node.args[0], depth),
    "astype": lambda node, depth: facts(node.args[0], depth) - {"positive"},
}


def _is_diagonal(node):
    return (
        len(node.args) == 1 and not node.kwargs and isinstance(node.args[0], Node) and node.args[0].ndim == 1
    )


def diagonal_of(node):
    """The vector d of diag(d); None where the node is none."""
    return node.args[0] if isinstance(node, Node) and node.op == "diag" and _is_diagonal(node) else None
