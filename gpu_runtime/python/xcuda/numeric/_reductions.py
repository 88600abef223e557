"""Sums, means, extremes and their nan-variants, over any axes."""

import numpy

from ._array import asarray
from ._dtypes import as_dtype
from ._functions import imag_part, real_part
from ._functions import where as choose
from ._layouts import own
from ._out import given
from ._registry import TABLE, native
from ._ufuncs import _axes

_NoValue = numpy._NoValue
_f = {name: TABLE[name].function for name in ("add", "multiply", "maximum", "minimum", "logical_and", "logical_or",
                                              "isnan", "sqrt", "absolute", "square")}  # fmt: skip


def _fold(name, ufunc):
    reference = getattr(numpy, name)

    def fold(a, axis=None, dtype=None, out=None, keepdims=False, initial=_NoValue, where=True):
        return _f[ufunc].reduce(
            a, axis, dtype, out, False if keepdims is _NoValue else keepdims, initial, where
        )

    fold.__name__ = name
    fold.__doc__ = reference.__doc__
    return native(name)(fold)


def _fold_without_dtype(name, ufunc):
    reference = getattr(numpy, name)

    def fold(a, axis=None, out=None, keepdims=False, initial=_NoValue, where=True):
        return _f[ufunc].reduce(
            a, axis, None, out, False if keepdims is _NoValue else keepdims, initial, where
        )

    fold.__name__ = name
    fold.__doc__ = reference.__doc__
    return fold


sum = _fold("sum", "add")
prod = _fold("prod", "multiply")
amax = native("max", "amax")(_fold_without_dtype("max", "maximum"))
amin = native("min", "amin")(_fold_without_dtype("min", "minimum"))


def _logical(name, ufunc):
    def fold(a, axis=None, out=None, keepdims=False, *, where=True):
        return _f[ufunc].reduce(
            a, axis, None, out, False if keepdims is _NoValue else keepdims, _NoValue, where
        )

    fold.__name__ = name
    fold.__doc__ = getattr(numpy, name).__doc__
    return native(name)(fold)


all = _logical("all", "logical_and")
any = _logical("any", "logical_or")


@native()
def count_nonzero(a, axis=None, *, keepdims=False):
    """How many elements are not zero."""
    a = asarray(a)
    return sum(a.astype(bool, copy=False), axis, keepdims=keepdims)


@native()
def ptp(a, axis=None, out=None, keepdims=False):
    """The greatest less the least."""
    keepdims = False if keepdims is _NoValue else keepdims
    made = amax(a, axis, keepdims=keepdims) - amin(a, axis, keepdims=keepdims)
    return given(made, out)


def _count(a, axes, where, keepdims):
    if where is True:
        n = 1
        for axis in axes:
            n *= a.shape[axis]
        return n
    mask = TABLE["broadcast_to"].function(asarray(where).astype(bool, copy=False), a.shape)
    return sum(mask, tuple(axes), keepdims=keepdims)


def _quotient(total, n, dtype):
    """A fresh sum by a number of elements, laid out as the sum: also its axes of length 1."""
    if total.ndim < 2:
        return (total / n).astype(dtype, copy=False)
    total /= n
    return total.astype(dtype, copy=False)


def _root(variance):
    """Square roots of a fresh array, in its layout."""
    if variance.ndim < 2:
        return _f["sqrt"](variance)
    return _f["sqrt"](variance, out=variance)


_means = {}  # by what is given: NumPy makes a dtype's name anew each time


def _mean_dtypes(a, dtype):
    """What a mean is summed in, and what it is."""
    key = a.dtype, dtype if dtype is None or isinstance(dtype, numpy.dtype) else as_dtype(dtype)
    known = _means.get(key)
    if known is None:
        result = as_dtype(key[1] if dtype is not None else float if a.dtype.kind in "biu" else a.dtype)
        wide = {"float16": "float64", "float32": "float64", "complex64": "complex128"}.get(
            result.name, result
        )
        known = _means[key] = as_dtype(wide), result
    return known


def squared_size(a):
    """The squares of the elements' absolute values."""
    return _f["square"](real_part(a)) + _f["square"](imag_part(a)) if a.dtype.kind == "c" else _f["square"](a)


def _warn_empty(what):
    import warnings

    warnings.warn(what, RuntimeWarning, stacklevel=3)


@native()
def mean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    """The arithmetic mean."""
    a = asarray(a)
    keepdims = False if keepdims is _NoValue else keepdims
    axes = _axes(axis, a.ndim)
    wide, result = _mean_dtypes(a, dtype)
    n = _count(a, axes, where, keepdims)
    if isinstance(n, int) and n == 0:
        _warn_empty("Mean of empty slice.")
    total = _f["add"].reduce(a, axes, wide, None, keepdims, _NoValue, where)
    return given(_quotient(total, n, result), out)


def _freedom(ddof, correction):
    """What is taken from the number of elements: one of the two names that it has."""
    if correction is _NoValue:
        return ddof
    if ddof != 0:
        raise ValueError("ddof and correction can't be provided simultaneously.")
    return correction


