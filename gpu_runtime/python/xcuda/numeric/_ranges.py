"""Arrays of formulas over 0, 1, 2, ...: long ranges, unit matrices, windows. Short ones NumPy makes."""

import operator

import numpy

from ._array import array, ndarray
from ._dtypes import as_dtype
from ._fallback import to_host, to_ours
from ._gather import index_ramp
from ._placed import placed
from ._registry import TABLE, native
from ._signals import i0

_SHORT = 4096


def _f(name):
    return TABLE[name].function


def _scalar(value):
    return isinstance(value, (bool, int, float, complex, numpy.number)) and not isinstance(value, ndarray)


@native()
@placed
def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    """numpy.linspace: numbers at even distances."""
    num = operator.index(num)
    if num < _SHORT or not (_scalar(start) and _scalar(stop)):
        made = numpy.linspace(*to_host((start, stop)), num, endpoint, retstep, dtype, axis)
        return (array(made[0]), made[1]) if retstep else array(made)
    kind = numpy.result_type(start, stop, float(num))
    result = kind if dtype is None else as_dtype(dtype)
    start, stop = (numpy.asarray(v).astype(kind)[()] for v in (start, stop))
    parts, delta = num - bool(endpoint), stop - start
    step = delta / parts
    y = index_ramp(num).astype(kind)
    y = y * step + start if step != 0 else y / parts * delta + start
    if endpoint:
        y[-1] = stop
    if result.kind in "iu":
        y = _f("floor")(y)
    y = y.astype(result, copy=False)
    return (y, step) if retstep else y


@native()
def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    """numpy.logspace: powers of the base at even distances of their exponents."""
    if operator.index(num) < _SHORT or not all(map(_scalar, (start, stop, base))):
        return to_ours(numpy.logspace(*to_host((start, stop)), num, endpoint, to_host(base), dtype, axis))
    made = _f("power")(base, linspace(start, stop, num, endpoint))
    return made if dtype is None else made.astype(dtype, copy=False)


@native()
@placed
def eye(N, M=None, k=0, dtype=float, order="C", *, like=None):
    """numpy.eye: ones on a diagonal."""
    rows, columns, k = operator.index(N), operator.index(N if M is None else M), operator.index(k)
    if rows * columns < _SHORT:
        return to_ours(numpy.eye(rows, columns, k, dtype, order))
    made = (index_ramp(rows)[:, None] + k == index_ramp(columns)).astype(dtype)
    return _f("asfortranarray")(made) if order == "F" else made


@native()
def identity(n, dtype=None, *, like=None):
    """numpy.identity: a unit matrix."""
    return eye(n, dtype=float if dtype is None else dtype)


def _cosines(*factors):
    """A window of cosines: factors[k] * cos(k pi n / (M - 1)) summed, n from 1 - M to M - 1 by twos."""

    def window(places, last):
        return sum(
            (f * _f("cos")(places * (k * numpy.pi / last)) for k, f in enumerate(factors) if k),
            start=factors[0],
        )

    return window


def _triangle(places, last):
    return _f("where")(places <= 0, 1 + places / last, 1 - places / last)


def _window(name, formula):
    reference = getattr(numpy, name)

    def window(M):
        if M < _SHORT:
            return to_ours(reference(M))
        return formula(index_ramp(int(M)) * 2.0 + (1.0 - M), M - 1.0)

    window.__name__, window.__doc__ = name, reference.__doc__
    return native(name)(window)


hanning = _window("hanning", _cosines(0.5, 0.5))
hamming = _window("hamming", _cosines(0.54, 0.46))
blackman = _window("blackman", _cosines(0.42, 0.5, 0.08))
bartlett = _window("bartlett", _triangle)


@native()
def kaiser(M, beta):
    """numpy.kaiser: a window of Bessel functions."""
    if M < _SHORT:
        return to_ours(numpy.kaiser(M, to_host(beta)))
    half = (M - 1) / 2.0
    away = (index_ramp(int(M)) - half) / half
    return i0(beta * _f("sqrt")(1 - away**2.0)) / float(numpy.i0(beta))
