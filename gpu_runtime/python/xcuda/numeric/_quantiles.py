"""Quantiles, percentiles and medians, nan-variants too, by a sort of the rows."""

import numpy
from numpy.lib.array_utils import normalize_axis_tuple

from ._array import ndarray
from ._paths import ByNumpy, given, held_array, native_twice
from ._registry import TABLE
from ._sort_kernels import sorted_rows

# Hyndman and Fan's continuous methods (1996, definitions 4 to 9): the virtual index is n q + (a + q (1 - a - b)) - 1.
_CONTINUOUS = {
    "interpolated_inverted_cdf": (0, 1),
    "hazen": (0.5, 0.5),
    "weibull": (0, 0),
    "linear": (1, 1),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}
_CHOOSING = ("inverted_cdf", "closest_observation", "lower", "higher", "nearest")
_METHODS = (*_CONTINUOUS, *_CHOOSING, "averaged_inverted_cdf", "midpoint")


def _neighbours(method, n, q, xp):
    """(index below, index above, the weight of the one above) among n sorted elements, n a number or an array."""
    if method in _CONTINUOUS:
        a, b = _CONTINUOUS[method]
        at = (n - 1) * q if method == "linear" else n * q + (a + q * (1 - a - b)) - 1
    elif method in ("inverted_cdf", "averaged_inverted_cdf"):
        at = n * q - 1
    elif method == "closest_observation":
        at = n * q - 1 - 0.5
    else:
        at = (n - 1) * q
    low = xp.floor(at)
    part = at - low
    if method == "inverted_cdf":
        low = xp.where(part == 0, low, low + 1)
    elif method == "closest_observation":
        low = xp.where((part == 0) & (low % 2 == 1), low, low + 1)
    elif method == "higher":
        low = xp.ceil(at)
    elif method == "nearest":
        low = xp.rint(at)
    if method == "averaged_inverted_cdf":
        part = xp.where(part == 0, 0.5, 1.0)
    elif method == "midpoint":
        part = xp.where(part == 0, 0.0, 0.5)
    elif method in _CHOOSING:
        part = part * 0.0
    last = xp.maximum(n - 1, 0)
    above = xp.minimum(xp.maximum(low + 1, 0), last)
    part = xp.where(at < 0, 0.0, part)
    return xp.minimum(xp.maximum(low, 0), last), above, part


