"""Solutions of stacks of triangular systems."""

import numpy

from xcuda._dense.layout import copied, each_column_major, from_host, gpu, host, on_host, transposed

_LEAF = 64  # rows that LAPACK takes at once on the host; above it products of matrices do the work


def solve_triangular(t, b, lower):
    """x with t @ x == b, reading one triangle of each matrix of t (count, n, n); b is (count, n, m).

    LinAlgError where an element of a diagonal is 0.
    """
    if on_host(t):
        made = [substituted(matrix, right, lower) for matrix, right in zip(host(t), host(b), strict=True)]
        return from_host(numpy.stack(made) if made else host(b), t)
    if (numpy.diagonal(t.copy_to_host(), axis1=1, axis2=2) == 0).any():
        raise numpy.linalg.LinAlgError("Singular matrix")
    x = transposed(b)
    # What is lower by rows is upper by columns.
    for i, matrix in enumerate(each_column_major(copied(t))):
        gpu().solve_triangular(matrix, x[i].T, not lower, False, True, False)
    return transposed(x)


def substituted(t, b, lower):
    """The same for one matrix of NumPy's, by halves: products of matrices, then small triangles."""
    x = numpy.array(b)
    _substitute(t, x, lower)
    return x


def _substitute(t, x, lower):
    n = t.shape[0]
    if n <= _LEAF:
        x[...] = numpy.linalg.solve(numpy.tril(t) if lower else numpy.triu(t), x)
        return
    half = n // 2
    first, second = (slice(0, half), slice(half, n)) if lower else (slice(half, n), slice(0, half))
    _substitute(t[first, first], x[first], lower)
    x[second] -= t[second, first] @ x[first]
    _substitute(t[second, second], x[second], lower)
