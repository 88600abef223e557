"""Kernels that read and write elements at places in memory: what indexing by arrays becomes."""

import numpy

from xcuda import _runtime
from xcuda import core as cuda
from xcuda.core.own_kernel import own_kernel

from ._creation import empty


@own_kernel(checked=False)
def _gather(out, memory, places, first):
    t = cuda.grid(1)
    if t < out.shape[0]:
        out[t] = memory[first + places[t]]


@own_kernel(checked=False)
def _gather_blocks(out, memory, places, first, before, after, length):
    t = cuda.grid(1)
    if t < out.shape[0]:
        rest, q = divmod(t, length)
        p, i = divmod(rest, places.shape[0])
        out[t] = memory[first + p * before + places[i] + q * after]


@own_kernel(checked=False)
def _gather_around(out, memory, places, first, planes, before, after, length):
    t = cuda.grid(1)
    if t < out.shape[0]:
        rest, q = divmod(t, length)
        i, p = divmod(rest, planes)
        out[t] = memory[first + p * before + places[i] + q * after]


@own_kernel(checked=False)
def _scatter(memory, places, values, first):
    t = cuda.grid(1)
    if t < places.shape[0]:
        memory[first + places[t]] = values[t]


@own_kernel(checked=False)
def _begin_owners(owners, places):
    t = cuda.grid(1)
    if t < places.shape[0]:
        owners[places[t]] = -1


@own_kernel(checked=False)
def _find_owners(owners, places):
    t = cuda.grid(1)
    if t < places.shape[0]:
        cuda.atomic.max(owners, places[t], t)


@own_kernel(checked=False)
def _scatter_owned(memory, places, values, first, owners):
    t = cuda.grid(1)
    if t < places.shape[0] and owners[places[t]] == t:
        memory[first + places[t]] = values[t]


@own_kernel(checked=False)
def _ramp(out):
    t = cuda.grid(1)
    if t < out.shape[0]:
        out[t] = t


def gathered(memory, places, first, shape, blocks=None, places_first=False):
    """The elements memory[first + place], in an array of that shape.

    blocks: (how many, their distance, ..., ...) of the two axes around the places': `(p, step), (q, step)`; element
    (i, k, j) is then memory[first + i * step + places[k] + j * step]. places_first: that is element (k, i, j).
    """
    out = empty(shape, memory.dtype)
    if not out.size:
        return out
    flat = out.reshape(-1)
    places = places.reshape(-1)
    if blocks is None:
        _gather()(flat, memory, places, first)
    else:
        (planes, before), (length, after) = blocks
        if places_first and planes != 1:
            _gather_around()(flat, memory, places, first, planes, before, after, length)
        else:
            _gather_blocks()(flat, memory, places, first, before, after, length)
    return out


def scatter(memory, places, values, first, repeats=True):
    """memory[first + places] = values, of which the last one counts where places repeat.

    repeats: False where every place is another one, or all values are one.
    """
    if not places.size:
        return
    places, values = places.reshape(-1), values.reshape(-1)
    if not repeats or places.size == 1:
        _scatter()(memory, places, values, first)
        return
    owners = empty(memory.size, "int64")
    _begin_owners()(owners, places)
    _find_owners()(owners, places)
    _scatter_owned()(memory, places, values, first, owners)


def ramp(length):
    """0, 1, ... length - 1 as int64."""
    from ._paths import adopted, on_host_memory

    if not length or on_host_memory():
        return adopted(numpy.arange(length))
    out = empty(length, "int64")
    _ramp()(out)
    return out


_kept_ramps: dict = {}  # (device, length) -> a short ramp, made once
_LONGEST_KEPT, _MOST_KEPT = 4096, 32


def index_ramp(length):
    """`ramp` for nobody to write to: what is made of it is computed, not read."""
    label = _runtime.current_device_label()
    keeps = label != "cpu" and 0 < length <= _LONGEST_KEPT and _runtime.current_stream.get() is None
    made = _kept_ramps.get((label, length)) if keeps else None
    if made is None:
        made = ramp(length)
        made._mark_ramp()
        if keeps:
            if len(_kept_ramps) >= _MOST_KEPT:
                _kept_ramps.clear()
            _kept_ramps[label, length] = made
    return made
