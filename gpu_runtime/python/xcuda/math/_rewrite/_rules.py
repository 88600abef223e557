"""The rules: each sees a node whose operands are rewritten already, and gives another one in its place or None."""

from __future__ import annotations

from .._functions import is_lazy
from .._graph import Node, Spec
from ._facts import (
    diagonal_of,
    facts,
    is_product,
    number_negated,
    same_values,
    scaled_by,
    scaled_identity,
    transposed,
    turned,
    unscaled,
)


def _square_float(node):
    return node.is_array and node.ndim == 2 and node.spec.dtype.kind == "f" and node.spec.dtype.itemsize >= 4


def _without_double_transpose(node, scope):
    if (
        node.op not in ("transpose", "swapaxes", "moveaxis", "matrix_transpose")
        or same_values(node) is not node
    ):
        return None
    of = node.args[0]
    if not isinstance(of, Node) or same_values(of) is not of or transposed(node) is not of:
        return None  # a copy stays one
    inner = transposed(of)
    return inner if inner is not None and inner is of.args[0] else None


def _without_identity(node, scope):
    """eye @ a and a @ eye are a."""
    if not is_product(node):
        return None
    a, b = node.args
    for eye, other in ((a, b), (b, a)):
        found = scaled_identity(eye)
        if (
            found is not None
            and found[1] == 1
            and other.spec == node.spec
            and eye.spec.shape[0] == eye.spec.shape[1]
        ):
            if (
                isinstance(found[0], Node) or other.op == "input"
            ):  # lengths may change: the check is the product's
                return None
            scope.tell("identity", node, "the matrix itself")
            return other
    return None


def _symmetric_product(node, scope):
    """a @ a.T: half of the multiplications, the other half mirrored."""
    if not is_product(node) or not _square_float(node):
        return None
    base, factors = _of_itself(*node.args)
    if base is None or base.spec.dtype != node.spec.dtype:
        return None
    scope.tell("symmetric product", node, "syrk: one triangle is computed, half of the multiplications")
    return scaled_by(Node("xm.gram", (base,), None, node.spec, None, node.line), factors)


def _of_itself(a, b):
    """(x, numbers) where the product of two matrices is x @ x.T times the numbers; (None, ()) where it is not."""
    outer_a, a = unscaled(same_values(a))
    outer_b, b = unscaled(same_values(b))
    factors = [*outer_a, *outer_b]
    a, b = same_values(a), same_values(b)
    for x, other, left in ((b, a, False), (a, b, True)):
        inner = transposed(x)
        if inner is None or inner.spec.dtype != x.spec.dtype:
            continue
        numbers, plain = unscaled(inner)
        if same_values(plain) is other:
            base = x if left and not numbers else turned(other) if left else other
            return base, [*factors, *numbers]
    return None, ()


def _numbers_outside(node, scope):
    """(c * (a @ b)) @ d and (c * inv(a)) @ b: the number comes last, so that what it stands before is seen."""
    if node.op not in ("matmul", "dot") or node.kwargs or node.spec.dtype.kind not in "fc":
        return None
    for i, operand in enumerate(node.args):
        if not isinstance(operand, Node) or not operand.is_array:
            return None
        factors, base = unscaled(operand)
        seen = transposed(base) if transposed(base) is not None else base
        if factors and seen.op in _STRUCTURED and scope.reads(operand) == 1 and operand.ndim <= 2:
            args = [*node.args[:i], base, *node.args[i + 1 :]]
            return scaled_by(Node(node.op, tuple(args), None, node.spec, None, node.line), factors)
    return None


_STRUCTURED = ("matmul", "dot", "xm.gram", "xm.chain", "linalg.inv")


def _by_diagonal(node, scope):
    """diag(d) @ a scales rows, a @ diag(d) columns."""
    if node.op not in ("matmul", "dot") or node.kwargs:
        return None
    a, b = node.args
    if not (isinstance(a, Node) and isinstance(b, Node)):
        return None
    d = _made_diagonal(a)
    if d is not None and b.is_array and b.ndim <= 2:
        scope.tell("diagonal matrix", node, "rows are scaled, in a kernel with what is around it")
        return Node("xm.scale_rows", (d, b), None, node.spec, None, node.line)
    d = _made_diagonal(b)
    if d is not None and a.is_array and a.ndim <= 2:
        scope.tell("diagonal matrix", node, "columns are scaled, in a kernel with what is around it")
        return Node("xm.scale_columns", (a, d), None, node.spec, None, node.line)
    return None