@native()
def var(
    a,
    axis=None,
    dtype=None,
    out=None,
    ddof=0,
    keepdims=False,
    *,
    where=True,
    mean=_NoValue,
    correction=_NoValue,
):
    """The variance."""
    ddof = _freedom(ddof, correction)
    a = asarray(a)
    keepdims = False if keepdims is _NoValue else keepdims
    axes = _axes(axis, a.ndim)
    wide, result = _mean_dtypes(a, dtype)
    n = _count(a, axes, where, keepdims)
    middle_n = _count(a, axes, where, True)
    if isinstance(n, int) and n - ddof <= 0:
        _warn_empty("Degrees of freedom <= 0 for slice.")
    middle = (
        mean
        if mean is not _NoValue
        else _f["add"].reduce(a, axes, wide, None, True, _NoValue, where) / middle_n
    )
    away = a - middle
    if away.dtype.kind == "c":
        result = result.type(0).real.dtype
        wide = wide.type(0).real.dtype
    total = _f["add"].reduce(squared_size(away), axes, wide, None, keepdims, _NoValue, where)
    left = max(n - ddof, 0) if isinstance(n, int) else _f["maximum"](n - ddof, 0)
    return given(_quotient(total, left, result), out)


@native()
def std(
    a,
    axis=None,
    dtype=None,
    out=None,
    ddof=0,
    keepdims=False,
    *,
    where=True,
    mean=_NoValue,
    correction=_NoValue,
):
    """The standard deviation."""
    made = var(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction)
    return given(_root(made), out)


@native()
def average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    """The weighted mean."""
    a = asarray(a)
    keepdims = False if keepdims is _NoValue else keepdims
    if weights is None:
        made = mean(a, axis, keepdims=keepdims)
        counted = a.size / made.size  # of no results: ZeroDivisionError, as NumPy has it
        if not returned:
            return made
        from ._creation import full_like

        return made, full_like(made, counted)
    weights = asarray(weights)
    if weights.shape != a.shape:
        if axis is None:
            raise TypeError("Axis must be specified when shapes of a and weights differ.")
        weights = _weights_along(a, axis, weights)
    wide = numpy.result_type(a.dtype, weights.dtype, "float64" if a.dtype.kind in "biu" else a.dtype)
    scale = sum(weights, axis, wide, keepdims=keepdims)
    if bool((scale == 0).any()):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    made = sum(a * weights, axis, wide, keepdims=keepdims) / scale
    if returned and scale.shape != made.shape:
        scale = TABLE["broadcast_to"].function(scale, made.shape).copy()
    return (made, scale) if returned else made


def _weights_along(a, axis, weights):
    """Weights of some axes in a shape that broadcasts against the array's."""
    axes = numpy.lib.array_utils.normalize_axis_tuple(axis, a.ndim, argname="axis")
    if weights.shape != tuple(a.shape[k] for k in axes):
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    weights = weights.transpose(tuple(numpy.argsort(axes)))
    return weights.reshape(tuple(n if k in axes else 1 for k, n in enumerate(a.shape)))


def _nan_fold(name, plain, in_place_of_nan):
    def fold(a, axis=None, *args, **kwargs):
        a = asarray(a)
        if a.dtype.kind in "fc":
            a = own(a)
            a = choose(_f["isnan"](a), in_place_of_nan, a)
        return plain(a, axis, *args, **kwargs)

    fold.__name__ = name
    fold.__doc__ = getattr(numpy, name).__doc__
    return native(name)(fold)


nansum = _nan_fold("nansum", sum, 0)
nanprod = _nan_fold("nanprod", prod, 1)


def _nan_extreme(name, ufunc):
    def fold(a, axis=None, out=None, keepdims=False, initial=_NoValue, where=True):
        a = asarray(a)
        keepdims = False if keepdims is _NoValue else keepdims
        made = TABLE[ufunc].function.reduce(a, axis, None, None, keepdims, initial, where)
        return given(made, out)

    fold.__name__ = name
    fold.__doc__ = getattr(numpy, name).__doc__
    return native(name)(fold)


nanmax = _nan_extreme("nanmax", "fmax")
nanmin = _nan_extreme("nanmin", "fmin")


@native()
def nanmean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    """The mean of what is not nan."""
    a = asarray(a)
    if a.dtype.kind not in "fc":
        return mean(a, axis, dtype, out, keepdims, where=where)
    a = own(a)
    good = ~_f["isnan"](a)
    if where is not True:
        good = good & where
    keepdims = False if keepdims is _NoValue else keepdims
    wide, result = _mean_dtypes(a, dtype)
    n = sum(good, axis, keepdims=keepdims)
    total = sum(choose(good, a, 0), axis, wide, keepdims=keepdims)
    return given(_quotient(total, n, result), out)


@native()
def nanvar(
    a,
    axis=None,
    dtype=None,
    out=None,
    ddof=0,
    keepdims=False,
    *,
    where=True,
    mean=_NoValue,
    correction=_NoValue,
):
    """The variance of what is not nan."""
    a = asarray(a)
    if a.dtype.kind not in "fc":
        return var(a, axis, dtype, out, ddof, keepdims, where=where, mean=mean, correction=correction)
    ddof = _freedom(ddof, correction)
    a = own(a)
    good = ~_f["isnan"](a)
    if where is not True:
        good = good & where
    keepdims = False if keepdims is _NoValue else keepdims
    wide, result = _mean_dtypes(a, dtype)
    middle = nanmean(a, axis, wide, None, True, where=where) if mean is _NoValue else mean
    away = choose(good, a - middle, 0)
    away = squared_size(away)
    n = sum(good, axis, keepdims=keepdims) - ddof
    total = sum(away, axis, wide.type(0).real.dtype, keepdims=keepdims)
    n = choose(n > 0, n, numpy.float64("nan"))
    return given(_quotient(total, n, result.type(0).real.dtype), out)


@native()
def nanstd(
    a,
    axis=None,
    dtype=None,
    out=None,
    ddof=0,
    keepdims=False,
    *,
    where=True,
    mean=_NoValue,
    correction=_NoValue,
):
    """The standard deviation of what is not nan."""
    made = nanvar(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction)
    return given(_root(made), out)
