"""The rules: each sees a node whose operands are rewritten already, and gives another one in its place or None."""

from __future__ import annotations

from .._functions import is_lazy
from .._graph import Node, Spec
from ._facts import diagonal_of, facts, is_product, scaled_identity, transposed


def _square_float(node):
    return node.is_array and node.ndim == 2 and node.spec.dtype.kind == "f" and node.spec.dtype.itemsize >= 4


def _without_double_transpose(node, scope):
    inner = transposed(node)
    return transposed(inner) if inner is not None else None


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
    a, b = node.args
    if transposed(b) is a or transposed(a) is b:
        scope.tell("symmetric product", node, "syrk: one triangle is computed, half of the multiplications")
        return Node("xm.gram", (a,), None, node.spec, None, node.line)
    return None


def _by_diagonal(node, scope):
    """diag(d) @ a scales rows, a @ diag(d) columns."""
    if node.op not in ("matmul", "dot") or node.kwargs:
        return None
    a, b = node.args
    if not (isinstance(a, Node) and isinstance(b, Node)):
        return None
    d = diagonal_of(a)
    if d is not None and b.is_array and b.ndim <= 2:
        scope.tell("diagonal matrix", node, "rows are scaled, in a kernel with what is around it")
        return Node("xm.scale_rows", (d, b), None, node.spec, None, node.line)
    d = diagonal_of(b)
    if d is not None and a.is_array and a.ndim <= 2:
        scope.tell("diagonal matrix", node, "columns are scaled, in a kernel with what is around it")
        return Node("xm.scale_columns", (a, d), None, node.spec, None, node.line)
    return None


def _diagonal_added(node, scope):
    """m + c * eye: only the diagonal is written, in place where nobody else reads m."""
    for matrix, other in (node.args, node.args[::-1]):
        found = scaled_identity(other)
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
            number = -number if not isinstance(number, Node) else None
            if number is None:
                continue
        fresh = scope.reads(matrix) == 1 and matrix not in scope.outputs
        where = "into the product itself" if fresh else "into a copy"
        scope.tell(
            "diagonal added", node, f"the diagonal alone is written, {where}; the identity is never made"
        )
        return Node("xm.add_diagonal", (matrix, number, n, fresh), None, node.spec, None, node.line)
    return None


# -- solutions ---------------------------------------------------------------------------------------


def _solution(matrix, right, spec, line, node, scope, because=""):
    """The node that solves by what is known of the matrix."""
    known = facts(matrix)
    d = diagonal_of(matrix)
    if d is not None:
        scope.tell("diagonal system", node, f"{because}a division by the diagonal")
        return Node("xm.solve_diagonal", (d, right), None, spec, None, line)
    for side in ("lower", "upper"):
        if side in known and "diagonal" not in known:
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


def _without_inverse(node, scope):
    """inv(a) @ b is a solution of a x = b; b @ inv(a) one of a.T x.T = b.T."""
    if node.op not in ("matmul", "dot") or node.kwargs:
        return None
    a, b = node.args
    if not (isinstance(a, Node) and isinstance(b, Node) and a.is_array and b.is_array):
        return None
    if a.op == "linalg.inv" and a.ndim == 2 and b.ndim <= 2 and scope.reads(a) == 1:
        matrix = a.args[0]
        made = _solution(matrix, b, node.spec, node.line, node, scope, "no inverse: ")
        if made is not None:
            return made
        scope.tell("inverse times matrix", node, "a solution by LU: no inverse is made")
        return Node("xm.solve", (matrix, b, False), None, node.spec, None, node.line)
    if b.op == "linalg.inv" and b.ndim == 2 and a.ndim <= 2 and scope.reads(b) == 1:
        matrix = b.args[0]
        turned = Node("transpose", (matrix,), None, matrix.spec, None, node.line)
        if "symmetric" in facts(matrix):
            turned = matrix
        right = (
            a
            if a.ndim == 1
            else Node("transpose", (a,), None, Spec(a.spec.shape[::-1], a.spec.dtype), None, node.line)
        )
        spec = Spec(node.spec.shape[::-1], node.spec.dtype)
        made = _solution(turned, right, spec, node.line, node, scope, "no inverse: ")
        if made is None:
            scope.tell(
                "inverse times matrix", node, "a solution of the transposed system: no inverse is made"
            )
            made = Node("xm.solve", (turned, right, False), None, spec, None, node.line)
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
    if not _plain(node) or (factors := _unread_factors(node, scope)) is None:
        return None
    scope.tell("trace of a product", node, "sum(a * b.T): the product is never made")
    return Node("xm.trace_of_product", factors, None, node.spec, None, node.line)


def _diagonal(node, scope):
    if not _plain(node) or not isinstance(node.args[0], Node) or node.ndim != 1:
        return None
    if (factors := _unread_factors(node, scope)) is None:
        return None
    scope.tell("diagonal of a product", node, "sum(a * b.T, axis=1): the product is never made")
    return Node("xm.diagonal_of_product", factors, None, node.spec, None, node.line)


_OF_PRODUCTS = (_without_identity, _by_diagonal, _without_inverse, _symmetric_product, _in_order)
RULES = {
    "transpose": (_without_double_transpose,),
    "swapaxes": (_without_double_transpose,),
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
