"""einsum: contractions two at a time, each as one product of matrices or one fused sum."""

import math
import operator

import numpy

from ._array import asarray, ndarray
from ._dtypes import as_dtype
from ._fallback import to_host
from ._out import given
from ._products import _stacked_product
from ._registry import TABLE, native


def _label(x):
    if x is ...:
        return x
    label = operator.index(x)
    if not 0 <= label < 52:
        raise ValueError(f"subscript is not within the valid range [0, 52): {label}")
    return label


def _plain(operands):
    """Labels in lists, of any kind of integers, as Python's."""
    if not operands or isinstance(operands[0], str):
        return operands
    last = len(operands) - 1
    of_labels = lambda i: i % 2 or i == last  # noqa: E731 (a last one without an array tells the result's)
    return tuple([_label(x) for x in part] if of_labels(i) else part for i, part in enumerate(operands))


def _parts(operands):
    """(places of the arrays in `operands`, the arrays): 'ij,jk', a, b or a, [0, 1], b, [1, 2], [0, 2]."""
    named = isinstance(operands[0], str)
    places = list(range(1, len(operands)) if named else range(0, len(operands) - 1, 2))
    return places, [asarray(operands[i]) for i in places]


def _stand_ins(operands, places, arrays):
    """The same call with arrays that take no memory, for NumPy to plan and to check."""
    made = list(operands)
    for i, array in zip(places, arrays, strict=True):
        dtype = array.dtype if isinstance(array, (ndarray, numpy.ndarray)) else None
        made[i] = numpy.broadcast_to(numpy.zeros((), dtype), array.shape)
    return made


@native("einsum_path")
def einsum_path(*operands, optimize="greedy", einsum_call=False):
    """numpy.einsum_path: the order of contractions, and a table about it."""
    operands = _plain(operands)
    places, arrays = _parts(operands)
    return numpy.einsum_path(*_stand_ins(operands, places, arrays), optimize=optimize)


def _plan(operands, places, arrays, optimize):
    """[(places of what is contracted, 'ij,jk->ik')], each result appended to what is left."""
    stand_ins = _stand_ins(operands, places, arrays)
    try:
        _, steps = numpy.einsum_path(
            *stand_ins, optimize="greedy" if optimize is False else optimize, einsum_call=True
        )
    except (ValueError, TypeError):
        if optimize is False:
            numpy.einsum(*stand_ins)  # raises with the words of plain einsum
        raise
    return [(step[0], next(part for part in step if isinstance(part, str))) for step in steps]


@native("einsum")
def einsum(*operands, out=None, optimize=False, dtype=None, order="K", casting="safe"):
    """numpy.einsum. More than two operands are contracted in the order of `optimize`, "greedy" where that is False."""
    if len(operands) < 2 or isinstance(operands[0], str) and len(operands) == 1:
        raise ValueError(
            "must specify the einstein sum subscripts string and at least one operand, or at least one operand "
            "and its corresponding subscripts list"
        )
    if order not in tuple("CFAKcfak"):
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    operands = _plain(operands)
    places, arrays = _parts(operands)
    if not all(isinstance(array, ndarray) for array in arrays):
        return numpy.einsum(*to_host(operands), **({} if dtype is None else {"dtype": dtype}))
    kind = numpy.result_type(*(a.dtype for a in arrays)) if dtype is None else as_dtype(dtype)
    for i, array in enumerate(arrays):
        if not numpy.can_cast(array.dtype, kind, casting):
            raise TypeError(
                f"Iterator operand {i} dtype could not be cast from {array.dtype!r} to {kind!r} according to the rule "
                f"{casting!r}"
            )
    steps = _plan(operands, places, arrays, optimize)
    left = [a if a.dtype == kind else a.astype(kind) for a in arrays]
    for taken, subscripts in steps:
        several = [left.pop(i) for i in taken]
        terms, result = subscripts.split("->")
        left.append(_contracted(several, terms.split(","), result, kind))
    made = left[0]
    return given(made, out, casting if casting != "safe" else "same_kind")


