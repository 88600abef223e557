"""unique, and arrays as sets."""

import numpy
from numpy.lib.array_utils import normalize_axis_index

from ._array import asarray
from ._gather import ramp, scatter
from ._indexing import taken
from ._joining import concatenate
from ._nonzero import flat_places
from ._paths import held_array, native_twice
from ._registry import TABLE
from ._searching import places_in
from ._sort_kernels import sorted_rows, stable_order
from ._sorting import in_order, lexsort


def _heads(ordered, equal_nan):
    """Where in a sorted array another element begins."""
    other = ordered[1:] != ordered[:-1]
    if equal_nan and ordered.dtype.kind in "fc":
        isnan = TABLE["isnan"].function
        other = other & ~(isnan(ordered[1:]) & isnan(ordered[:-1]))
    return concatenate((numpy.ones(min(1, ordered.shape[0]), bool), other))


def _counted(heads):
    places = flat_places(heads)
    return concatenate((places[1:], numpy.array([heads.size]))) - places if places.size else places


def _inverse(heads, order):
    numbers = TABLE["cumsum"].function(heads) - 1
    made = numbers.copy()
    scatter(made, order, numbers, 0, repeats=False)
    return made


@native_twice(reference=numpy.unique)
def unique(
    ar,
    return_index=False,
    return_inverse=False,
    return_counts=False,
    axis=None,
    *,
    equal_nan=True,
    sorted=True,
):
    """The elements (or slices along an axis), each once and in order; where they are, and how often."""
    a = held_array(ar)
    if axis is not None and (a.ndim != 1 or axis not in (0, -1)):
        return _unique_slices(a, axis, return_index, return_inverse, return_counts, equal_nan)
    flat = a.reshape(-1)
    order = None
    if return_index or return_inverse:
        order = stable_order(flat.reshape(1, -1)).reshape(-1)
        ordered = in_order(flat, order)
    else:
        ordered = sorted_rows(flat.reshape(1, -1)).reshape(-1)
    heads = _heads(ordered, equal_nan)
    firsts = flat_places(heads)
    made = (in_order(ordered, firsts),)
    if return_index:
        made += (in_order(order, firsts),)
    if return_inverse:
        made += (_inverse(heads, order).reshape(a.shape),)
    if return_counts:
        made += (_counted(heads),)
    return made if len(made) > 1 else made[0]


def _unique_slices(a, axis, return_index, return_inverse, return_counts, equal_nan):
    axis = normalize_axis_index(axis, a.ndim)
    moved = TABLE["moveaxis"].function(a, axis, 0)
    n = moved.shape[0]
    rows = moved.reshape(n, moved.size // n if n else 0)
    order = lexsort(tuple(rows.T)[::-1]) if rows.size else ramp(n)
    ordered = rows[order]
    # As NumPy's rows: nan is never equal there.
    other = (ordered[1:] != ordered[:-1]).any(1)
    heads = concatenate((numpy.ones(min(1, n), bool), other))
    firsts = flat_places(heads)
    chosen = in_order(order, firsts)
    made = (TABLE["moveaxis"].function(taken(moved, chosen, 0), 0, axis),)
    if return_index:
        made += (chosen,)
    if return_inverse:
        made += (_inverse(heads, order),)
    if return_counts:
        made += (_counted(heads),)
    return made if len(made) > 1 else made[0]


def _result(name):
    return type(getattr(numpy, name)(numpy.zeros(0)))


@native_twice(reference=numpy.unique_all)
def unique_all(x):
    """values, indices, inverse_indices, counts; each nan is another one."""
    return _result("unique_all")(*unique(x, True, True, True, equal_nan=False))


@native_twice(reference=numpy.unique_counts)
def unique_counts(x):
    """values, counts; each nan is another one."""
    return _result("unique_counts")(*unique(x, False, False, True, equal_nan=False))


@native_twice(reference=numpy.unique_inverse)
def unique_inverse(x):
    """values, inverse_indices; each nan is another one."""
    return _result("unique_inverse")(*unique(x, False, True, equal_nan=False))


@native_twice(reference=numpy.unique_values)
def unique_values(x):
    """The elements, each once; each nan is another one."""
    return unique(x, equal_nan=False)


def _two(ar1, ar2):
    a, b = held_array(ar1).reshape(-1), held_array(ar2).reshape(-1)
    return a, b


@native_twice(reference=numpy.intersect1d)
def intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    """What is in both arrays, in order."""
    a, b = held_array(ar1), held_array(ar2)
    first = second = None
    if assume_unique:
        a, b = a.reshape(-1), b.reshape(-1)
    elif return_indices:
        (a, first), (b, second) = unique(a, True), unique(b, True)
    else:
        a, b = unique(a), unique(b)
    both = concatenate((a, b))
    if return_indices:
        order = stable_order(both.reshape(1, -1)).reshape(-1)
        ordered = in_order(both, order)
    else:
        ordered = sorted_rows(both.reshape(1, -1)).reshape(-1)
    twice = flat_places(ordered[1:] == ordered[:-1])
    made = in_order(ordered, twice)
    if not return_indices:
        return made
    left, right = in_order(order, twice), in_order(order, twice + 1) - a.size
    if not assume_unique:
        left, right = in_order(first, left), in_order(second, right)
    return made, left, right


@native_twice(reference=numpy.isin)
def isin(element, test_elements, assume_unique=False, invert=False, *, kind=None):
    """Where the elements are among others."""
    a, b = held_array(element), held_array(test_elements).reshape(-1)
    if kind not in (None, "sort", "table"):
        raise ValueError(f"Invalid kind: '{kind}'. Please use None, 'sort' or 'table'.")
    if kind == "table" and not all(x.dtype.kind in "biu" for x in (a, b)):
        raise ValueError(
            "The 'table' method is only supported for boolean or integer arrays. Please select 'sort' or None for "
            "kind."
        )
    if not b.size:
        return TABLE["full"].function(a.shape, bool(invert), bool)
    dtype = numpy.result_type(a.dtype, b.dtype)
    a, b = a.astype(dtype, copy=False), sorted_rows(b.astype(dtype, copy=False).reshape(1, -1)).reshape(-1)
    flat = a.reshape(-1)
    near = in_order(b, TABLE["minimum"].function(places_in(b, flat, False), b.size - 1))
    made = (near != flat if invert else near == flat).reshape(a.shape)
    return made


@native_twice(reference=numpy.union1d)
def union1d(ar1, ar2):
    """What is in either array, in order."""
    return unique(concatenate((ar1, ar2), None))


@native_twice(reference=numpy.setdiff1d)
def setdiff1d(ar1, ar2, assume_unique=False):
    """What is in the first array and not in the second."""
    a = held_array(ar1).reshape(-1) if assume_unique else unique(ar1)
    return a[isin(a, asarray(ar2) if assume_unique else unique(ar2), assume_unique=True, invert=True)]


@native_twice(reference=numpy.setxor1d)
def setxor1d(ar1, ar2, assume_unique=False):
    """What is in one of the arrays only, in order."""
    if assume_unique:
        a, b = _two(ar1, ar2)
    else:
        a, b = unique(ar1), unique(ar2)
    both = concatenate((a, b))
    if not both.size:
        return both
    ordered = sorted_rows(both.reshape(1, -1)).reshape(-1)
    edge = numpy.ones(1, bool)
    other = concatenate((edge, ordered[1:] != ordered[:-1], edge))
    return in_order(ordered, flat_places(other[1:] & other[:-1]))