def _rows(a, axis, keepdims):
    """(a as rows along the axes, what the results' shape is, without q's)."""
    axes = tuple(range(a.ndim)) if axis is None else normalize_axis_tuple(axis, a.ndim)
    kept = [k for k in range(a.ndim) if k not in axes]
    moved = TABLE["transpose"].function(a, (*kept, *axes))
    n = 1
    for k in axes:
        n *= a.shape[k]
    shape = tuple(a.shape[k] for k in kept)
    rows = moved.reshape(a.size // n if n else _size(shape), n)
    return rows, tuple(1 if k in axes else a.shape[k] for k in range(a.ndim)) if keepdims else shape


def _size(shape):
    size = 1
    for n in shape:
        size *= n
    return size


def _between(low, high, part):
    """NumPy's interpolation, from the nearer end."""
    apart = high - low
    where = TABLE["where"].function
    return where(part >= 0.5, high - apart * (1 - part), low + apart * part)


def _quantile(a, q, axis, out, method, keepdims, ignore_nan):
    numbers = q.get() if isinstance(q, ndarray) else numpy.asarray(q)
    rows, shape = _rows(a, axis, keepdims)
    n = rows.shape[1]
    if not n or not rows.size:
        raise ByNumpy
    isnan = TABLE["isnan"].function
    ordered = sorted_rows(rows)
    floating = a.dtype.kind == "f"
    if ignore_nan and floating:
        from xcuda import numeric as xp

        count = n - isnan(ordered).sum(1, keepdims=True)
    else:
        xp, count = numpy, n
    along = TABLE["take_along_axis"].function
    dtype = numpy.result_type(a.dtype, numbers.dtype) if method not in _CHOOSING else a.dtype
    made = []
    for each in numbers.reshape(-1):
        low, high, part = _neighbours(method, count, each, xp)
        if xp is numpy:
            values = [ordered[:, int(k)] for k in (low, high)]
        else:
            values = [along(ordered, k.astype("int64"), 1)[:, 0] for k in (low, high)]
            part = part[:, 0]
        if method in _CHOOSING:
            one = values[0]
        else:
            low, high = (v.astype(dtype, copy=False) for v in values)
            one = _between(low, high, part if isinstance(part, ndarray) else float(part)).astype(
                dtype, copy=False
            )
        if floating:
            spoilt = isnan(ordered[:, 0] if ignore_nan else ordered[:, -1])
            one = TABLE["where"].function(spoilt, dtype.type(numpy.nan), one)
        made.append(one.reshape(shape))
    if numbers.ndim == 0:
        return given(made[0], out)
    return given(TABLE["stack"].function(made).reshape(numbers.shape + shape), out)


def _general(name, a, q, axis, out, method, keepdims, weights, scale):
    a = held_array(a)
    keepdims = False if keepdims is numpy._NoValue else keepdims
    if a.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    if isinstance(q, (int, float)) and a.dtype.kind == "f":
        q = numpy.asarray(q, a.dtype)
    q = q.get() if isinstance(q, ndarray) else numpy.asarray(q)
    if scale != 1:
        q = numpy.true_divide(q, a.dtype.type(scale) if a.dtype.kind == "f" else scale)
    if q.dtype.kind not in "biuf" or not (q >= 0).all() or not (q <= 1).all() or method not in _METHODS:
        q = q * scale  # raises as NumPy does
        getattr(numpy, name)(numpy.ones(1), q, method=method)
    if weights is not None or a.dtype.name in ("bool", "bfloat16") or q.dtype.kind != "f":
        raise ByNumpy
    return _quantile(a, q, axis, out, method, keepdims, name.startswith("nan"))


_PARTLY = "weights, and arrays without elements, on a GPU"


@native_twice(reference=numpy.quantile, partly=_PARTLY)
def quantile(
    a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None
):
    """Quantiles along axes, by any of NumPy's methods."""
    return _general("quantile", a, q, axis, out, method, keepdims, weights, 1)


@native_twice(reference=numpy.percentile, partly=_PARTLY)
def percentile(
    a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None
):
    """Percentiles along axes, by any of NumPy's methods."""
    return _general("percentile", a, q, axis, out, method, keepdims, weights, 100)


@native_twice(reference=numpy.nanquantile, partly=_PARTLY)
def nanquantile(
    a,
    q,
    axis=None,
    out=None,
    overwrite_input=False,
    method="linear",
    keepdims=numpy._NoValue,
    *,
    weights=None,
):
    """Quantiles of what is not nan."""
    return _general("nanquantile", a, q, axis, out, method, keepdims, weights, 1)


@native_twice(reference=numpy.nanpercentile, partly=_PARTLY)
def nanpercentile(
    a,
    q,
    axis=None,
    out=None,
    overwrite_input=False,
    method="linear",
    keepdims=numpy._NoValue,
    *,
    weights=None,
):
    """Percentiles of what is not nan."""
    return _general("nanpercentile", a, q, axis, out, method, keepdims, weights, 100)


def _middle(a, axis, out, keepdims, ignore_nan):
    a = held_array(a)
    keepdims = False if keepdims is numpy._NoValue else keepdims
    if a.dtype.name == "bfloat16" or a.dtype.kind == "c" and ignore_nan:
        raise ByNumpy
    rows, shape = _rows(a, axis, keepdims)
    n = rows.shape[1]
    if not n or not rows.size:
        raise ByNumpy
    ordered = sorted_rows(rows)
    isnan = TABLE["isnan"].function
    inexact = a.dtype.kind in "fc"
    if ignore_nan and inexact:
        along = TABLE["take_along_axis"].function
        count = n - isnan(ordered).sum(1, keepdims=True)
        last = TABLE["maximum"].function(count - 1, 0)
        two = [along(ordered, k, 1)[:, 0] for k in (last // 2, TABLE["minimum"].function(count // 2, last))]
    else:
        two = [ordered[:, (n - 1) // 2], ordered[:, n // 2]]
    made = TABLE["mean"].function(TABLE["stack"].function(two), 0)
    if inexact:
        spoilt = isnan(ordered[:, 0] if ignore_nan else ordered[:, -1])
        made = TABLE["where"].function(spoilt, a.dtype.type(numpy.nan), made)
    return given(made.reshape(shape), out)


@native_twice(reference=numpy.median)
def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """The middle of the sorted elements, or the mean of the two there."""
    return _middle(a, axis, out, keepdims, False)


@native_twice(reference=numpy.nanmedian)
def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=numpy._NoValue):
    """The median of what is not nan."""
    return _middle(a, axis, out, keepdims, True)