def _made_diagonal(node):
    """The diagonal of a matrix that is diagonal by how it is made; None for others, and for the identity itself."""
    d = diagonal_of(node)
    if d is not None or not node.is_array or scaled_identity(node) is not None or not is_lazy(node.op):
        return d
    if "diagonal" not in facts(node):
        return None
    return Node("diagonal", (node,), None, Spec(node.spec.shape[:1], node.spec.dtype), None, node.line)


def _diagonal_added(node, scope):
    """m + c * eye: only the diagonal is written, in place where nobody else reads m."""
    for matrix, other in (node.args, node.args[::-1]):
        found = _diagonal_part(other)
        if found is None or not isinstance(matrix, Node) or not _square_float(matrix):
            continue
        if node.op == "subtract" and matrix is not node.args[0]:
            continue
        if (
            matrix.spec.shape != other.spec.shape
            or matrix.spec.dtype != node.spec.dtype
            or is_lazy(matrix.op)
        ):
            continue
        if matrix.op in ("input", "constant", "part", "getitem", "reshape"):
            continue  # a kernel reads and writes all of it anyway: the identity fuses into that one
        n, number = found
        if node.op == "subtract":
            number = number_negated(number, node.line)
        fresh = scope.reads(matrix) == 1 and matrix not in scope.outputs
        where = "into the product itself" if fresh else "into a copy"
        scope.tell(
            "diagonal added", node, f"the diagonal alone is written, {where}; the identity is never made"
        )
        return Node("xm.add_diagonal", (matrix, number, n, fresh), None, node.spec, None, node.line)
    return None


def _diagonal_part(node):
    """(n, number) of number * eye(n); (None, vector) of diag(vector) of floats."""
    found = scaled_identity(node)
    if found is None and (d := diagonal_of(node)) is not None and d.spec.dtype.kind == "f":
        return None, d
    return found


# -- solutions ---------------------------------------------------------------------------------------


def _solution(matrix, right, spec, line, node, scope, because=""):
    """The node that solves by what is known of the matrix."""
    known = facts(matrix)
    d = diagonal_of(matrix)
    if d is not None:
        scope.tell("diagonal system", node, f"{because}a division by the diagonal")
        return Node("xm.solve_diagonal", (d, right), None, spec, None, line)
    if "diagonal" in known:
        scope.tell("diagonal system", node, f"{because}a division by the diagonal")
        d = Node("diagonal", (matrix,), None, Spec(matrix.spec.shape[:1], matrix.spec.dtype), None, line)
        return Node("xm.solve_diagonal", (d, right), None, spec, None, line)
    for side in ("lower", "upper"):
        if side in known:
            scope.tell(
                "triangular system", node, f"{because}substitution alone, no factorisation ({side} triangle)"
            )
            return Node("xm.solve_triangular", (matrix, right, side == "lower"), None, spec, None, line)
    if "positive" in known:
        scope.tell(
            "symmetric positive definite system",
            node,
            f"{because}Cholesky, half of LU's work; LU where rounding leaves it not positive definite",
        )
        return Node("xm.solve", (matrix, right, True), None, spec, None, line)
    return None


def _by_structure(node, scope):
    a, b = node.args[:2]
    if not isinstance(a, Node) or not a.is_array or a.ndim != 2 or not isinstance(b, Node) or b.ndim > 2:
        return None
    return _solution(a, b, node.spec, node.line, node, scope)


def _inverted(node, scope):
    """m of inv(m) or inv(m).T that nobody else reads; None for others."""
    if node.op == "linalg.inv" and scope.reads(node) == 1 and not node.kwargs:
        return node.args[0] if node.args[0].spec.dtype == node.spec.dtype else None
    inner = transposed(node)
    if inner is None or scope.reads(node) != 1:
        return None
    matrix = _inverted(inner, scope)
    return None if matrix is None else turned(matrix)


