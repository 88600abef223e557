"""Products of stacks of matrices."""

import functools

import numpy

from xcuda._dense.layout import empty, gpu, host, mirror, on_host
from xcuda.core.errors import MachineError


def matmul(a, b, out=None, *, alpha=1.0, beta=0.0, tf32=False):
    """alpha * (a @ b) + beta * out; as many axes (2 or more) in each, leading lengths equal (a stride of 0 repeats).

    Floating and complex dtypes, the same for both; float16 and bfloat16 are summed in float32.
    """
    if out is None:
        out = empty((*a.shape[:-1], b.shape[-1]), a.dtype, a)
    if not out.size:
        return out
    if on_host(a):
        _on_the_host(a, b, out, alpha, beta)
    elif a.shape[-1] == 0 and beta == 0:
        out._fill_bytes(0)
    else:
        gpu().matmul(a, b, out, alpha, beta, tf32)
    return out


ACTIVATIONS = ("", "relu", "gelu")  # in the order of math/epilogue.hpp


@functools.cache
def epilogues_missing():
    """Why there are no epilogues: cuBLASLt is not here. "" where it is."""
    try:
        gpu().expect_epilogues()
    except MachineError as missing:
        return str(missing)
    return ""


def with_epilogue(a, b, *, alpha=1.0, residual=None, bias=None, activation="", tf32=False, choice=0):
    """activation(alpha * (a @ b) + residual + bias) of matrices by one kernel of cuBLASLt; None where it has none.

    One dtype of float16, bfloat16, float32 and float64; `residual` has the result's shape, `bias` a number a column,
    both C-contiguous. choice: of the algorithms that the library finds. gelu is tanh's form, approximated.
    """
    if epilogues_missing():
        return None
    out = empty((a.shape[0], b.shape[1]), a.dtype, a)
    which = ACTIVATIONS.index(activation)
    done = gpu().product_with_epilogue(a, b, out, alpha, residual, bias, which, tf32, choice)
    return out if done else None


def _on_the_host(a, b, out, alpha, beta):
    left, right, result = host(a), host(b), host(out)
    if result.dtype.itemsize == 2:  # NumPy's own loop over float16 is slow, and sums in float16
        product = numpy.matmul(left.astype(numpy.float32), right.astype(numpy.float32))
    elif alpha == 1 and beta == 0:
        numpy.matmul(left, right, out=result)
        return
    else:
        product = numpy.matmul(left, right)
    result[...] = alpha * product + beta * result if beta else alpha * product


def self_product(a, alpha=1.0):
    """a @ a.T (a.conj().T where complex) of one matrix: half the work, both triangles filled."""
    out = empty((a.shape[0], a.shape[0]), a.dtype, a)
    if not out.size:
        return out
    if on_host(a):
        matrix = host(a)
        numpy.matmul(
            matrix, matrix.conj().T, out=host(out)
        )  # NumPy calls syrk for a matrix with its own transpose
        if alpha != 1:
            host(out)[...] *= alpha
    elif a.shape[1] == 0:
        out._fill_bytes(0)
    else:
        gpu().self_product(a, out, alpha, 0.0)
        mirror(out)
    return out
