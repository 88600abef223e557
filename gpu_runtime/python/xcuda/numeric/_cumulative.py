"""Running sums and products, differences, gradients, and the trapezoidal rule."""

import numpy
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from ._array import asarray, ndarray
from ._functions import where
from ._joining import concatenate, joined
from ._layouts import as_numpys, own
from ._paths import held_array, native_twice
from ._registry import TABLE, native

_NoValue = numpy._NoValue
_add, _multiply = TABLE["add"].function, TABLE["multiply"].function


def _running(ufunc, a, axis, dtype, out):
    a = held_array(a)
    if axis is None or a.ndim == 0 and axis in (0, -1):
        a, axis = a.reshape(-1), 0
    return ufunc.accumulate(a, normalize_axis_index(axis, a.ndim), dtype, out)


@native_twice(reference=numpy.cumsum)
def cumsum(a, axis=None, dtype=None, out=None):
    """The sums of all beginnings along an axis, or in C order."""
    return _running(_add, a, axis, dtype, out)


@native_twice(reference=numpy.cumprod)
def cumprod(a, axis=None, dtype=None, out=None):
    """The products of all beginnings along an axis, or in C order."""
    return _running(_multiply, a, axis, dtype, out)


def _without_nan(a, number):
    a = own(held_array(a))
    return where(TABLE["isnan"].function(a), a.dtype.type(number), a) if a.dtype.kind in "fc" else a


@native_twice(reference=numpy.nancumsum)
def nancumsum(a, axis=None, dtype=None, out=None):
    """cumsum with nan taken as 0."""
    return _running(_add, _without_nan(a, 0), axis, dtype, out)


@native_twice(reference=numpy.nancumprod)
def nancumprod(a, axis=None, dtype=None, out=None):
    """cumprod with nan taken as 1."""
    return _running(_multiply, _without_nan(a, 1), axis, dtype, out)


def _cumulative(name, ufunc, start, x, axis, dtype, out, include_initial):
    x = TABLE["atleast_1d"].function(held_array(x))
    if axis is None:
        if x.ndim >= 2:
            raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
        axis = 0
    axis = normalize_axis_index(axis, x.ndim)
    made = ufunc.accumulate(x, axis, dtype, None if include_initial else out)
    if not include_initial:
        return made
    shape = [*x.shape]
    shape[axis] = 1
    layout = as_numpys(getattr(numpy, name), x, axis=axis, include_initial=True)
    made = joined([TABLE["full"].function(shape, start, made.dtype), made], axis, made.dtype, layout=layout)
    if out is None:
        return made
    out[...] = made
    return out


