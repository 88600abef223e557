"""Where the greatest and the least elements are."""

import numpy
from numpy.lib.array_utils import normalize_axis_index

from ._functions import where
from ._gather import index_ramp
from ._layouts import as_numpys, laid
from ._paths import ByNumpy, given, held_array, native_twice
from ._registry import TABLE

_NoValue = numpy._NoValue


def _matches(a, axis, fold):
    """Where in its row an element is the row's extreme; of rows with nan, where that is."""
    best = fold(a, axis, keepdims=True)
    same = a == best
    if a.dtype.kind == "f":
        same = same | (TABLE["isnan"].function(a) & TABLE["isnan"].function(best))
    return same


def _complex_matches(a, axis, fold, worst):
    """The same by real, then by imaginary parts."""
    isnan = TABLE["isnan"].function(a)
    anywhere = isnan.any(axis, keepdims=True)
    real = _matches(where(isnan, worst, a.real), axis, fold)
    both = real & _matches(where(real, a.imag, worst), axis, fold)
    return where(anywhere, isnan, both)


def _arg(name, a, axis, out, keepdims):
    fold = TABLE["max" if name.endswith("max") else "min"].function
    a = held_array(a)
    if a.dtype.kind == "V":  # bfloat16
        raise ByNumpy
    shape = a.shape
    if axis is None:  # places are counted in C order, however the elements lie
        rows, place = (a.reshape(-1), 0) if a._c_contiguous else (a, None)
    else:
        rows, place = (
            (a.reshape(1), 0) if not a.ndim and axis in (0, -1) else (a, normalize_axis_index(axis, a.ndim))
        )
    n = rows.size if place is None else rows.shape[place]
    if not n:
        raise ValueError(f"attempt to get {name} of an empty sequence")
    if a.dtype.kind == "c":
        same = _complex_matches(rows, place, fold, -numpy.inf if name.endswith("max") else numpy.inf)
    else:
        same = _matches(rows, place, fold)
    lengths = [n if k == place else 1 for k in range(rows.ndim)] if place is not None else shape
    made = TABLE["min"].function(where(same, index_ramp(n).reshape(lengths), n), place)
    kept = keepdims is not _NoValue and bool(keepdims)
    if kept:
        made = made.reshape((1,) * len(shape) if axis is None else (*shape[:place], 1, *shape[place + 1 :]))
    if not a._c_contiguous:  # else NumPy's results are in C order, too
        made = laid(made, as_numpys(getattr(numpy, name), a, axis=axis, keepdims=kept))
    if out is not None:
        if out.dtype != numpy.int64:
            raise TypeError(
                f"Cannot cast array data from dtype('int64') to {out.dtype!r} according to the rule 'safe'"
            )
        if out.shape != made.shape:
            raise ValueError(f"output array does not match result of np.{name}.")
    return given(made, out)


@native_twice(reference=numpy.argmax)
def argmax(a, axis=None, out=None, *, keepdims=_NoValue):
    """The place of the first greatest element, or of the first nan."""
    return _arg("argmax", a, axis, out, keepdims)


@native_twice(reference=numpy.argmin)
def argmin(a, axis=None, out=None, *, keepdims=_NoValue):
    """The place of the first least element, or of the first nan."""
    return _arg("argmin", a, axis, out, keepdims)


def _nan_arg(name, a, axis, out, keepdims):
    a = held_array(a)
    if a.dtype.kind == "f":
        isnan = TABLE["isnan"].function(a)
        a = where(isnan, a.dtype.type(-numpy.inf if name == "argmax" else numpy.inf), a)
        if bool(isnan.all(axis).any()):
            raise ValueError("All-NaN slice encountered")
    elif a.dtype.kind == "c":
        raise ByNumpy
    return _arg(name, a, axis, out, keepdims)


@native_twice(reference=numpy.nanargmax)
def nanargmax(a, axis=None, out=None, *, keepdims=_NoValue):
    """The place of the first greatest element that is not nan."""
    return _nan_arg("argmax", a, axis, out, keepdims)


@native_twice(reference=numpy.nanargmin)
def nanargmin(a, axis=None, out=None, *, keepdims=_NoValue):
    """The place of the first least element that is not nan."""
    return _nan_arg("argmin", a, axis, out, keepdims)