def _without_inverse(node, scope):
    """inv(a) @ b is a solution of a x = b; b @ inv(a) one of a.T x.T = b.T."""
    if node.op not in ("matmul", "dot") or node.kwargs:
        return None
    a, b = node.args
    if not (isinstance(a, Node) and isinstance(b, Node) and a.is_array and b.is_array):
        return None
    if (matrix := _inverted(a, scope)) is not None and (b.ndim <= 2 or a.ndim > 2) and b.ndim > 0:
        made = _solution(matrix, b, node.spec, node.line, node, scope, "no inverse: ")
        if made is not None:
            return made
        scope.tell("inverse times matrix", node, "a solution by LU: no inverse is made")
        return Node("xm.solve", (matrix, b, False), None, node.spec, None, node.line)
    if b.ndim == 2 and a.ndim <= 2 and (matrix := _inverted(b, scope)) is not None:
        other = matrix if "symmetric" in facts(matrix) else turned(matrix)
        right = a if a.ndim == 1 else turned(a)
        spec = Spec(node.spec.shape[::-1], node.spec.dtype)
        made = _solution(other, right, spec, node.line, node, scope, "no inverse: ")
        if made is None:
            scope.tell(
                "inverse times matrix", node, "a solution of the transposed system: no inverse is made"
            )
            made = Node("xm.solve", (other, right, False), None, spec, None, node.line)
        return made if a.ndim == 1 else Node("transpose", (made,), None, node.spec, None, node.line)
    return None


# -- chains ------------------------------------------------------------------------------------------


def _factors(node, scope, top=True):
    """The matrices of a product of products that nobody else reads."""
    if isinstance(node, Node) and node.op == "xm.chain" and (top or scope.reads(node) == 1):
        return list(node.args)
    if isinstance(node, Node) and node.op == "xm.gram" and not top and scope.reads(node) == 1:
        a = node.args[0]
        return [a, Node("transpose", (a,), None, Spec(a.spec.shape[::-1], a.spec.dtype), None, node.line)]
    if top or is_product(node) and scope.reads(node) == 1:
        found = []
        for each in node.args:
            found += _factors(each, scope, False)
        return found
    inner = None if top else transposed(node)
    if inner is not None and scope.reads(node) == 1 and scope.reads(inner) == 1:
        found = _factors(inner, scope, False)
        if len(found) > 1 and all(f.ndim == 2 for f in found):
            return [turned(f) for f in reversed(found)]
    return [node]


def _cost(factors):
    """Multiplications of the best order."""
    sides = [factors[0].spec.shape[0] if factors[0].ndim > 1 else 1]
    sides += [f.spec.shape[-1] if f.ndim > 1 else 1 for f in factors]
    n = len(factors)
    best = [[0] * n for _ in range(n)]
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            best[i][j] = min(
                best[i][k] + best[k + 1][j] + sides[i] * sides[k + 1] * sides[j + 1] for k in range(i, j)
            )
    return best[0][n - 1]


def _written_cost(node):
    if not isinstance(node, Node):
        return 0
    if node.op == "xm.gram":
        n, k = node.args[0].spec.shape
        return n * n * k // 2
    if node.op == "xm.chain":
        return _cost(list(node.args))
    if (inner := transposed(node)) is not None:
        return _written_cost(inner)
    if node.op not in ("matmul", "dot"):
        return 0
    a, b = node.args
    rows = a.spec.shape[0] if a.ndim > 1 else 1
    columns = b.spec.shape[-1] if b.ndim > 1 else 1
    return _written_cost(a) + _written_cost(b) + rows * a.spec.shape[-1] * columns


def _in_order(node, scope):
    """a @ b @ c in the order that multiplies least: decided at each call by the lengths it has."""
    if node.op not in ("matmul", "dot") or node.kwargs:
        return None
    if not all(
        isinstance(a, Node) and a.is_array and a.ndim <= 2 and a.spec.dtype.kind in "fc" for a in node.args
    ):
        return None
    if node.args[0].ndim == 1 and node.args[1].ndim == 1:
        return None
    factors = _factors(node, scope)
    if len(factors) < 3 or any(f.ndim != 2 for f in factors[1:-1]):
        return None
    if any(f.spec.dtype != node.spec.dtype for f in factors):
        return None
    written, best = _written_cost(node), _cost(factors)
    if best >= written:
        return None
    scope.tell(
        "order of products", node, f"{best:,} multiplications in place of {written:,}, for these lengths"
    )
    return Node("xm.chain", tuple(factors), None, node.spec, None, node.line)


# -- traces and diagonals ----------------------------------------------------------------------------


def _plain(node):
    return not node.kwargs and len(node.args) == 1


def _two_matrices(node):
    """The factors of a product, or of what stands for one."""
    if is_product(node):
        return node.args
    if isinstance(node, Node) and node.op == "xm.gram":
        a = node.args[0]
        return a, Node("transpose", (a,), None, Spec(a.spec.shape[::-1], a.spec.dtype), None, node.line)
    return None


