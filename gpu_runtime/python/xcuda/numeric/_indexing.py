"""Indexing by arrays: reading and writing what a Plan selects."""

import operator

import numpy

from ._array import asarray, ndarray
from ._fallback import to_host
from ._functions import where
from ._gather import gathered, scatter
from ._index_plan import along, plan
from ._layouts import turned, turned_back
from ._nonzero import flat_places
from ._paths import adopted, device_of, on_host_memory
from ._registry import register
from ._ufuncs import _operand


def getitem(a, key):
    """`a[key]` for keys that are not basic."""
    if on_host_memory(a):
        if type(key) is ndarray and key.ndim:
            return _adopted(a._host()[key._host()])
        key = _plain(key)
        return a[key] if _basic(key) else _adopted(a._host()[to_host(key)])
    key = _plain(key)
    if _basic(key):
        return a[key]
    with device_of(a):
        if isinstance(key, ndarray) and key.dtype.kind == "b" and key.shape == a.shape and a._c_contiguous:
            return taken(a.reshape(-1), flat_places(key), 0)
        return picked(plan(a, key))


def picked(wanted):
    """The elements that a Plan selects, in memory as NumPy's indexing has them."""
    as_it_lies, order = wanted.as_it_lies()
    return turned_back(selected(as_it_lies), order)


def selected(wanted):
    """The elements that a Plan selects, in C order."""
    blocks, after = wanted.blocks(), None
    if blocks is None:
        blocks = after = wanted.blocks_after()
    places = wanted.places if blocks else wanted.all_places()
    return gathered(wanted.memory, places, 0, wanted.shape, blocks, after is not None)


def taken(a, index, axis, order=None):
    """The elements at an index array along an axis, which is known to be within it.

    order: that of the result's axes in memory, slowest first; C order by default.
    """
    if order is None:
        return selected(along(a, axis, index))
    return turned_back(selected(along(turned(a, order), order.index(axis), index)), order)


def _adopted(host):
    """NumPy's result of advanced indexing, whose memory is its own."""
    return adopted(host if isinstance(host, numpy.ndarray) else numpy.array(host))


def setitem(a, key, value):
    """`a[key] = value` where key or value are not of the everyday kinds."""
    key = _plain(key)
    if _basic(key):
        a[key] = _as_elements(a, value)
        return
    if a._readonly:
        raise ValueError("assignment destination is read-only")
    if isinstance(key, tuple) and len(key) == 1:
        key = key[0]
    mask = asarray(key) if isinstance(key, (ndarray, numpy.ndarray)) and key.dtype.kind == "b" else None
    if mask is not None and mask.shape == a.shape and a.ndim and _is_number(value):
        a._assign(where(mask, _as_elements(a, value), a))
        return
    if on_host_memory(a) and a.ndim <= 8:
        a._host()[to_host(key)] = to_host(value)
        return
    with device_of(a):
        assign(a, plan(a, key), _as_elements(a, value), mask is not None and mask.ndim == a.ndim)


def assign(a, wanted, value, by_mask=False):
    """Elements for what a Plan of the array selects, the last one where places repeat."""
    value = asarray(value)
    shape = wanted.shape
    given = value.shape
    if by_mask and len(given) > 1:
        raise TypeError(
            "NumPy boolean array indexing assignment requires a 0 or 1-dimensional input, input has "
            f"{len(given)} dimensions"
        )
    while value.ndim > len(shape) and value.shape[0] == 1:
        value = value[0]
    fitted = value._broadcast(shape)
    if fitted is None:
        if by_mask:
            raise ValueError(
                f"NumPy boolean array indexing assignment cannot assign {given[0]} input values to the {shape[0]} "
                "output values where the mask is true"
            )
        shown = [str(s).replace(" ", "") for s in (given, shape)]
        raise ValueError(
            f"shape mismatch: value array of shape {shown[0]} could not be broadcast to indexing result of shape "
            f"{shown[1]}"
        )
    alike = value.size == 1
    if value.dtype != a.dtype:
        fitted = fitted.astype(a.dtype)
    if value._same_memory(a) or not fitted._c_contiguous:
        fitted = fitted.copy()
    scatter(wanted.memory, wanted.all_places(), fitted, 0, wanted.repeats and not alike)


def _is_number(value):
    return not isinstance(value, (list, tuple)) and numpy.ndim(value) == 0


def _as_elements(a, value):
    """The value as an array of ours that `a` can take; numbers as elements of its dtype, with NumPy's errors."""
    value = _operand(value)
    if isinstance(value, (bool, int, float, complex, numpy.generic)):
        element = numpy.empty((), a.dtype)
        element[()] = value
        return asarray(element)
    if isinstance(value, numpy.ndarray):
        return asarray(value.astype(a.dtype))
    if value.dtype.kind == "c" and a.dtype.kind != "c":
        return value.astype(a.dtype)
    return value


def _plain(key):
    """Integers of any kind as Python's."""
    if isinstance(key, tuple):
        others = [item if isinstance(item, slice) else _plain_item(item) for item in key]
        return tuple(_plain_item(item) if isinstance(item, slice) else item for item in others)
    return _plain_item(key)


def _plain_item(key):
    if (
        isinstance(key, (numpy.integer,))
        or isinstance(key, (ndarray, numpy.ndarray))
        and key.ndim == 0
        and key.dtype.kind in "iu"
    ):
        return int(key)
    if isinstance(key, slice):
        return slice(*(None if x is None else operator.index(x) for x in (key.start, key.stop, key.step)))
    if isinstance(key, (bool, int, type(None), type(...), ndarray, numpy.ndarray, numpy.bool_, list, tuple)):
        return key
    if hasattr(key, "__index__"):
        return key.__index__()
    if (
        not isinstance(key, numpy.generic)
        and hasattr(key, "__array__")
        or hasattr(key, "__len__")
        and not isinstance(key, (str, bytes, dict))
    ):
        return numpy.asarray(key)
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
