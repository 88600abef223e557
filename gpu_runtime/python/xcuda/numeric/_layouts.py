"""Where results lie in memory: as those of the NumPy that runs, which is asked once for each way that operands lie."""

import functools
import math
import warnings
from typing import NamedTuple

import numpy

from xcuda import _runtime
from xcuda.core.dtypes import name_of
from xcuda.core.views import put_back, slowest_first


class Layout(NamedTuple):
    """Elements without gaps."""

    order: tuple  # the axes, slowest first
    still: tuple = ()  # axes of length 1 that have a stride of 0, as those that None makes in a key


class _Lies(NamedTuple):
    """What of an array NumPy looks at for the layout of its results."""

    dtype: numpy.dtype
    lengths: tuple  # none longer than the stand-in's are to be
    ranks: tuple  # of the strides by their size; -1: of 0
    backwards: tuple  # where strides are negative
    gaps: bool  # in neither C nor Fortran order


def _lies(a, most):
    sizes = [abs(s) for s in a.strides]
    known = sorted({s for s in sizes if s})
    lengths = tuple(max(1, min(n, most.get(k, 2))) for k, n in enumerate(a.shape))
    ranks = tuple(known.index(s) if s else -1 for s in sizes)
    gaps = not (a._c_contiguous or a._f_contiguous)
    return _Lies(a.dtype, lengths, ranks, tuple(s < 0 for s in a.strides), gaps)


def _stand_in(lies):
    """A small host array of zeros that lies so."""
    step, steps = 1 + lies.gaps, []
    for rank in range(max(lies.ranks, default=-1) + 1):
        steps.append(step)
        step *= math.prod(n for n, r in zip(lies.lengths, lies.ranks, strict=True) if r == rank)
    size = lies.dtype.itemsize
    strides = [0 if r < 0 else steps[r] * size for r in lies.ranks]
    reach = [(n - 1) * s for n, s in zip(lies.lengths, strides, strict=True)]
    first = sum(r for r, back in zip(reach, lies.backwards, strict=True) if back)
    strides = [-s if back else s for s, back in zip(strides, lies.backwards, strict=True)]
    memory = numpy.zeros(sum(reach) + size, "u1")
    return numpy.ndarray(lies.lengths, lies.dtype, memory, first, strides)


def _is_ours(value):
    return isinstance(value, _runtime.NumericBase)


def _told(value, most, change):
    """`value` with numeric's arrays, also those in sequences, changed; lists as tuples, which keys can be made of."""
    if _is_ours(value):
        return change(value, most)
    return tuple(_told(v, most, change) for v in value) if type(value) in (list, tuple) else value


def _standing(value):
    if isinstance(value, _Lies):
        return _stand_in(value)
    return tuple(map(_standing, value)) if type(value) is tuple else value


@functools.lru_cache(4096)
def _asked(function, args, how):
    """The Layout of NumPy's result."""
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        made = numpy.asarray(function(*map(_standing, args), **{k: _standing(v) for k, v in how}))
    lengths, strides = made.shape, made.strides
    # Of two axes with one stride, that of length 1 is the faster one.
    order = sorted(range(made.ndim), key=lambda k: (-abs(strides[k]), lengths[k] == 1))
    return Layout(tuple(order), tuple(k for k in order if lengths[k] == 1 and not strides[k]))


def as_numpys(function, *args, longest=None, **how):
    """The Layout of what NumPy's `function(*args, **how)` gives.

    For numeric's arrays small ones stand that lie as they do: what else is given should not depend on their lengths.
    longest: {axis: so many elements it has in the small array at most}; 2 is the rule.
    """
    most = longest or {}
    key = tuple(_told(a, most, _lies) for a in args)
    return _asked(function, key, tuple((k, _told(v, most, _lies)) for k, v in how.items()))


def turned(a, order):
    """The array with its axes in that order: a view."""
    size = a.itemsize
    return a._view(0, [a.shape[k] for k in order], [a.strides[k] // size for k in order])


def turned_back(a, order):
    """What `turned` was given."""
    return turned(a, put_back(order))


def empty_as(layout, shape, dtype):
    """An array in that layout with whatever the memory holds."""
    made = _runtime.numeric_empty(list(shape), name_of(dtype), list(layout.order))
    return _seen_as(made, layout)


def laid(a, layout):
    """The elements in that layout: the same memory where they lie so already, else a copy still to be computed."""
    if not a.ndim:
        return a
    return _seen_as(a if turned(a, layout.order)._c_contiguous else a._copied(list(layout.order)), layout)


def _seen_as(a, layout):
    """An array that lies in the layout, with its strides also along axes of length 1."""
    steps, step = [0] * a.ndim, 1
    for axis in reversed(layout.order):
        steps[axis] = 0 if axis in layout.still or not a.size else step
        step *= a.shape[axis]
    return a if a.strides == tuple(s * a.itemsize for s in steps) else a._view(0, a.shape, steps)


def planes(a, axis, order):
    """The array as (planes, along the axis, columns), its axes taken in that order.

    Shares its memory where it lies in the order: kernels of three axes then read and write it as one in C order.
    """
    seen, k = turned(a, order), order.index(axis)
    shape = seen.shape
    return seen.reshape(math.prod(shape[:k]), shape[k], math.prod(shape[k + 1 :]))


def own(a):
    """Where NumPy works on a copy of the array: in the copy's order. The kernel reads the array itself."""
    return a if a._c_contiguous else a.copy("K")


def order_of(a):
    """The axes as they lie in memory, slowest first."""
    return tuple(slowest_first(a.strides))
