"""What a key of index arrays, slices, new axes and ellipses selects: places in an array's memory."""

import math
from typing import Any, NamedTuple

import numpy

from xcuda.core.views import slowest_first

from ._array import array, asarray, ndarray
from ._fallback import to_host
from ._gather import index_ramp
from ._nonzero import flat_places, unravelled
from ._paths import memory_of, stand_in, steps_of


class Plan(NamedTuple):
    """Elements at `places` in `memory`, around each of them the axes that slices kept."""

    memory: Any
    places: Any  # from the memory's beginning, of the shape that the index arrays have together
    axes: tuple  # (length, step) of the other axes
    at: int  # before which of them the index arrays' axes come
    repeats: bool  # places may come twice

    @property
    def shape(self):
        """Of what is selected."""
        lengths = tuple(n for n, _ in self.axes)
        return lengths[: self.at] + self.places.shape + lengths[self.at :]

    def blocks(self):
        """The other axes as two, before and after the places; None where they don't make two."""
        before, after = _one_axis(self.axes[: self.at]), _one_axis(self.axes[self.at :])
        return None if before is None or after is None else (before, after)

    def blocks_after(self):
        """The axes after the places, where none are before, as two; None where they don't make two."""
        for k in range(len(self.axes)) if not self.at else ():
            before, after = _one_axis(self.axes[:k]), _one_axis(self.axes[k:])
            if before is not None and after is not None:
                return before, after
        return None

    def as_it_lies(self):
        """(the Plan in the order in which NumPy lays the elements out, the places of its axes in this one's shape).

        The index arrays' axes are the slowest ones, in C order; the others have the array's order.
        """
        n = self.places.ndim
        others = slowest_first([step for _, step in self.axes])
        order = [*range(self.at, self.at + n), *(k + n * (k >= self.at) for k in others)]
        return self._replace(axes=tuple(self.axes[k] for k in others), at=0), order

    def all_places(self):
        """The place of every element selected, as an array of the whole shape."""
        return every_place(self.places, self.axes[: self.at], self.axes[self.at :])


def every_place(places, before, after):
    """Places with the offsets of axes before and after them, (length, step) each."""
    made = places.reshape((1,) * len(before) + places.shape + (1,) * len(after))
    for i, (n, step) in enumerate((*before, *after)):
        axis = i if i < len(before) else i + places.ndim
        shape = [1] * made.ndim
        shape[axis] = n
        if n != 1:
            made = made + (index_ramp(n) * step).reshape(shape)
        elif not n:
            made = made + index_ramp(0).reshape(shape)
    return made


def _one_axis(axes):
    """Axes as one (length, step) that runs through them; None where none does."""
    kept = [(n, step) for n, step in axes if n != 1]
    if not kept:
        return 1, 1
    length, step = kept[-1]
    for n, s in reversed(kept[:-1]):
        if s != step * length:
            return None
        length *= n
    return length, step


def _as_numpy_raises(a, key):
    """NumPy's error for the key, if it has one."""
    stand_in(a)[to_host(key)]


def _index_array(item):
    """An index as an array: numeric's or, of host values, NumPy's."""
    if isinstance(item, (ndarray, numpy.ndarray)):
        return item
    made = numpy.array(to_host(item))
    return made.astype(numpy.intp) if made.size == 0 and made.dtype.kind == "f" else made


def _taken(item):
    """How many axes of the array an item of the key takes."""
    if item is None or item is ...:
        return 0
    if isinstance(item, (slice, int)) and not isinstance(item, bool):
        return 1
    return item.ndim if item.dtype.kind == "b" else 1


def plan(a, key):
    """The Plan of a key with index arrays. Raises NumPy's IndexErrors."""
    items = list(key) if isinstance(key, tuple) else [key]
    items = [
        i if i is None or i is ... or isinstance(i, slice) or type(i) is int else _index_array(i)
        for i in items
    ]
    arrays = [i for i in items if isinstance(i, (ndarray, numpy.ndarray))]
    taken = sum(map(_taken, items))
    if taken > a.ndim or sum(i is ... for i in items) > 1 or any(i.dtype.kind not in "biu" for i in arrays):
        _as_numpy_raises(a, key)
    if not any(i is ... for i in items):
        items.append(...)
    at = next(k for k, i in enumerate(items) if i is ...)
    items[at : at + 1] = [...] + [slice(None)] * (a.ndim - taken)

    basic, indices, repeats = _split(a, key, items)
    view = a[tuple(basic)]
    memory, first = memory_of(view)
    steps = steps_of(view)
    places, axes, around = first, [], []
    axis = 0
    for item in indices:
        if item is _ELLIPSIS:
            around.append(None)
            continue
        if item is None:
            axes.append((view.shape[axis], steps[axis]))
            around.append(None)
            axis += 1
        elif item is _NO_AXIS:
            around.append(len(axes))
        else:
            around.append(len(axes))
            places = _added(places, item, steps[axis])
            axis += 1
    shape = _common_shape(a, key, [i for i in indices if _is_array(i)])
    places = asarray(places, "int64") if not isinstance(places, ndarray) else places
    if places.shape != shape:
        places = places._broadcast(shape)
    return Plan(memory, places, tuple(axes), _position(around), repeats)


