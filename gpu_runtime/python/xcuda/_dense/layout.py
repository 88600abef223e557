"""Stacks of matrices as the libraries want them, made on the device."""

import functools

import numpy

from xcuda import _runtime
from xcuda import core as cuda
from xcuda.core.own_kernel import own_kernel


@own_kernel()
def _transposed(out, a):
    i, j, k = cuda.grid(3)
    if i < out.shape[0] and j < out.shape[1] and k < out.shape[2]:
        out[i, j, k] = a[i, k, j]


@own_kernel()
def _triangle(out, a, below, above):
    i, j, k = cuda.grid(3)
    if i < out.shape[0] and j < out.shape[1] and k < out.shape[2]:
        out[i, j, k] = a[i, j, k] if (k <= j + above) and (j <= k + below) else 0


@own_kernel()
def _diagonal(out, a):
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = a[i, j, j]


@own_kernel()
def _identity(out):
    i, j, k = cuda.grid(3)
    if i < out.shape[0] and j < out.shape[1] and k < out.shape[2]:
        out[i, j, k] = 1 if j == k else 0


@own_kernel()
def _converted(out, a):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = a[i]


@own_kernel()
def _mirrored(a):
    i, j = cuda.grid(2)
    if i < a.shape[0] and j < a.shape[1] and j > i:
        a[i, j] = a[j, i].conjugate()


def on_host(array):
    """True where NumPy may work on the array's own memory."""
    return array._host_accessible


@functools.cache
def gpu():
    """The bindings of NVIDIA's libraries."""
    return _runtime.cuda_math


def host(array):
    """The array as NumPy sees it, in place where the host can; what was asked of it is done by then."""
    return numpy.asarray(array) if on_host(array) else array.copy_to_host()


def empty(shape, dtype, like):
    """A new array on the device of `like`."""
    if like._device_label == _runtime.current_device_label():
        return cuda.empty(tuple(shape), dtype)
    with like.device:
        return cuda.empty(tuple(shape), dtype)


def from_host(values, like):
    """NumPy's values as a new array on the device of `like`."""
    made = empty(values.shape, values.dtype, like)
    if on_host(made):
        host(made)[...] = values
    else:
        made.copy_to_device(numpy.ascontiguousarray(values))
    return made


def copied(array):
    """Its values in new memory, as it lies."""
    made = empty(array.shape, array.dtype, array)
    if array.size:
        made._copy_from(array)
    return made


def transposed(stack):
    """A new stack with the last two axes exchanged."""
    made = empty((stack.shape[0], stack.shape[2], stack.shape[1]), stack.dtype, stack)
    if made.size:
        _transposed()(made, stack)
    return made


def triangle(stack, rows, below, above):
    """The first rows, and of them what lies at most `below` diagonals under and `above` over the main one; else 0."""
    made = empty((stack.shape[0], rows, stack.shape[2]), stack.dtype, stack)
    if made.size:
        _triangle()(made, stack, below, above)
    return made


def diagonal(stack):
    """The main diagonals, one a row."""
    made = empty((stack.shape[0], min(stack.shape[1:])), stack.dtype, stack)
    if made.size:
        _diagonal()(made, stack)
    return made


def mirror(matrix):
    """Fills the upper triangle from the lower one: of a Hermitian matrix."""
    _mirrored()(matrix)


def identity(count, n, like):
    """A stack of identity matrices."""
    made = empty((count, n, n), like.dtype, like)
    if made.size:
        _identity()(made)
    return made


def converted(array, dtype):
    """The same values in another dtype."""
    made = empty(array.shape, dtype, array)
    if made.size:
        _converted()(made.reshape(-1), array.reshape(-1))
    return made


def each_column_major(stack):
    """Of a stack whose matrices lie transposed: each matrix, column-major, sharing memory."""
    for i in range(stack.shape[0]):
        yield stack[i].T