@native_twice(reference=numpy.cumulative_sum)
def cumulative_sum(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    """The sums of all beginnings along an axis, that of none too if asked for."""
    return _cumulative("cumulative_sum", _add, 0, x, axis, dtype, out, include_initial)


@native_twice(reference=numpy.cumulative_prod)
def cumulative_prod(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    """The products of all beginnings along an axis, that of none too if asked for."""
    return _cumulative("cumulative_prod", _multiply, 1, x, axis, dtype, out, include_initial)


def _between(a, axis, *bounds):
    return a[(*(slice(None),) * axis, slice(*bounds))]


@native()
def diff(a, n=1, axis=-1, prepend=_NoValue, append=_NoValue):
    """Each element's difference to the one before it along an axis, n times over."""
    if n == 0:
        return a
    if n < 0:
        raise ValueError("order must be non-negative but got " + repr(n))
    a = asarray(a)
    if a.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    axis = normalize_axis_index(axis, a.ndim)
    parts = [_edge(prepend, a, axis), a, _edge(append, a, axis)]
    parts = [p for p in parts if p is not None]
    if len(parts) > 1:
        a = concatenate(parts, axis)
    difference = TABLE["not_equal" if a.dtype.kind == "b" else "subtract"].function
    for _ in range(n):
        a = difference(_between(a, axis, 1, None), _between(a, axis, None, -1))
    return a


def _edge(value, a, axis):
    if value is _NoValue:
        return None
    value = asarray(value)
    if value.ndim == 0:
        shape = [*a.shape]
        shape[axis] = 1
        value = TABLE["broadcast_to"].function(value, shape)
    return value


@native()
def ediff1d(ary, to_end=None, to_begin=None):
    """The differences of neighbours in C order, with others before and after."""
    a = asarray(ary).reshape(-1)
    parts = [a[1:] - a[:-1] if a.dtype.kind != "b" else TABLE["subtract"].function(a[1:], a[:-1])]
    for name, value in (("to_begin", to_begin), ("to_end", to_end)):
        if value is None:
            continue
        value = asarray(value)
        if not numpy.can_cast(value.dtype, a.dtype, "same_kind"):
            raise TypeError(
                f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule."
            )
        value = value.reshape(-1).astype(a.dtype, copy=False)
        parts = [value, *parts] if name == "to_begin" else [*parts, value]
    return parts[0] if len(parts) == 1 else joined(parts, 0, a.dtype)


def _distances(varargs, f, axes):
    """For each axis a number, or the array of distances along it."""
    if not varargs:
        return [1.0] * len(axes)
    if len(varargs) == 1 and numpy.ndim(varargs[0]) == 0:
        return list(varargs) * len(axes)
    if len(varargs) != len(axes):
        raise TypeError("invalid number of arguments")
    made = []
    for axis, given in zip(axes, varargs, strict=True):
        if numpy.ndim(given) == 0:
            made.append(given)
            continue
        if numpy.ndim(given) != 1:
            raise ValueError("distances must be either scalars or 1d")
        given = asarray(given)
        if given.size != f.shape[axis]:
            raise ValueError("when 1d, distances must match the length of the corresponding dimension")
        if given.dtype.kind in "iu":
            given = given.astype("float64")
        apart = diff(given)
        made.append(apart[0] if apart.size and bool((apart == apart[0]).all()) else apart)
    return made


@native_twice(reference=numpy.gradient)
def gradient(f, *varargs, axis=None, edge_order=1):
    """Derivatives by differences of second order inside, and of order 1 or 2 at the edges, an array an axis."""
    f = held_array(f)
    axes = tuple(range(f.ndim)) if axis is None else normalize_axis_tuple(axis, f.ndim)
    distances = _distances(varargs, f, axes)
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    if f.dtype.kind in "biu":
        f = f.astype("float64")
    if any(f.shape[k] < edge_order + 1 for k in axes):
        raise ValueError(
            "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are "
            "required."
        )
    made = []
    for k, h in zip(axes, distances, strict=True):
        parts = _edges(f, k, h, edge_order)
        layout = as_numpys(numpy.gradient, f, axis=k)
        made.append(joined([p.astype(f.dtype, copy=False) for p in parts], k, f.dtype, layout=layout))
    if axis is not None and not isinstance(axis, (tuple, list)) or len(made) == 1:
        return made[0]
    return tuple(made)


def _edges(f, k, h, edge_order):
    """The derivative at the first place, inside, and at the last place along axis k."""

    def at(*bounds):
        return _between(f, k, *bounds)

    def one(place):
        return at(place, place + 1 or None)

    uniform = numpy.ndim(h) == 0
    if uniform:
        inside = (at(2, None) - at(None, -2)) / (2.0 * h)
    else:
        shape = [1] * f.ndim
        shape[k] = -1
        d1, d2 = h[:-1].reshape(shape), h[1:].reshape(shape)
        inside = (
            -d2 / (d1 * (d1 + d2)) * at(None, -2)
            + (d2 - d1) / (d1 * d2) * at(1, -1)
            + d1 / (d2 * (d1 + d2)) * at(2, None)
        )
    if edge_order == 1:
        first, last = (h, h) if uniform else (h[0], h[-1])
        return (one(1) - one(0)) / first, inside, (one(-1) - one(-2)) / last
    if uniform:
        low = -1.5 / h * one(0) + 2.0 / h * one(1) + -0.5 / h * one(2)
        high = 0.5 / h * one(-3) + -2.0 / h * one(-2) + 1.5 / h * one(-1)
        return low, inside, high
    d1, d2 = h[0], h[1]
    low = -(2.0 * d1 + d2) / (d1 * (d1 + d2)) * one(0)
    low = low + (d1 + d2) / (d1 * d2) * one(1) + -d1 / (d2 * (d1 + d2)) * one(2)
    d1, d2 = h[-2], h[-1]
    high = d2 / (d1 * (d1 + d2)) * one(-3) + -(d2 + d1) / (d1 * d2) * one(-2)
    high = high + (2.0 * d2 + d1) / (d2 * (d1 + d2)) * one(-1)
    return low, inside, high


@native()
def trapezoid(y, x=None, dx=1.0, axis=-1):
    """The integral along an axis by the trapezoidal rule."""
    y = asarray(y)
    place = normalize_axis_index(axis, y.ndim)
    if x is None:
        width = dx
    else:
        x = asarray(x)
        if x.ndim == 1:
            shape = [1] * y.ndim
            shape[place] = x.shape[0] - 1
            width = diff(x).reshape(shape)
        else:
            width = diff(x, axis=axis)
    pairs = _between(y, place, 1, None) + _between(y, place, None, -1)
    made = (width * pairs / 2.0).sum(place)
    return made if isinstance(made, ndarray) else asarray(made)
