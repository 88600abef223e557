"""Indexing by arrays: by way of the host, but for what element-wise kernels do."""

import operator

import numpy

from ._array import asarray, ndarray
from ._fallback import tell, to_host, to_ours
from ._functions import where
from ._registry import register
from ._ufuncs import _operand


def getitem(a, key):
    """`a[key]` for keys that are not basic."""
    key = _plain(key)
    if _basic(key):
        return a[key]
    tell("ndarray.__getitem__")
    return to_ours(a._host()[to_host(key)].copy())


def setitem(a, key, value):
    """`a[key] = value` where key or value are not of the everyday kinds."""
    key = _plain(key)
    if _basic(key):
        value = _operand(value)
        if isinstance(value, (bool, int, float, complex)):
            value = (
                numpy.array(value).astype(a.dtype)
                if isinstance(value, (float, complex)) and a.dtype.kind in "iub"
                else numpy.array(value, a.dtype)
            )
            value = asarray(value)
        if isinstance(value, numpy.ndarray):
            value = asarray(value.astype(a.dtype))
        if value.dtype.kind == "c" and a.dtype.kind != "c":
            value = value.astype(a.dtype)
        a[key] = asarray(value)
        return
    mask = key if isinstance(key, ndarray) and key.dtype.kind == "b" else None
    if isinstance(key, numpy.ndarray) and key.dtype.kind == "b":
        mask = asarray(key)
    single = not isinstance(value, (list, tuple)) and numpy.ndim(value) == 0
    if mask is not None and mask.shape == a.shape and single:
        value = (
            asarray(value).astype(a.dtype, copy=False)
            if isinstance(value, ndarray)
            else numpy.array(value).astype(a.dtype)[()]
        )
        a._assign(where(mask, value, a))
        return
    tell("ndarray.__setitem__")
    host = a._host()
    host[to_host(key)] = to_host(value)
    if not a._host_accessible:
        a[...] = asarray(host)


def _plain(key):
    """Integers of any kind as Python's."""
    if isinstance(key, tuple):
        return tuple(map(_plain, key))
    if (
        isinstance(key, (numpy.integer,))
        or isinstance(key, ndarray)
        and key.ndim == 0
        and key.dtype.kind in "iu"
    ):
        return int(key)
    if isinstance(key, slice):
        return slice(*(None if x is None else operator.index(x) for x in (key.start, key.stop, key.step)))
    if isinstance(key, (bool, int, type(None), type(...), ndarray, numpy.ndarray, numpy.bool_, list)):
        return key
    if hasattr(key, "__index__"):
        return key.__index__()
    raise IndexError(
        "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are "
        "valid indices"
    )


def _basic(key):
    items = key if isinstance(key, tuple) else (key,)
    return all(
        item is None
        or item is ...
        or isinstance(item, slice)
        or (isinstance(item, int) and not isinstance(item, bool))
        for item in items
    )


register("_getitem", getitem, __name__)
register("_setitem", setitem, __name__)