def along(a, axis, index):
    """The Plan of an index array that is known to be within the axis."""
    memory, first = memory_of(a)
    steps = steps_of(a)
    axes = tuple((n, steps[k]) for k, n in enumerate(a.shape) if k != axis)
    places = index if steps[axis] == 1 and not first else index * steps[axis] + first
    return Plan(memory, places, axes, axis, True)


_NO_AXIS, _ELLIPSIS = "a mask of no axes", "an ellipsis"


def _is_array(item):
    return isinstance(item, (ndarray, numpy.ndarray))


def _split(a, key, items):
    """The key's basic part (index arrays as full slices), and for each axis then the index array or None."""
    basic, indices = [], []
    axis, repeats = 0, False
    any_false = False
    for item in items:
        if item is ...:
            indices.append(_ELLIPSIS)
        elif item is None:
            basic.append(None)
            indices.append(None)
        elif isinstance(item, slice):
            basic.append(item)
            indices.append(None)
            axis += 1
        elif _is_array(item) and item.dtype.kind == "b" and item.ndim == 0:
            any_false |= not bool(item)
            indices.append(_NO_AXIS)
        elif _is_array(item) and item.dtype.kind == "b":
            if item.shape != a.shape[axis : axis + item.ndim]:
                _as_numpy_raises(a, key)
            indices += _of_mask(item)
            basic += [slice(None)] * item.ndim
            axis += item.ndim
        else:
            indices.append(_checked(a, key, item, a.shape[axis]))
            repeats |= _is_array(item) and item.size > 1
            basic.append(slice(None))
            axis += 1
    no_axes = [k for k, i in enumerate(indices) if i is _NO_AXIS]
    if no_axes:  # as an index array along an axis of length 1 would be
        length = 0 if any_false else 1
        for k in no_axes:
            basic.insert(sum(i is not _ELLIPSIS for i in indices[:k]), None)
            indices[k] = numpy.zeros(length, numpy.int64)
    return basic, indices, repeats


def _of_mask(mask):
    if isinstance(mask, numpy.ndarray):
        return list(mask.nonzero())
    return list(unravelled(flat_places(mask), mask.shape))


def _checked(a, key, index, length):
    """The index from 0 on, on the host or the device as it was. Raises NumPy's IndexError where it is out of range."""
    if not isinstance(index, ndarray):
        host = numpy.asarray(index)
        if host.size and not (-length <= int(host.min()) and int(host.max()) < length):
            _as_numpy_raises(a, key)
        host = host.astype(numpy.int64, copy=False)
        return numpy.where(host < 0, host + length, host) if host.size and host.min() < 0 else host
    signed = index.dtype.kind == "i"
    if index.size:
        outside = index >= length
        if signed:
            outside = outside | (index < -length)
        if bool(outside.any()):
            _as_numpy_raises(a, key)
    index = index.astype("int64", copy=False)
    if not signed:
        return index
    from ._functions import where

    return where(index < 0, index + length, index)


def _added(places, index, step):
    part = index * step
    if isinstance(part, numpy.ndarray) and isinstance(places, ndarray):
        part = array(part)
    elif isinstance(places, numpy.ndarray) and isinstance(part, ndarray):
        places = array(places)
    try:
        return places + part
    except ValueError:
        return places if numpy.ndim(places) else part  # _common_shape tells


def _common_shape(a, key, indices):
    try:
        return numpy.broadcast_shapes(*(i.shape for i in indices))
    except ValueError:
        _as_numpy_raises(a, key)
        raise


def _position(around):
    """Before how many of the other axes the index arrays' axes come: before all where a slice stands between them."""
    taken = [k for k, i in enumerate(around) if i is not None]
    together = taken[-1] - taken[0] == len(taken) - 1
    return around[taken[0]] if together else 0


def count(shape):
    """How many elements."""
    return math.prod(shape)
