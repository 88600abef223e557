"""Other ways to write a product or a sum of products, brought to the one that the rules look for."""

from __future__ import annotations

from .._functions import is_lazy
from .._graph import Node, Spec
from ._facts import are_transposes, turned


def _floats(*nodes):
    return all(isinstance(n, Node) and n.is_array and n.spec.dtype.kind in "fc" for n in nodes)


def _matrices(*nodes):
    return _floats(*nodes) and all(n.ndim == 2 for n in nodes)


def _product(a, b, node):
    return Node("matmul", (a, b), None, node.spec, None, node.line)


def _inner(node, scope):
    """inner(a, b) is a @ b.T."""
    if len(node.args) != 2 or node.kwargs or not _matrices(*node.args):
        return None
    return _product(node.args[0], turned(node.args[1]), node)


def _tensordot(node, scope):
    """tensordot of matrices along one axis of each."""
    if len(node.args) not in (2, 3) or not _matrices(*node.args[:2]) or node.kwargs.keys() - {"axes"}:
        return None
    a, b = node.args[:2]
    axes = node.args[2] if len(node.args) > 2 else node.kwargs.get("axes", 2)
    if axes == 1 and isinstance(axes, int):
        axes = (1, 0)
    if not isinstance(axes, (tuple, list)) or len(axes) != 2:
        return None
    left, right = (x[0] if isinstance(x, (tuple, list)) and len(x) == 1 else x for x in axes)
    if not all(isinstance(x, int) for x in (left, right)):
        return None
    return _product(a if left % 2 == 1 else turned(a), b if right % 2 == 0 else turned(b), node)


def _multi_dot(node, scope):
    """multi_dot chooses an order itself: of two matrices it is a product, of more a chain."""
    if len(node.args) != 1 or node.kwargs or not isinstance(node.args[0], (tuple, list)):
        return None
    factors = node.args[0]
    if len(factors) == 2 and _matrices(*factors):
        return _product(*factors, node)
    ends = _floats(*factors) and all(f.ndim == 2 for f in factors[1:-1])
    if len(factors) > 2 and ends and all(f.spec.dtype == node.spec.dtype for f in factors):
        return Node("xm.chain", tuple(factors), None, node.spec, None, node.line)
    return None


def _power(node, scope):
    """matrix_power(a, -1) is inv(a)."""
    one = len(node.args) == 2 and not node.kwargs and isinstance(node.args[1], int) and node.args[1] == -1
    return Node("linalg.inv", node.args[:1], None, node.spec, None, node.line) if one else None


def _sum_of_products(a, b, node, scope):
    """sum(a * b), in one kernel with what makes its operands; None where both lie in memory."""
    if not any(is_lazy(x.op) and scope.reads(x) <= 2 for x in (a, b)):
        return None
    scope.tell("inner product", node, "sum(a * b), in one kernel with what makes its operands")
    product = Node("multiply", (a, b), None, a.spec, None, node.line)
    return Node("sum", (product,), None, node.spec, None, node.line)


def _vdot(node, scope):
    """vdot(a, a) of what is computed: its conjugate is itself where it is real."""
    a, b = node.args if len(node.args) == 2 and not node.kwargs else (None, None)
    same = a is b and _floats(a) and a.spec.dtype.kind == "f"
    return _sum_of_products(a, b, node, scope) if same else None


def _dot(node, scope):
    """dot(a, b) of vectors, one of which is computed."""
    a, b = node.args if len(node.args) == 2 and not node.kwargs else (None, None)
    if not _floats(a, b) or a.ndim != 1 or b.ndim != 1 or a.spec != b.spec:
        return None
    return _sum_of_products(a, b, node, scope)


def _einsum(node, scope):
    """Of two operands: sums of a * b where both have the same letters; a @ a.T where it is that. Of one: a diagonal."""
    if (
        len(node.args) == 2
        and not node.kwargs
        and node.args[0] in ("ii->", "ii->i")
        and _matrices(node.args[1])
    ):
        op = "diagonal" if node.args[0].endswith("i") else "trace"
        return Node(op, node.args[1:], None, node.spec, None, node.line)
    if len(node.args) != 3 or node.kwargs or not isinstance(node.args[0], str) or not _floats(*node.args[1:]):
        return None
    a, b = node.args[1:]
    terms, arrow, out = node.args[0].replace(" ", "").partition("->")
    left, _, right = terms.partition(",")
    letters = [left, right, out]
    if (
        not arrow
        or "." in terms
        or any(len(set(t)) != len(t) for t in letters)
        or a.spec.dtype != b.spec.dtype
    ):
        return None
    if (len(left), len(right)) != (a.ndim, b.ndim):
        return None
    if set(left) == set(right):
        return _products_summed(a, b, left, right, out, node)
    contracted = set(left) & set(right)
    if len(left) != 2 or len(right) != 2 or len(contracted) != 1 or contracted & set(out) or len(out) != 2:
        return None
    (shared,) = contracted
    a = a if left[1] == shared else turned(a)
    b = b if right[0] == shared else turned(b)
    # Only where both lengths of the shared letter are one array's: einsum lets others broadcast.
    return _product(a, b, node) if are_transposes(a, b) else None


def _products_summed(a, b, left, right, out, node):
    dtype, line = node.spec.dtype, node.line
    kept = [c for c in left if c in out]
    if left != right:
        order = tuple(right.index(c) for c in left)
        shape = tuple(b.spec.shape[i] for i in order)
        b = Node("transpose", (b, order), None, Spec(shape, dtype), None, line)
    if a.spec.shape != b.spec.shape:
        return None
    made = Node("multiply", (a, b), None, Spec(a.spec.shape, dtype), None, line)
    if len(kept) < len(left):
        axes = tuple(i for i, c in enumerate(left) if c not in out)
        shape = tuple(n for i, n in enumerate(a.spec.shape) if i not in axes)
        made = Node("sum", (made, axes), None, Spec(shape, dtype), None, line)
    if "".join(kept) != out:
        made = Node("transpose", (made, tuple(kept.index(c) for c in out)), None, node.spec, None, line)
    return made


RULES = {
    "inner": (_inner,),
    "tensordot": (_tensordot,),
    "linalg.tensordot": (_tensordot,),
    "linalg.multi_dot": (_multi_dot,),
    "linalg.matrix_power": (_power,),
    "vdot": (_vdot,),
    "dot": (_dot,),
    "matmul": (_dot,),
    "einsum": (_einsum,),
}
