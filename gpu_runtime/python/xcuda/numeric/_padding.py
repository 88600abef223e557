"""pad: arrays with a margin, in all of NumPy's modes."""

import numpy

from ._array import asarray
from ._creation import full
from ._gather import ramp
from ._joining import joined
from ._paths import ByNumpy, as_numpy_raises, held_array, native_twice
from ._registry import TABLE

_BY_PLACE = ("edge", "reflect", "symmetric", "wrap")
_STATISTICS = ("maximum", "minimum", "mean", "median")


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
    a = held_array(array)
    if callable(mode) or kwargs.get("reflect_type", "even") != "even":
        raise ByNumpy
    try:
        widths = _pairs(pad_width, a.ndim)
    except (ValueError, IndexError):
        widths = [(-1, -1)]
    whole = all(isinstance(w, int) for pair in widths for w in pair)
    if not whole or any(w < 0 for pair in widths for w in pair):
        as_numpy_raises(numpy.pad, a, pad_width, mode, **kwargs)
    numpy.pad(numpy.zeros((1,) * a.ndim, a.dtype), 0, mode, **kwargs)  # raises for wrong arguments
    for k, (low, high) in enumerate(widths):
        if not low and not high:
            continue
        if not a.shape[k] and mode not in ("constant", "empty"):
            raise ValueError(f"can't extend empty axis {k} using modes other than 'constant' or 'empty'")
        a = _padded(a, k, low, high, mode, kwargs)
    return a if a is not array else a.copy()


def _padded(a, k, low, high, mode, how):
    """`a` with its margins along axis k."""
    n = a.shape[k]
    if mode in _BY_PLACE:
        # NumPy pads the places: the elements follow.
        return TABLE["take"].function(a, numpy.pad(numpy.arange(n), (low, high), mode), k)
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
    steps = ramp(width).astype(float).reshape(shape)
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
