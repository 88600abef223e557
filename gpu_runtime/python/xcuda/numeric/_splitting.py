"""Views of parts: the split family, unstack, trim_zeros."""

import operator

import numpy
from numpy.lib.array_utils import normalize_axis_index

from ._array import asarray, ndarray
from ._registry import native


def _part(a, axis, first, last):
    return a[(*(slice(None),) * axis, slice(first, last))]


@native()
def array_split(ary, indices_or_sections, axis=0):
    """Parts along an axis, as even as can be, or between the given places: views."""
    a = asarray(ary)
    n = a.shape[axis]
    given = indices_or_sections.get() if isinstance(indices_or_sections, ndarray) else indices_or_sections
    if numpy.ndim(given):
        edges = [0, *map(operator.index, given), n]
    else:
        sections = int(given)
        if sections <= 0:
            raise ValueError("number sections must be larger than 0.")
        each, more = divmod(n, sections)
        edges = [0]
        for k in range(sections):
            edges.append(edges[-1] + each + (k < more))
    axis = normalize_axis_index(axis, a.ndim)
    return [_part(a, axis, edges[k], edges[k + 1]) for k in range(len(edges) - 1)]


@native()
def split(ary, indices_or_sections, axis=0):
    """Equal parts along an axis, or between the given places: views."""
    given = indices_or_sections
    if numpy.ndim(given) == 0:
        n = asarray(ary).shape[axis]
        if n % int(given):
            raise ValueError("array split does not result in an equal division")
    return array_split(ary, given, axis)


@native()
def hsplit(ary, indices_or_sections):
    """Parts along the second axis (the first of 1-d arrays)."""
    a = asarray(ary)
    if a.ndim == 0:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return split(a, indices_or_sections, 1 if a.ndim > 1 else 0)


@native()
def vsplit(ary, indices_or_sections):
    """Parts along the first axis."""
    a = asarray(ary)
    if a.ndim < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(a, indices_or_sections, 0)


@native()
def dsplit(ary, indices_or_sections):
    """Parts along the third axis."""
    a = asarray(ary)
    if a.ndim < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split(a, indices_or_sections, 2)


@native()
def unstack(x, /, *, axis=0):
    """The slices along an axis: views."""
    a = asarray(x)
    if a.ndim == 0:
        raise ValueError("Input array must be at least 1-d.")
    axis = normalize_axis_index(axis, a.ndim)
    return tuple(a[(*(slice(None),) * axis, k)] for k in range(a.shape[axis]))


@native()
def trim_zeros(filt, trim="fb", axis=None):
    """Without the zeros around what is not zero: a view."""
    from ._nonzero import argwhere

    a = asarray(filt)
    trim = trim.lower()
    if trim not in ("fb", "bf", "f", "b"):
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    places = argwhere(a)
    if places.shape[0]:
        first, last = places.min(0).get(), places.max(0).get() + 1
    else:
        first = last = numpy.zeros(a.ndim, int)
        if "f" not in trim:
            last = numpy.zeros(a.ndim, int)
    if "f" not in trim:
        first = numpy.zeros(a.ndim, int)
    if "b" not in trim:
        last = numpy.array(a.shape)
        if not places.shape[0]:
            first = last
    axes = range(a.ndim) if axis is None else numpy.lib.array_utils.normalize_axis_tuple(axis, a.ndim)
    key = tuple(slice(int(first[k]), int(last[k])) if k in axes else slice(None) for k in range(a.ndim))
    made = a[key]
    return made if isinstance(filt, (ndarray, numpy.ndarray)) else type(filt)(made.tolist())
