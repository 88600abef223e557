"""Grids of coordinates, and functions of them."""

import operator

import numpy

from ._array import asarray
from ._creation import empty
from ._fallback import to_host
from ._registry import TABLE, native, register


def _f(name):
    return TABLE[name].function


@native("meshgrid")
def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    """numpy.meshgrid: a matrix of each coordinate; views that take no memory where copy is False."""
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    n = len(xi)
    made = []
    for i, x in enumerate(map(asarray, xi)):
        shape = [1] * n
        shape[i] = -1 if x.size else 0
        made.append(x.reshape(shape))
    if indexing == "xy" and n > 1:
        made[0] = made[0].reshape(1, made[0].size, *(1,) * (n - 2))
        made[1] = made[1].reshape(made[1].size, 1, *(1,) * (n - 2))
    if not sparse:
        made = list(_f("broadcast_arrays")(*made)) if n else made
    return tuple(x.copy() for x in made) if copy else tuple(made)


def _along(n, axis, ndim, dtype):
    """0 to n - 1 along an axis, of length 1 along the others."""
    shape = [1] * ndim
    shape[axis] = n
    return _f("arange")(n, dtype=dtype).reshape(shape)


@native("indices")
def indices(dimensions, dtype=int, sparse=False):
    """numpy.indices: an array of each axis' indices."""
    dimensions = tuple(map(operator.index, dimensions))
    n = len(dimensions)
    each = [_along(length, i, n, dtype) for i, length in enumerate(dimensions)]
    if sparse:
        return tuple(each)
    made = empty((n, *dimensions), dtype)
    for i, x in enumerate(each):
        made[i] = x
    return made


@native("fromfunction")
def fromfunction(function, shape, *, dtype=float, like=None, **kwargs):
    """numpy.fromfunction: a function of the indices' arrays, which take no memory; what it does is fused."""
    shape = tuple(map(operator.index, shape))
    spread = _f("broadcast_to")
    return function(*(spread(_along(n, i, len(shape), dtype), shape) for i, n in enumerate(shape)), **kwargs)


class _Grid:
    """numpy.mgrid and numpy.ogrid."""

    def __init__(self, name):
        self._name = name
        self._reference = getattr(numpy, name)

    def __getitem__(self, key):
        key = (
            tuple(slice(*map(to_host, (k.start, k.stop, k.step))) for k in key)
            if isinstance(key, tuple)
            else key
        )
        open_ones = numpy.ogrid[key]
        if not isinstance(key, tuple):
            return asarray(open_ones)
        each = [asarray(x) for x in open_ones]
        if self._name == "ogrid":
            return tuple(each)
        made = empty((len(each), *(x.size for x in each)), numpy.result_type(*(x.dtype for x in each)))
        for i, x in enumerate(each):
            made[i] = x
        return made

    def __repr__(self):
        return f"<numeric.{self._name}>"


for _name in ("mgrid", "ogrid"):
    register(_name, _Grid(_name), __name__)
