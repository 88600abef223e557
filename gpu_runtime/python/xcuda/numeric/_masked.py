"""Choices between arrays, and writes where a mask holds."""

import numpy

from ._array import asarray, ndarray
from ._fallback import to_host
from ._functions import where as choose_where
from ._gather import index_ramp
from ._nonzero import flat_places
from ._paths import ByNumpy, given, held_array, native_twice
from ._registry import TABLE, native


def _stretched(a, shape):
    return a if a.shape == shape else TABLE["broadcast_to"].function(a, shape)


@native_twice(reference=numpy.choose)
def choose(a, choices, out=None, mode="raise"):
    """For each element the choice that it numbers."""
    a = held_array(a)
    chosen = [held_array(c) for c in choices]
    if not chosen:
        raise ValueError("invalid number of arguments")
    if not numpy.can_cast(a.dtype, numpy.int64, "same_kind"):
        raise TypeError(
            f"Cannot cast array data from {a.dtype!r} to dtype('int64') according to the rule 'safe'"
        )
    n = len(chosen)
    index = a.astype("int64", copy=False)
    if mode == "raise":
        if index.size and bool(((index < 0) | (index >= n)).any()):
            raise ValueError("invalid entry in choice array")
    else:
        index = index % n if mode == "wrap" else TABLE["clip"].function(index, 0, n - 1)
    dtype = numpy.result_type(
        *(g if type(g) in (int, float, complex) else c.dtype for g, c in zip(choices, chosen, strict=True))
    )
    shape = numpy.broadcast_shapes(a.shape, *(c.shape for c in chosen))
    made = _stretched(chosen[-1].astype(dtype, copy=False), shape)
    for k in range(n - 2, -1, -1):
        made = choose_where(index == k, chosen[k].astype(dtype, copy=False), made)
    return given(made if n > 1 and made._c_contiguous else made.copy(), out)


@native()
def select(condlist, choicelist, default=0):
    """For each element the choice of the first condition that holds, else the default."""
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if not len(condlist):
        raise ValueError("select with an empty condition list is not possible")
    conditions = [asarray(c) for c in condlist]
    for k, c in enumerate(conditions):
        if c.dtype.kind != "b":
            raise TypeError(f"invalid entry {k} in condlist: should be boolean ndarray")
    choices = [c if type(c) in (int, float, complex) else asarray(c) for c in choicelist]
    default = default if type(default) in (int, float, complex) else asarray(default)
    try:
        dtype = numpy.result_type(*(c.dtype if hasattr(c, "dtype") else c for c in (*choices, default)))
    except TypeError as error:
        raise TypeError(f"Choicelist and default value do not have a common dtype: {error}") from None
    shape = numpy.broadcast_shapes(*(c.shape for c in conditions), *map(numpy.shape, (*choices, default)))
    made = _stretched(asarray(default, dtype), shape)
    for condition, choice in zip(conditions[::-1], choices[::-1], strict=True):
        made = choose_where(condition, asarray(choice, dtype), made)
    return made if made._c_contiguous else made.copy()


def _expect_array(value, name):
    if isinstance(value, numpy.ndarray):
        raise ByNumpy
    if not isinstance(value, ndarray):
        raise TypeError(f"{name} must be numpy.ndarray, not {type(value).__name__}")


def _mask_of(mask):
    return held_array(mask).astype(bool, copy=False)


@native_twice(reference=numpy.place, writes=0)
def place(arr, mask, vals):
    """The values one after the other, again and again, where the mask holds."""
    _expect_array(arr, "argument 1")
    mask, values = _mask_of(mask), held_array(vals).reshape(-1)
    if mask.size != arr.size:
        raise ValueError("place: mask and data must be the same size")
    places = flat_places(mask)
    if not places.size:
        return
    if not values.size:
        raise ValueError("Cannot insert from an empty array!")
    TABLE["put"].function(arr, places, values.astype(arr.dtype, copy=False))


@native_twice(reference=numpy.putmask, writes=0)
def putmask(a, mask, values):
    """Of `values`, again and again in C order, what lies where the mask holds."""
    _expect_array(a, "argument 1")
    mask, values = _mask_of(mask), held_array(values)
    if mask.size != a.size:
        raise ValueError("putmask: mask and data must be the same size")
    if not values.size or not a.size:
        return
    if not numpy.can_cast(values.dtype, a.dtype, "same_kind") and values.dtype.kind == "c":
        raise TypeError(
            f"Cannot cast array data from {values.dtype!r} to {a.dtype!r} according to the rule 'safe'"
        )
    if values.size == a.size:
        values = values.reshape(a.shape)
    elif values.size == 1:
        values = values.reshape(())
    else:
        values = values.reshape(-1)[index_ramp(a.size) % values.size].reshape(a.shape)
    a._assign(choose_where(mask.reshape(a.shape), values.astype(a.dtype, copy=False), a))


@native()
def copyto(dst, src, casting="same_kind", where=True):
    """dst[...] = src where the mask holds."""
    if not isinstance(dst, ndarray):
        if isinstance(dst, numpy.ndarray):
            numpy.copyto(dst, to_host(src), casting, to_host(where))
            return
        raise TypeError(f"copyto() argument 1 must be numpy.ndarray, not {type(dst).__name__}")
    if type(src) in (bool, int, float, complex):
        kind = numpy.result_type(dst.dtype, src) if type(src) is not bool else numpy.dtype(bool)
        element = numpy.empty((), dst.dtype)
        if numpy.can_cast(kind, dst.dtype, casting):
            element[()] = src
            src = element
    what = "scalar" if isinstance(src, (bool, int, float, complex, numpy.generic)) else "array data"
    src = asarray(src)
    if not numpy.can_cast(src.dtype, dst.dtype, casting):
        raise TypeError(
            f"Cannot cast {what} from {src.dtype!r} to {dst.dtype!r} according to the rule '{casting}'"
        )
    if dst._readonly:
        raise ValueError("assignment destination is read-only")
    if where is True:
        dst[...] = src
        return
    mask = asarray(where)
    if mask.dtype.kind != "b":
        raise TypeError(
            f"Cannot cast array data from {mask.dtype!r} to dtype('bool') according to the rule 'safe'"
        )
    for given_array, what in ((src, "input array"), (mask, "where mask")):
        if given_array._broadcast(dst.shape) is None:
            shown = [str(s).replace(" ", "") for s in (given_array.shape, dst.shape)]
            raise ValueError(f"could not broadcast {what} from shape {shown[0]} into shape {shown[1]}")
    if dst._same_memory(src):
        src = src.copy()
    dst._assign(choose_where(mask, src.astype(dst.dtype, copy=False), dst))
