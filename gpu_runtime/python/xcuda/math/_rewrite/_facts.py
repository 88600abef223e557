"""What is known of a matrix by how it is made: symmetric, positive, triangular, diagonal."""

from __future__ import annotations

import numpy

from .._graph import Node, Spec

NOTHING: frozenset = frozenset()
_SWAPPED = {"lower": "upper", "upper": "lower"}
_PRODUCTS = ("matmul", "dot", "linalg.matmul")


_COPIES = ("copy", "ascontiguousarray", "asfortranarray", "positive")


def same_values(node):
    """What the node is a copy of, or a real array's conjugate; the node itself where it is neither."""
    while isinstance(node, Node) and node.args and isinstance(node.args[0], Node) and node.args[0].is_array:
        of = node.args[0]
        real = node.op in ("conjugate", "conj") and of.spec.dtype.kind in "fiub" and len(node.args) == 1
        if not (real or node.op in _COPIES) or node.kwargs.keys() - {"order"} or node.spec != of.spec:
            break
        node = of
    return node


def transposed(node):
    """What the node is the transpose of (2-dimensional); None where it is none."""
    node = same_values(node)
    found = _transposed(node)
    return None if found is None else same_values(found)


def _transposed(node):
    if not isinstance(node, Node) or not node.is_array or node.ndim != 2:
        return None
    if node.op in ("transpose", "permute_dims"):
        axes = node.args[1] if len(node.args) > 1 else node.kwargs.get("axes")
        if axes is None or tuple(axes) in ((1, 0), (-1, -2), (-1, 0), (1, -2)):
            return node.args[0]
    pair = node.args[1:] if node.op in ("swapaxes", "moveaxis") and not node.kwargs else ()
    if len(pair) == 2 and all(isinstance(a, int) for a in pair) and {a % 2 for a in pair} == {0, 1}:
        return node.args[0]
    return node.args[0] if node.op in ("matrix_transpose", "linalg.matrix_transpose") else None


def are_transposes(a, b):
    """One of two matrices is the other's transpose, by how they are made."""
    a, b = same_values(a), same_values(b)
    return transposed(b) is a or transposed(a) is b


def turned(node):
    """The transpose of a matrix."""
    inner = transposed(node)
    if inner is not None and inner.spec.dtype == node.spec.dtype:
        return inner
    return Node("transpose", (node,), None, Spec(node.spec.shape[::-1], node.spec.dtype), None, node.line)


def unscaled(node):
    """([(op, number)], base): the numbers that multiply or divide a matrix of floats, the innermost first."""
    factors: list = []
    while isinstance(node, Node) and node.is_array and node.spec.dtype.kind in "fc":
        inner, factor = _without_factor(node)
        if inner is None or inner.spec != node.spec:
            break
        factors.append(factor)
        node = inner
    return factors[::-1], node


def _without_factor(node):
    if node.kwargs or not node.args:
        return None, None
    if node.op == "negative":
        return node.args[0], ("multiply", -1)
    if node.op not in ("multiply", "divide") or len(node.args) != 2:
        return None, None
    places = ((0, 1), (1, 0)) if node.op == "multiply" else ((0, 1),)
    for matrix, number in ((node.args[i], node.args[j]) for i, j in places):
        if isinstance(matrix, Node) and matrix.is_array and matrix.ndim and is_number(number):
            return matrix, (node.op, number)
    return None, None


def scaled_by(node, factors):
    """The node times the factors that `unscaled` gave."""
    for op, number in factors:
        if op == "multiply" and isinstance(number, int) and number == -1:
            node = Node("negative", (node,), None, node.spec, None, node.line)
        else:
            node = Node(op, (node, number), None, node.spec, None, node.line)
    return node


def _closed(found):
    """With what follows from it."""
    if "diagonal" in found or {"lower", "upper"} <= found:
        return found | {"diagonal", "lower", "upper", "symmetric"}
    return found


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
    if node.op == "diag" and _is_diagonal(node) and node.args[0].op in ("ones", "full"):
        return _filled(node.args[0])
    if not node.is_array or node.ndim != 2:
        return None
    inner, factor = _without_factor(node)
    found = None if inner is None or inner.spec.dtype != node.spec.dtype else scaled_identity(inner)
    if found is None:
        return None
    number = _times(found[1], *factor, node.line)
    return None if number is None else (found[0], number)


