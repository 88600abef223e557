"""Quantiles, percentiles and medians, nan-variants too, by a sort of the rows."""

import math

import numpy
from numpy.lib.array_utils import normalize_axis_tuple

from ._array import ndarray
from ._gather import gathered, index_ramp
from ._joining import joined
from ._layouts import as_numpys, laid, order_of, turned, turned_back
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


# Elements along its axes: of more numpy.nanmedian is computed in another way, and lies in another.
_NANMEDIANS_FEW = 600


class _Rows:
    """An array as rows along some axes; the rows, and each row's elements, come as they lie in memory."""

    def __init__(self, a, axis, keepdims):
        axes = tuple(range(a.ndim)) if axis is None else normalize_axis_tuple(axis, a.ndim)
        order = order_of(a)
        kept = [k for k in order if k not in axes]
        self.n = math.prod(a.shape[k] for k in axes)
        count = math.prod(a.shape[k] for k in kept)
        self.matrix = turned(a, [*kept, *(k for k in order if k in axes)]).reshape(count, self.n)
        self._shape, self._kept = [a.shape[k] for k in kept], kept
        self._keys = tuple(None if k in axes else slice(None) for k in range(a.ndim)) if keepdims else ()
        self._a, self._axes, self._how = a, axes, {"axis": axis, "keepdims": keepdims}

    def result(self, values):
        """Numbers, one a row, with the array's axes."""
        return turned_back(values.reshape(self._shape), self._kept)[self._keys]

    def layout(self, reference, *args, **how):
        """The Layout of what the reference makes of the array and other arguments."""
        left, longest = min(self.n, _NANMEDIANS_FEW), {}
        for k in self._axes:
            longest[k] = max(2, min(self._a.shape[k], left))
            left = -(-left // longest[k])
        return as_numpys(reference, self._a, *args, longest=longest, **self._how, **how)


def _one_a_row(matrix, places):
    """The element at its place in each row, which is known to be there."""
    rows, n = matrix.shape
    return gathered(matrix.reshape(-1), index_ramp(rows) * n + places, 0, (rows,))


def _between(low, high, part):
    """NumPy's interpolation, from the nearer end."""
    apart = high - low
    where = TABLE["where"].function
    return where(part >= 0.5, high - apart * (1 - part), low + apart * part)


def _quantile(a, q, axis, out, method, keepdims, ignore_nan):
    numbers = q.get() if isinstance(q, ndarray) else numpy.asarray(q)
    if not a.size:
        raise ByNumpy
    rows = _Rows(a, axis, keepdims)
    n = rows.n
    isnan = TABLE["isnan"].function
    ordered = sorted_rows(rows.matrix)
    floating = a.dtype.kind == "f"
    if ignore_nan and floating:
        from xcuda import numeric as xp

        count = n - isnan(ordered).sum(1)
    else:
        xp, count = numpy, n
    dtype = numpy.result_type(a.dtype, numbers.dtype) if method not in _CHOOSING else a.dtype
    made = []
    for each in numbers.reshape(-1):
        low, high, part = _neighbours(method, count, each, xp)
        if xp is numpy:
            values = [ordered[:, int(k)] for k in (low, high)]
        else:
            values = [_one_a_row(ordered, k.astype("int64")) for k in (low, high)]
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
        made.append(rows.result(one))
    few = 0.5
    for length in reversed(numbers.shape):
        few = (few,) * max(1, min(length, 2))
    layout = rows.layout(numpy.nanquantile if ignore_nan else numpy.quantile, few, method=method)
    if numbers.ndim == 1 and made:
        return given(joined([one[None] for one in made], 0, made[0].dtype, layout=layout), out)
    if numbers.ndim:
        made = [TABLE["stack"].function(made).reshape(numbers.shape + made[0].shape)]
    return given(laid(made[0], layout), out)


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
    if not a.size:
        raise ByNumpy
    rows = _Rows(a, axis, keepdims)
    n = rows.n
    ordered = sorted_rows(rows.matrix)
    isnan = TABLE["isnan"].function
    inexact = a.dtype.kind in "fc"
    if ignore_nan and inexact:
        count = n - isnan(ordered).sum(1)
        last = TABLE["maximum"].function(count - 1, 0)
        two = [_one_a_row(ordered, k) for k in (last // 2, TABLE["minimum"].function(count // 2, last))]
    else:
        two = [ordered[:, (n - 1) // 2], ordered[:, n // 2]]
    made = TABLE["mean"].function(TABLE["stack"].function(two), 0)
    if inexact:
        spoilt = isnan(ordered[:, 0] if ignore_nan else ordered[:, -1])
        made = TABLE["where"].function(spoilt, a.dtype.type(numpy.nan), made)
    layout = rows.layout(numpy.nanmedian if ignore_nan else numpy.median)
    return given(laid(rows.result(made), layout), out)


@native_twice(reference=numpy.median)
def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """The middle of the sorted elements, or the mean of the two there."""
    return _middle(a, axis, out, keepdims, False)


@native_twice(reference=numpy.nanmedian)
def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=numpy._NoValue):
    """The median of what is not nan."""
    return _middle(a, axis, out, keepdims, True)
