"""histogram, histogram2d, histogramdd."""

import operator
import warnings

import numpy

from ._array import asarray, ndarray
from ._bin_edges import bin_edges, outer_edges
from ._counting import bins_of, counted
from ._fallback import to_host
from ._paths import held_array, native_twice
from ._registry import TABLE


def _of_numbers(a, weights):
    a = held_array(a)
    if a.dtype.kind == "b":
        warnings.warn(
            f"Converting input from {a.dtype} to {numpy.uint8} for compatibility.",
            RuntimeWarning,
            stacklevel=3,
        )
        a = a.astype("uint8")
    if weights is not None:
        weights = held_array(weights)
        if weights.shape != a.shape:
            raise ValueError("weights should have the same shape as a.")
        weights = weights.reshape(-1)
    return a.reshape(-1), weights


@native_twice(reference=numpy.histogram_bin_edges)
def histogram_bin_edges(a, bins=10, range=None, weights=None):
    """The edges that histogram takes."""
    a, weights = _of_numbers(a, weights)
    return asarray(bin_edges(a, bins, range, weights))


@native_twice(reference=numpy.histogram)
def histogram(a, bins=10, range=None, density=None, weights=None):
    """(how many elements lie in each bin, the bins' edges); bins may be a number, edges, or an estimator's name."""
    a, weights = _of_numbers(a, weights)
    edges = asarray(bin_edges(a, bins, range, weights))
    places = bins_of(a, edges)
    n = edges.size - 1
    if weights is None:
        made = counted(places, n)
    elif weights.dtype.kind == "c":
        made = TABLE["empty"].function(n, weights.dtype)
        made.real, made.imag = (counted(places, n, part) for part in (weights.real, weights.imag))
    else:
        made = counted(places, n, weights)
        made = made.astype(weights.dtype if weights.dtype.kind != "b" else bool, copy=False)
    if density:
        width = (edges[1:] - edges[:-1]).astype(float, copy=False)
        return made / width / made.sum(), edges
    return made, edges


def _sample(sample):
    if isinstance(sample, (ndarray, numpy.ndarray)) and sample.ndim == 2:
        made = asarray(sample)
        return [made[:, k] for k in range(made.shape[1])]
    if isinstance(sample, (list, tuple)):
        return [held_array(s).reshape(-1) for s in sample]
    return [held_array(sample).reshape(-1)]


@native_twice(reference=numpy.histogramdd)
def histogramdd(sample, bins=10, range=None, density=None, weights=None):
    """(the histogram of points in D dimensions, the edges of each)."""
    columns = _sample(sample)
    if any(c.size != columns[0].size for c in columns):
        raise ValueError("all input arrays must have the same shape")
    D = len(columns)
    weights = None if weights is None else held_array(weights)
    try:
        if len(bins) != D:
            raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    except TypeError:
        bins = D * [bins]
    if range is None:
        range = (None,) * D
    elif len(range) != D:
        raise ValueError("range argument must have one entry per dimension")
    edges = [_edges_of(c, b, r, k) for k, (c, b, r) in enumerate(zip(columns, bins, range, strict=True))]
    flat = None
    outside = None
    for column, edge in zip(columns, edges, strict=True):
        places = bins_of(column, asarray(edge))
        flat = places if flat is None else flat * (edge.size - 1) + places
        beyond = places < 0
        outside = beyond if outside is None else outside | beyond
    flat = TABLE["where"].function(outside, -1, flat)
    lengths = [e.size - 1 for e in edges]
    size = 1
    for n in lengths:
        size *= n
    made = counted(flat, size, weights).reshape(lengths).astype(float, copy=False)
    if density:
        total = made.sum()
        for k, edge in enumerate(edges):
            shape = [1] * D
            shape[k] = -1
            made = made / asarray(numpy.diff(edge)).reshape(shape)
        made = made / total
    return made, [asarray(e) for e in edges]


def _edges_of(column, bins, limits, k):
    bins = to_host(bins)
    if numpy.ndim(bins) == 0:
        if bins < 1:
            raise ValueError(f"`bins[{k}]` must be positive, when an integer")
        try:
            n = operator.index(bins)
        except TypeError as error:
            raise TypeError(f"`bins[{k}]` must be an integer, when a scalar") from error
        return numpy.linspace(*outer_edges(column, limits), n + 1)
    if numpy.ndim(bins) == 1:
        edges = numpy.asarray(bins)
        if (edges[:-1] > edges[1:]).any():
            raise ValueError(f"`bins[{k}]` must be monotonically increasing, when an array")
        return edges
    raise ValueError(f"`bins[{k}]` must be a scalar or 1d array")


@native_twice(reference=numpy.histogram2d)
def histogram2d(x, y, bins=10, range=None, density=None, weights=None):
    """(the histogram of points in the plane, the edges along x, those along y)."""
    if len(x) != len(y):
        raise ValueError("x and y must have the same length.")
    try:
        n = len(bins)
    except TypeError:
        n = 1
    if n not in (1, 2):
        bins = [asarray(bins)] * 2
    made, edges = histogramdd([x, y], bins, range, density, weights)
    return made, edges[0], edges[1]
