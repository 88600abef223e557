"""Kernels that read and write elements at places in memory: what indexing by arrays becomes."""

import functools

import numpy

from xcuda import core as cuda

from ._creation import empty


@functools.cache
def _kernels():
    """Compiled where one is first needed."""

    @cuda.kernel(checked=False)
    def gather(out, memory, places, first):
        t = cuda.grid(1)
        if t < out.shape[0]:
            out[t] = memory[first + places[t]]

    @cuda.kernel(checked=False)
    def gather_blocks(out, memory, places, first, before, after, length):
        t = cuda.grid(1)
        if t < out.shape[0]:
            rest, q = divmod(t, length)
            p, i = divmod(rest, places.shape[0])
            out[t] = memory[first + p * before + places[i] + q * after]

    @cuda.kernel(checked=False)
    def scatter(memory, places, values, first):
        t = cuda.grid(1)
        if t < places.shape[0]:
            memory[first + places[t]] = values[t]

    @cuda.kernel(checked=False)
    def begin_owners(owners, places):
        t = cuda.grid(1)
        if t < places.shape[0]:
            owners[places[t]] = -1

    @cuda.kernel(checked=False)
    def find_owners(owners, places):
        t = cuda.grid(1)
        if t < places.shape[0]:
            cuda.atomic.max(owners, places[t], t)

    @cuda.kernel(checked=False)
    def scatter_owned(memory, places, values, first, owners):
        t = cuda.grid(1)
        if t < places.shape[0] and owners[places[t]] == t:
            memory[first + places[t]] = values[t]

    @cuda.kernel(checked=False)
    def ramp(out):
        t = cuda.grid(1)
        if t < out.shape[0]:
            out[t] = t

    return {
        k.__name__: k
        for k in (gather, gather_blocks, scatter, begin_owners, find_owners, scatter_owned, ramp)
    }


def gathered(memory, places, first, shape, blocks=None):
    """The elements memory[first + place], in an array of that shape.

    blocks: (how many, their distance, ..., ...) of the two axes around the places': `(p, step), (q, step)`; element
    (i, k, j) is then memory[first + i * step + places[k] + j * step].
    """
    out = empty(shape, memory.dtype)
    if not out.size:
        return out
    flat = out.reshape(-1)
    places = places.reshape(-1)
    if blocks is None:
        _kernels()["gather"](flat, memory, places, first)
    else:
        (_, before), (length, after) = blocks
        _kernels()["gather_blocks"](flat, memory, places, first, before, after, length)
    return out


def scatter(memory, places, values, first, repeats=True):
    """memory[first + places] = values, of which the last one counts where places repeat.

    repeats: False where every place is another one, or all values are one.
    """
    if not places.size:
        return
    places, values = places.reshape(-1), values.reshape(-1)
    k = _kernels()
    if not repeats or places.size == 1:
        k["scatter"](memory, places, values, first)
        return
    owners = empty(memory.size, "int64")
    k["begin_owners"](owners, places)
    k["find_owners"](owners, places)
    k["scatter_owned"](memory, places, values, first, owners)


def ramp(length):
    """0, 1, ... length - 1 as int64."""
    from ._paths import adopted, on_host_memory

    if length < 1024 or on_host_memory():
        return adopted(numpy.arange(length))
    out = empty(length, "int64")
    _kernels()["ramp"](out)
    return out