def _filled(vector):
    """(length, number) of a vector of one number throughout."""
    if vector.spec.dtype.kind != "f":
        return None
    length = vector.args[0]
    length = length[0] if isinstance(length, (tuple, list)) else length
    if vector.op == "ones":
        return length, 1
    number = vector.args[1] if len(vector.args) > 1 else vector.kwargs.get("fill_value")
    return (length, number) if is_number(number) else None


def _times(a, op, b, line):
    """a * b or a / b of numbers, as a number that is computed at each call where one of them may change."""
    numbers = {
        "multiply": ("operator.mul", lambda x, y: x * y),
        "divide": ("operator.truediv", lambda x, y: x / y),
    }
    name, compute = numbers[op]
    if any(isinstance(n, Node) and n.is_array for n in (a, b)):
        return b if op == "multiply" and not isinstance(a, Node) and a == 1 else None
    if op == "multiply" and not isinstance(a, Node) and a == 1:
        return b
    values = [n.value if isinstance(n, Node) else n for n in (a, b)]
    if op == "divide" and not values[1]:
        return None
    if not any(isinstance(n, Node) for n in (a, b)):
        return compute(*values)
    return Node(name, (a, b), None, None, compute(*values), line)


def number_negated(number, line):
    """-number, of an array too."""
    if isinstance(number, Node):
        if number.is_array:
            return Node("negative", (number,), None, number.spec, None, line)
        return Node("operator.neg", (number,), None, None, -number.value, line)
    return -number


def facts(node, depth=8):
    """Some of "symmetric", "semidefinite", "positive", "lower", "upper", "diagonal"."""
    if not isinstance(node, Node) or not node.is_array or node.ndim != 2 or depth == 0:
        return NOTHING
    rule = _RULES.get(node.op)
    found = rule(node, depth - 1) if rule else NOTHING
    scaled = scaled_identity(node)
    if scaled is not None:
        # Of a number of rows that is any number, 1 among them, which broadcasts: the shape of a sum may be another's.
        known = not isinstance(scaled[0], Node) or scaled[0].op == "dim"
        found = (
            set(found)
            | {"symmetric"}
            | ({"diagonal"} if known else set())
            | ({"positive", "semidefinite"} if positive_number(scaled[1]) else set())
        )
    return frozenset(_closed(frozenset(found)))


def _of_product(node, depth):
    a, b = node.args[:2]
    if not all(isinstance(x, Node) and x.is_array for x in (a, b)):
        return NOTHING
    if are_transposes(a, b):
        return {"symmetric", "semidefinite"} if node.spec.dtype.kind == "f" else NOTHING
    return facts(a, depth) & facts(b, depth) & {"lower", "upper", "diagonal"}


def _broadcasts(node):
    """One operand is a number, or stretched: its zeros are none of the result's."""
    return any(
        not isinstance(x, Node) or not x.is_array or x.spec.shape != node.spec.shape for x in node.args[:2]
    )


def _of_sum(node, depth):
    a, b = node.args[:2]
    if _broadcasts(node):
        return NOTHING
    if isinstance(a, Node) and isinstance(b, Node) and are_transposes(a, b):
        return {"symmetric"}
    left, right = facts(a, depth), facts(b, depth)
    both = left & right & {"symmetric", "semidefinite", "lower", "upper", "diagonal"}
    if {"semidefinite"} <= left & right and "positive" in left | right:
        both = both | {"positive"}
    return both


def _of_difference(node, depth):
    if _broadcasts(node):
        return NOTHING
    return (
        facts(node.args[0], depth) & facts(node.args[1], depth) & {"symmetric", "lower", "upper", "diagonal"}
    )


def _scaled(node, depth):
    a, b = node.args[:2]
    for one, other in ((a, b), (b, a)):
        if is_number(other):
            found = facts(one, depth)
            return found if positive_number(other) else found - {"positive", "semidefinite"}
    left, right = facts(a, depth), facts(b, depth)
    found = set() if _broadcasts(node) else left & right & {"symmetric"}
    if node.op == "multiply":  # zeros of either are the product's
        for one, of in ((left, a), (right, b)):
            if isinstance(of, Node) and of.is_array and of.spec.shape == node.spec.shape:
                found |= one & {"lower", "upper", "diagonal"}
    return found