def _unread_factors(node, scope):
    """The factors of the product that `node`, of floats and its only reader, takes; None where it is not such a one."""
    factors = _two_matrices(node.args[0])
    if factors is None or scope.reads(node.args[0]) > 1 or node.spec.dtype.kind not in "fc":
        return None
    return tuple(factors)


def _trace(node, scope):
    if not _plain(node):
        return None
    taken = _trace_apart(node, scope)
    if taken is not None:
        return taken
    if (factors := _unread_factors(node, scope)) is None:
        return None
    scope.tell("trace of a product", node, "sum(a * b.T): the product is never made")
    return Node("xm.trace_of_product", factors, None, node.spec, None, node.line)


def _trace_apart(node, scope):
    """trace(c * (a @ b)) is c * trace(a @ b), that of a sum with a product the sum of traces, that of p.T p's."""
    of = node.args[0]
    if not isinstance(of, Node) or not of.is_array or of.ndim != 2 or node.spec.dtype.kind not in "fc":
        return None
    if scope.reads(of) > 1 or of.spec.dtype != node.spec.dtype:
        return None
    factors, base = unscaled(of)
    inner = transposed(base)
    if (factors or inner is not None) and scope.reads(base) == 1:
        seen = base if inner is None else inner
        if _two_matrices(seen) is not None and scope.reads(seen) == 1:
            return scaled_by(Node(node.op, (seen,), None, node.spec, None, node.line), factors)
    if of.op in ("add", "subtract") and not of.kwargs:
        square = all(isinstance(x, Node) and x.is_array and x.spec == of.spec for x in of.args)
        if square and any(_two_matrices(unscaled(x)[1]) and scope.reads(x) == 1 for x in of.args):
            parts = [Node(node.op, (x,), None, node.spec, None, node.line) for x in of.args]
            return Node(of.op, tuple(parts), None, node.spec, None, node.line)
    return None


def _diagonal(node, scope):
    if not _plain(node) or not isinstance(node.args[0], Node) or node.ndim != 1:
        return None
    if (factors := _unread_factors(node, scope)) is None:
        return None
    scope.tell("diagonal of a product", node, "sum(a * b.T, axis=1): the product is never made")
    return Node("xm.diagonal_of_product", factors, None, node.spec, None, node.line)


# -- what structure spares where nothing else used it ------------------------------------------------


def _determinant(node, scope):
    """Of a triangle: the product of its diagonal."""
    of = node.args[0] if _plain(node) else None
    if not isinstance(of, Node) or not facts(of) & {"lower", "upper"}:
        return None
    scope.tell("determinant of a triangle", node, "the product of the diagonal: nothing is factorised")
    d = Node("diagonal", (of,), None, Spec(of.spec.shape[:1], of.spec.dtype), None, node.line)
    return Node("xm.product_of_diagonal", (d, of), None, node.spec, None, node.line)


def _inverse(node, scope):
    """Of a triangle by substitution, of a diagonal matrix by division."""
    of = node.args[0] if _plain(node) else None
    if not isinstance(of, Node) or of.spec.dtype != node.spec.dtype:
        return None
    known = facts(of)
    sides = [side for side in ("diagonal", "lower", "upper") if side in known]
    if not sides:
        return None
    how = "one over the diagonal" if sides[0] == "diagonal" else f"substitution ({sides[0]} triangle)"
    scope.tell(
        "inverse of a " + ("diagonal matrix" if sides[0] == "diagonal" else "triangle"),
        node,
        f"{how}: nothing is factorised",
    )
    return Node("xm.structured_inverse", (of, sides[0]), None, node.spec, None, node.line)


_OF_PRODUCTS = (
    *(_without_identity, _by_diagonal, _without_inverse, _symmetric_product, _in_order, _numbers_outside),
)
RULES = {
    "transpose": (_without_double_transpose,),
    "swapaxes": (_without_double_transpose,),
    "moveaxis": (_without_double_transpose,),
    "matrix_transpose": (_without_double_transpose,),
    "matmul": _OF_PRODUCTS,
    "dot": _OF_PRODUCTS,
    "add": (_diagonal_added,),
    "subtract": (_diagonal_added,),
    "linalg.solve": (_by_structure,),
    "trace": (_trace,),
    "linalg.trace": (_trace,),
    "diagonal": (_diagonal,),
    "linalg.diagonal": (_diagonal,),
    "diag": (_diagonal,),
}
LAST = {"linalg.inv": (_inverse,), "linalg.det": (_determinant,)}
