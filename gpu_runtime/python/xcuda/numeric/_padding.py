"""pad: arrays with a margin, in all of NumPy's modes."""

import math

import numpy

from xcuda import core as cuda
from xcuda.core.own_kernel import own_kernel

from ._array import asarray
from ._creation import empty, full
from ._gather import index_ramp
from ._joining import joined
from ._layouts import as_numpys, laid
from ._paths import ByNumpy, as_numpy_raises, held_array, native_twice
from ._registry import TABLE

_BY_PLACE = ("edge", "wrap", "symmetric", "reflect")  # in the order of _source's numbers
_STATISTICS = ("maximum", "minimum", "mean", "median")


def _source(i, n, mode):
    """Which of n elements stands at place i, which may lie before or after them."""
    if 0 <= i and i < n:
        return i
    if mode == 0 or n == 1:
        return min(max(i, 0), n - 1)
    if mode == 1:
        return i % n
    both = 2 * n if mode == 2 else 2 * n - 2
    i = i % both
    return i if i < n else (both - 1 - i if mode == 2 else both - i)


@own_kernel(checked=False)
def _padded_by_place(out, a, first, second, third, mode):
    i, j, k = cuda.grid(3)
    if i < out.shape[0] and j < out.shape[1] and k < out.shape[2]:
        p = _source(i - first, a.shape[0], mode)
        q = _source(j - second, a.shape[1], mode)
        out[i, j, k] = a[p, q, _source(k - third, a.shape[2], mode)]


def _by_place(a, widths, mode):
    """The array with margins of its own elements: of up to three axes in one go, else axis by axis."""
    if a.ndim <= 3:
        return _padded_axes(a, (1,) * (3 - a.ndim) + a.shape, [(0, 0)] * (3 - a.ndim) + widths, widths, mode)
    for k, pair in enumerate(widths):
        if pair != (0, 0):
            planes = (math.prod(a.shape[:k]), a.shape[k], math.prod(a.shape[k + 1 :]))
            one = [pair if k == axis else (0, 0) for axis in range(a.ndim)]
            a = _padded_axes(a, planes, [(0, 0), pair, (0, 0)], one, mode)
    return a


def _padded_axes(a, planes, widths_of_planes, widths, mode):
    """The same, the array seen as one of three axes."""
    out = empty([n + low + high for n, (low, high) in zip(a.shape, widths, strict=True)], a.dtype)
    if out.size:
        wide = [n + low + high for n, (low, high) in zip(planes, widths_of_planes, strict=True)]
        before = [low for low, _ in widths_of_planes]
        _padded_by_place()(out.reshape(wide), a.reshape(planes), *before, _BY_PLACE.index(mode))
    return out


def _pairs(value, ndim):
    """(before, after) for each axis."""
    if isinstance(value, dict):
        made = [(0, 0)] * ndim
        for axis, width in value.items():
            made[axis] = (width, width) if numpy.ndim(width) == 0 else tuple(width)
        return made
    return [tuple(p) for p in numpy.broadcast_to(numpy.asarray(value), (ndim, 2)).tolist()]


def _part(a, k, *bounds):
    return a[(*(slice(None),) * k, slice(*bounds))]


@native_twice(reference=numpy.pad, partly="odd reflections and functions as mode, on a GPU")
def pad(array, pad_width, mode="constant", **kwargs):
    """The array with a margin on every axis, filled by `mode`."""
    a = given = held_array(array)
    if callable(mode) or kwargs.get("reflect_type", "even") != "even":
        raise ByNumpy
    try:
        widths = _pairs(pad_width, a.ndim)
    except (ValueError, IndexError):
        widths = [(-1, -1)]
    whole = all(isinstance(w, int) for pair in widths for w in pair)
    if not whole or any(w < 0 for pair in widths for w in pair):
        as_numpy_raises(numpy.pad, a, pad_width, mode, **kwargs)
    if kwargs or mode not in _BY_PLACE:
        numpy.pad(numpy.zeros((1,) * a.ndim, a.dtype), 0, mode, **kwargs)  # raises for wrong arguments
    widths = [*map(tuple, widths)]
    for k, pair in enumerate(widths):
        if any(pair) and not a.shape[k] and mode not in ("constant", "empty"):
            raise ValueError(f"can't extend empty axis {k} using modes other than 'constant' or 'empty'")
    if mode in _BY_PLACE:
        a = _by_place(a, widths, mode)
    else:
        for k, (low, high) in enumerate(widths):
            if low or high:
                a = _padded(a, k, low, high, mode, kwargs)
    return laid(a.copy() if a is given else a, as_numpys(numpy.pad, given, 1))


def _padded(a, k, low, high, mode, how):
    """`a` with its margins along axis k."""
    n = a.shape[k]
    shapes = [[*a.shape], [*a.shape]]
    shapes[0][k], shapes[1][k] = low, high
    if mode in ("constant", "empty"):
        values = _pairs(how.get("constant_values", 0), a.ndim)[k]
        ends = [
            full(s, numpy.asarray(v).astype(a.dtype)[()], a.dtype)
            for s, v in zip(shapes, values, strict=True)
        ]
    elif mode == "linear_ramp":
        values = _pairs(how.get("end_values", 0), a.ndim)[k]
        ends = [
            _slope(_part(a, k, 0, 1), k, low, values[0]),
            _slope(_part(a, k, n - 1, n), k, high, values[1]),
        ]
        ends[1] = TABLE["flip"].function(ends[1], k)
    else:
        ends = _statistics(a, k, mode, how.get("stat_length"))
        ends = [TABLE["broadcast_to"].function(e, s) for e, s in zip(ends, shapes, strict=True)]
    return joined([ends[0], a, ends[1]], k, a.dtype)


def _slope(edge, k, width, end):
    """From `end` towards the edge, which is not reached."""
    shape = [1] * edge.ndim
    shape[k] = width
    steps = index_ramp(width).astype(float).reshape(shape)
    whole = edge.dtype.kind in "iu"
    last = edge.astype(float) if whole else edge  # differences of unsigned numbers may be negative
    made = steps * ((last - end) / width if width else last * 0.0) + end
    return (TABLE["floor"].function(made) if whole else made).astype(edge.dtype)


def _statistics(a, k, mode, lengths):
    n = a.shape[k]
    lengths = [n, n] if lengths is None else [min(n, m) for m in _pairs(lengths, a.ndim)[k]]
    if 0 in lengths and mode in ("maximum", "minimum"):
        raise ValueError("stat_length of 0 yields no value for padding")
    function = TABLE[{"maximum": "max", "minimum": "min"}.get(mode, mode)].function
    made = []
    for part in (_part(a, k, 0, lengths[0]), _part(a, k, n - lengths[1], n)):
        one = asarray(function(part, axis=k, keepdims=True))
        if one.dtype != a.dtype and a.dtype.kind in "iu":
            one = TABLE["rint"].function(one)
        made.append(one.astype(a.dtype, copy=False))
    return made