def _of_transpose(node, depth):
    inner = transposed(node)
    return {_SWAPPED.get(f, f) for f in facts(inner, depth)} if inner is not None else NOTHING


def _shifted(node, depth):
    found = facts(node.args[0], depth)
    if "semidefinite" in found and (positive_number(node.args[1]) or _above_zero(node.args[1])):
        found = found | {"positive"}
    return found


def _cholesky(node, depth):
    return {"upper"} if node.kwargs.get("upper") else {"lower"}


_RULES = {
    "xm.gram": lambda node, depth: {"symmetric", "semidefinite"},
    "xm.add_diagonal": _shifted,
    "xm.scale_rows": lambda node, depth: facts(node.args[1], depth) & {"lower", "upper", "diagonal"},
    "xm.scale_columns": lambda node, depth: facts(node.args[0], depth) & {"lower", "upper", "diagonal"},
    **dict.fromkeys(_PRODUCTS, _of_product),
    "add": _of_sum,
    "subtract": _of_difference,
    "multiply": _scaled,
    "divide": lambda node, depth: _scaled(node, depth) if is_number(node.args[1]) else NOTHING,
    "negative": lambda node, depth: facts(node.args[0], depth) - {"positive", "semidefinite"},
    "transpose": _of_transpose,
    "swapaxes": _of_transpose,
    "moveaxis": _of_transpose,
    "matrix_transpose": _of_transpose,
    "tril": lambda node, depth: _triangle(node, "lower"),
    "triu": lambda node, depth: _triangle(node, "upper"),
    "tri": lambda node, depth: (
        {"lower"} if len(node.args) == 1 and node.kwargs.keys() <= {"dtype"} else NOTHING
    ),
    "linalg.cholesky": _cholesky,
    "diag": lambda node, depth: _of_diagonal(node) if _is_diagonal(node) else NOTHING,
    "linalg.inv": lambda node, depth: facts(node.args[0], depth),
    "cov": lambda node, depth: {"symmetric", "semidefinite"},
    "corrcoef": lambda node, depth: {"symmetric", "semidefinite"},
    "copy": lambda node, depth: facts(node.args[0], depth),
    "astype": lambda node, depth: facts(node.args[0], depth) - {"positive"},
}


def _triangle(node, side):
    """tril(m, k) of k <= 0 and triu(m, k) of k >= 0."""
    k = node.args[1] if len(node.args) > 1 else node.kwargs.get("k", 0)
    inside = isinstance(k, int) and (k <= 0 if side == "lower" else k >= 0)
    return {side} if inside else NOTHING


def _of_diagonal(node):
    return {"diagonal"} | ({"positive", "semidefinite"} if _above_zero(node.args[0]) else set())


def _above_zero(node):
    """Whether every element of a vector is, by how it is made (0 too, where exp has underflown: Cholesky tells)."""
    if not isinstance(node, Node) or not node.is_array or node.spec.dtype.kind != "f":
        return False
    if node.op in ("exp", "exp2", "cosh"):
        return True
    if node.op == "add":
        return any(
            positive_number(one) and _not_below_zero(other) or _above_zero(one) and _not_below_zero(other)
            for one, other in (node.args, node.args[::-1])
        )
    return node.op == "ones"


def _not_below_zero(node):
    if not isinstance(node, Node) or not node.is_array:
        return is_number(node) and not isinstance(node, Node) and node >= 0
    square = node.op == "multiply" and node.args[0] is node.args[1]
    power = node.op == "power" and isinstance(node.args[1], int) and node.args[1] % 2 == 0
    return square or power or node.op in ("square", "abs", "absolute", "fabs", "sqrt") or _above_zero(node)


def _is_diagonal(node):
    return (
        len(node.args) == 1 and not node.kwargs and isinstance(node.args[0], Node) and node.args[0].ndim == 1
    )


def diagonal_of(node):
    """The vector d of diag(d); None where the node is none."""
    return node.args[0] if isinstance(node, Node) and node.op == "diag" and _is_diagonal(node) else None