def _contracted(arrays, terms, result, kind):
    """Any number of operands of one step, from the first to the last."""
    array, term = arrays[0], terms[0]
    if len(arrays) == 1:
        return _arranged(*_alone(array, term, result, kind), result)
    for i in range(1, len(arrays)):
        later = set(result).union(*terms[i + 1 :])
        array, term = _pair(array, term, arrays[i], terms[i], later, kind)
    return _arranged(array, term, result)


def _alone(array, term, kept, kind):
    """An operand with one axis a label: diagonals of repeated ones, sums over those that nobody needs."""
    term = list(term)
    for label in dict.fromkeys(term):
        while term.count(label) > 1:
            i = term.index(label)
            k = term.index(label, i + 1)
            array = TABLE["diagonal"].function(array, 0, i, k)
            array._readonly = False
            term = [x for j, x in enumerate(term) if j not in (i, k)] + [label]
    gone = tuple(i for i, label in enumerate(term) if label not in kept)
    return _summed(array, gone, kind), [label for label in term if label in kept]


def _summed(array, axes, kind):
    if not axes:
        return array
    if kind.kind == "b":
        return TABLE["any"].function(array, axes)
    return TABLE["sum"].function(array, axes, dtype=kind)


def _arranged(array, term, result):
    order = [term.index(label) for label in result]
    return array if order == list(range(len(order))) else array.transpose(order)


def _without_stretched(array, term, sizes):
    """Without axes of length 1 whose label is longer elsewhere: they take part in no sum."""
    gone = [i for i, label in enumerate(term) if array.shape[i] == 1 and sizes[label] != 1]
    if not gone:
        return array, list(term)
    return TABLE["squeeze"].function(array, tuple(gone)), [x for i, x in enumerate(term) if i not in gone]


def _pair(a, left, b, right, kept, kind):
    """The contraction of two operands, and its labels: those that `kept` has."""
    a, left = _alone(a, left, kept | set(right), kind)
    b, right = _alone(b, right, kept | set(left), kind)
    sizes = {}
    for array, term in ((a, left), (b, right)):
        for label, n in zip(term, array.shape, strict=True):
            sizes[label] = n if sizes.get(label, 1) == 1 else sizes[label]
    a, left = _without_stretched(a, left, sizes)
    b, right = _without_stretched(b, right, sizes)
    # What only one of them has by now and nobody else needs is summed first.
    a, left = _alone(a, left, kept | set(right), kind)
    b, right = _alone(b, right, kept | set(left), kind)
    shared = [x for x in left if x in right]
    summed = [x for x in shared if x not in kept]
    batch = [x for x in shared if x in kept]
    rows, columns = [x for x in left if x not in right], [x for x in right if x not in left]
    count = lambda labels: math.prod(sizes[x] for x in labels)  # noqa: E731
    if not summed or count(rows) == 1 or count(columns) == 1 and batch:
        # No matrices in it: one fused product and sum.
        terms = [*batch, *rows, *columns, *summed]
        product = _spread(a, left, terms) * _spread(b, right, terms)
        if product.dtype != kind:
            product = product.astype(kind)
        places = tuple(range(len(terms) - len(summed), len(terms)))
        return _summed(product, places, kind), terms[: len(terms) - len(summed)]
    lead = [sizes[x] for x in batch]
    m = _arranged(a, left, [*batch, *rows, *summed]).reshape(*lead, count(rows), count(summed))
    n = _arranged(b, right, [*batch, *summed, *columns]).reshape(*lead, count(summed), count(columns))
    made = _stacked_product(m, n, kind).reshape(*lead, *(sizes[x] for x in [*rows, *columns]))
    return made, [*batch, *rows, *columns]


def _spread(array, term, terms):
    """With an axis for each label, of length 1 where it has none."""
    array = _arranged(array, term, [x for x in terms if x in term])
    return array[tuple(slice(None) if x in term else None for x in terms)]
