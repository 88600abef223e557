"""What the rewrites put in place of what was written: half products, solutions by structure, chains in order."""

from __future__ import annotations

import functools
import math

import numpy

from xcuda import numeric
from xcuda._dense import products, solvers, triangular
from xcuda.numeric._array import asarray, ndarray
from xcuda.numeric._stacks import as_it_lies, device_array, ours, stack_of, unstacked
from xcuda.numeric.linalg import _solvers as checked

LinAlgError = numpy.linalg.LinAlgError


def gram(a):
    """a @ a.T of one matrix, by half the multiplications."""
    if a.ndim != 2 or a.dtype.kind != "f" or a.dtype.itemsize < 4:
        return numeric.matmul(a, a.T)
    return ours(products.self_product(as_it_lies(a) if _lies_well(a) else device_array(a)))


def _lies_well(a):
    if a._host_accessible:
        return True
    from xcuda._dense.layout import gpu

    return gpu().readable(as_it_lies(a))


def add_diagonal(matrix, number, n, fresh):
    """matrix + number * eye(n): only the diagonal is written; `fresh`: into the matrix itself. A vector: n is None."""
    from ._functions import eye

    n = number.shape[0] if n is None else n
    if matrix.shape != (n, n):
        return matrix + number * eye(n)  # broadcasts, or is refused as NumPy has it
    dtype = numpy.result_type(matrix.dtype, number if not isinstance(number, ndarray) else number.dtype)
    if dtype != matrix.dtype:
        made = matrix.astype(dtype)
    else:
        made = matrix if fresh and not matrix._readonly else matrix.copy()
    diagonal = made._view(0, [n], [sum(made.strides) // made.itemsize])
    diagonal += number
    return made


def scale_rows(diagonal, matrix):
    """diag(d) @ matrix."""
    _expect_lengths(diagonal.shape[0], matrix.shape[0])
    return diagonal[:, None] * matrix if matrix.ndim > 1 else diagonal * matrix


def scale_columns(matrix, diagonal):
    """matrix @ diag(d)."""
    _expect_lengths(matrix.shape[-1], diagonal.shape[0])
    return matrix * diagonal


def _expect_lengths(a, b):
    if a != b:
        raise ValueError(f"matmul: {a} columns don't meet {b} rows")


def trace_of_product(a, b):
    """trace(a @ b) without the product: the sum of a * b.T."""
    _expect_lengths(a.shape[1], b.shape[0])
    n = min(a.shape[0], b.shape[1])
    return (a[:n] * b.T[:n]).sum()


def diagonal_of_product(a, b):
    """diagonal(a @ b) without the product."""
    _expect_lengths(a.shape[1], b.shape[0])
    n = min(a.shape[0], b.shape[1])
    return (a[:n] * b.T[:n]).sum(axis=1)


def chain(*matrices):
    """The product of several, in the order that multiplies least for their shapes."""
    for a, b in zip(matrices, matrices[1:], strict=False):
        _expect_lengths(a.shape[-1], b.shape[0])
    return numeric.linalg.multi_dot(matrices)


def fast_product(a, b):
    """a @ b; float32 matrices may be rounded to TF32 on a GPU, whose matrix units then do the work."""
    if (
        a.dtype != numpy.float32
        or b.dtype != numpy.float32
        or a.ndim != 2
        or b.ndim != 2
        or a.shape[1] != b.shape[0]
    ):
        return tuned_product(a, b)
    left, right = (as_it_lies(x) if _lies_well(x) else device_array(x) for x in (a, b))
    return ours(products.matmul(left, right, tf32=True))


# -- solutions ---------------------------------------------------------------------------------------


def _checked(a, b):
    """As numpy.linalg.solve checks them: (the dtype to work in, b's columns, is b a vector)."""
    checked.expect_square(a)
    kind = checked.working_dtype(a, b)
    vector = b.ndim == 1
    columns = b[:, None] if vector else b
    if columns.shape[-2] != a.shape[-1]:
        raise ValueError(f"solve: {a.shape[-1]} columns don't meet {columns.shape[-2]} rows")
    return kind, columns, vector


def _prepared(a, b):
    """(stack of a, stack of b's columns, is b a vector)."""
    kind, columns, vector = _checked(a, b)
    return stack_of(a, kind)[0], stack_of(columns, kind)[0], vector


def cholesky_solve(a, b):
    """By Cholesky's factors; LinAlgError where the matrix is not positive definite."""
    stack, columns, vector = _prepared(a, b)
    x = unstacked(solvers.solve_positive(stack, columns), ())
    return x[:, 0] if vector else x


def refined_solve(a, b):
    """LU in float32, then refinement by residuals in float64 (Wilkinson): float64's accuracy or an error."""
    _checked(a, b)
    single = a.astype(numpy.float32)
    limit = float(numpy.finfo(numpy.float64).eps) * math.sqrt(a.shape[0])
    norm = float(abs(a).sum(axis=1).max())
    x = numeric.linalg.solve(single, b.astype(numpy.float32)).astype(numpy.float64)
    for _ in range(6):
        rest = b - numeric.matmul(a, x)
        size = float(abs(rest).max())
        if size <= limit * norm * float(abs(x).max()):
            return x
        scale = size or 1.0
        x = x + scale * numeric.linalg.solve(single, (rest / scale).astype(numpy.float32)).astype(
            numpy.float64
        )
    raise LinAlgError("refinement does not converge: the matrix is too ill-conditioned for float32")


def solve_positive(a, b):
    """By Cholesky's factors; by LU where the matrix turns out not to be positive definite."""
    if a.ndim != 2 or b.ndim > 2 or not a.size:
        return numeric.linalg.solve(a, b)
    stack, columns, vector = _prepared(a, b)
    try:
        x = unstacked(solvers.solve_positive(stack, columns), ())
    except LinAlgError:
        return numeric.linalg.solve(a, b)
    return x[:, 0] if vector else x


def solve_triangular(a, b, lower):
    """By substitution alone."""
    if a.ndim != 2 or b.ndim > 2 or not a.size:
        return numeric.linalg.solve(a, b)
    stack, columns, vector = _prepared(a, b)
    x = unstacked(triangular.solve_triangular(stack, columns, lower), ())
    return x[:, 0] if vector else x


def solve_diagonal(diagonal, b):
    """diag(d) x = b: a division."""
    _expect_lengths(diagonal.shape[0], b.shape[0])
    if bool((diagonal == 0).any()):
        raise LinAlgError("Singular matrix")
    return b / (diagonal[:, None] if b.ndim > 1 else diagonal)


def product_of_diagonal(diagonal, matrix):
    """The determinant of a triangle."""
    checked.expect_square(matrix)
    return diagonal.prod()


def structured_inverse(matrix, side):
    """The inverse of a "diagonal" matrix, or of a "lower" or "upper" triangle."""
    from ._functions import eye

    checked.expect_square(matrix)
    n = matrix.shape[0]
    if side != "diagonal":
        return solve_triangular(matrix, eye(n, dtype=matrix.dtype), side == "lower")
    diagonal = numeric.diagonal(matrix)
    if bool((diagonal == 0).any()):
        raise LinAlgError("Singular matrix")
    return eye(n, dtype=matrix.dtype) * (1 / diagonal)


def least_squares(a, b, rcond=None):
    """numpy.linalg.lstsq; of a stack of matrices, whose residuals are nan where the rank leaves the solution open."""
    a, b = asarray(a), asarray(b)
    if a.ndim < 3:
        return numeric.linalg.lstsq(a, b, rcond)
    vectors = b.ndim == a.ndim - 1
    columns = b[..., None] if vectors else b
    if columns.ndim != a.ndim or columns.shape[:-1] != a.shape[:-1]:
        raise LinAlgError(f"lstsq: matrices of shape {a.shape} don't meet right sides of shape {b.shape}")
    m, n = a.shape[-2:]
    kind = checked.working_dtype(a, columns)
    a, columns = a.astype(kind), columns.astype(kind)
    if rcond is None or rcond < 0:
        rcond = numpy.finfo(kind).eps * (max(m, n) if rcond is None else 0.5)
    u, s, vh = numeric.linalg.svd(a, full_matrices=False)
    large = s > rcond * s[..., :1]
    inverse = numeric.where(large, 1 / numeric.where(large, s, 1), 0)
    adjoint = lambda z: numeric.swapaxes(numeric.conj(z) if z.dtype.kind == "c" else z, -1, -2)  # noqa: E731
    x = numeric.matmul(adjoint(vh), inverse[..., None] * numeric.matmul(adjoint(u), columns))
    rank = large.sum(axis=-1)
    rest = abs(columns - numeric.matmul(a, x)) ** 2
    residuals = numeric.where((rank == n)[..., None], rest.sum(axis=-2), numpy.nan)
    return (x[..., 0] if vectors else x), (residuals[..., 0] if vectors else residuals), rank, s


def tuned_solve(a, b, positive):
    """LU or Cholesky by measurement, where nvmath.optimization.auto_tune is on; else by what is known of the matrix."""
    from .optimization import _choices

    return _choices.solve(a, b, positive)


def tuned_product(x1, x2, /, *args, **kwargs):
    """numpy.matmul; within `nvmath.optimization.auto_tune()` in the layout that measures fastest."""
    from .optimization import _choices

    return _choices.product(x1, x2, *args, **kwargs)


TABLE = {
    "xm.gram": gram,
    "xm.add_diagonal": add_diagonal,
    "xm.scale_rows": scale_rows,
    "xm.scale_columns": scale_columns,
    "xm.trace_of_product": trace_of_product,
    "xm.diagonal_of_product": diagonal_of_product,
    "xm.chain": chain,
    "xm.solve": tuned_solve,
    "xm.solve_triangular": solve_triangular,
    "xm.solve_diagonal": solve_diagonal,
    "xm.product_of_diagonal": product_of_diagonal,
    "xm.structured_inverse": structured_inverse,
    "matmul": tuned_product,
    "linalg.lstsq": least_squares,
    "linalg.solve": functools.partial(tuned_solve, positive=None),
}
LAZY = frozenset(("xm.scale_rows", "xm.scale_columns", "xm.trace_of_product", "xm.diagonal_of_product"))
