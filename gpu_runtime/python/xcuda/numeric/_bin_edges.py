"""The edges of a histogram's bins: given, even, or by one of NumPy's estimators of their width."""

import operator

import numpy

from ._array import asarray, ndarray
from ._counting import bins_of, counted
from ._registry import TABLE


def outer_edges(a, limits):
    """The first and the last edge."""
    if limits is not None:
        first, last = limits
        if first > last:
            raise ValueError("max must be larger than min in range parameter.")
        if not (numpy.isfinite(first) and numpy.isfinite(last)):
            raise ValueError(f"supplied range of [{first}, {last}] is not finite")
    elif not a.size:
        first, last = 0, 1
    else:
        first, last = a.min().get()[()], a.max().get()[()]
        if not (numpy.isfinite(first) and numpy.isfinite(last)):
            raise ValueError(f"autodetected range of [{first}, {last}] is not finite")
    if first == last:
        first, last = first - 0.5, last + 0.5
    return first, last


def bin_edges(a, bins, limits, weights):
    """The edges as a host array."""
    if isinstance(bins, str):
        if bins not in ESTIMATORS:
            raise ValueError(f"{bins!r} is not a valid estimator for `bins`")
        if weights is not None:
            raise TypeError("Automated estimation of the number of bins is not supported for weighted data")
        first, last = outer_edges(a, limits)
        if limits is not None:
            kept = (a >= first) & (a <= last)
            if not bool(kept.all()):
                a = a[kept]
        n = _number_of_bins(a, bins, first, last)
    elif numpy.ndim(bins) == 0:
        try:
            n = operator.index(bins)
        except TypeError:
            raise TypeError("`bins` must be an integer, a string, or an array") from None
        if n < 1:
            raise ValueError("`bins` must be positive, when an integer")
        first, last = outer_edges(a, limits)
    elif numpy.ndim(bins) == 1:
        edges = bins.get() if isinstance(bins, ndarray) else numpy.asarray(bins)
        if (edges[:-1] > edges[1:]).any():
            raise ValueError("`bins` must increase monotonically, when an array")
        return edges
    else:
        raise ValueError("`bins` must be 1d, when an array")
    kind = numpy.result_type(first, last, a.dtype)
    if numpy.issubdtype(kind, numpy.integer):
        kind = numpy.result_type(kind, float)
    edges = numpy.linspace(first, last, n + 1, endpoint=True, dtype=kind)
    if (edges[:-1] >= edges[1:]).any():
        raise ValueError(f"Too many bins for data range. Cannot create {n} finite-sized bins.")
    return edges


def _number_of_bins(a, name, first, last):
    if not a.size:
        return 1
    width = ESTIMATORS[name](a, (first, last))
    if width:
        if a.dtype.kind in "iu" and width < 1:
            width = 1
        return int(numpy.ceil((float(last) - float(first)) / width))
    return 1


def _spread(a):
    """The greatest less the least, without overflow."""
    return float(a.max()) - float(a.min())


def _std(a):
    return float(a.std())


def _sqrt(a, _):
    return _spread(a) / numpy.sqrt(a.size)


def _sturges(a, _):
    return _spread(a) / (numpy.log2(a.size) + 1.0)


def _rice(a, _):
    return _spread(a) / (2.0 * a.size ** (1.0 / 3))


def _scott(a, _):
    return (24.0 * numpy.pi**0.5 / a.size) ** (1.0 / 3.0) * _std(a)


def _freedman_diaconis(a, _):
    high, low = TABLE["percentile"].function(a, [75, 25]).get()
    return 2.0 * (high - low) * a.size ** (-1.0 / 3.0)


def _doane(a, _):
    if a.size <= 2:
        return 0.0
    spread = numpy.sqrt(6.0 * (a.size - 2) / ((a.size + 1.0) * (a.size + 3)))
    deviation = _std(a)
    if deviation <= 0.0:
        return 0.0
    skew = float((((a - a.mean()) / deviation) ** 3).mean())
    return _spread(a) / (1.0 + numpy.log2(a.size) + numpy.log2(1.0 + numpy.absolute(skew) / spread))


def _stone(a, limits):
    """The width with the least estimate of the integrated squared error, by Stone (1984)."""
    n, spread = a.size, _spread(a)
    if n <= 1 or spread == 0:
        return 0.0
    most = max(100, int(numpy.sqrt(n)))
    best, least = most, None
    for bins in range(1, most + 1):
        edges = numpy.linspace(*limits, bins + 1)

        p = counted(bins_of(a, asarray(edges)), bins).get() / n
        loss = (2 - (n + 1) * p.dot(p)) / (spread / bins)
        if least is None or loss < least:
            best, least = bins, loss
    return spread / best


def _auto(a, limits):
    fd, sturges = _freedman_diaconis(a, limits), _sturges(a, limits)
    return min(max(fd, _sqrt(a, limits) / 2), sturges)


ESTIMATORS = {
    "stone": _stone,
    "auto": _auto,
    "doane": _doane,
    "fd": _freedman_diaconis,
    "rice": _rice,
    "scott": _scott,
    "sqrt": _sqrt,
    "sturges": _sturges,
}
