"""Arrays of random numbers by kernels: NumPy's stream in parallel.

A draw takes as many words of the stream as it happens to need, so where the next one begins is only known once it is
made. The stream is cut into pieces: each thread draws from the beginning of its piece to its end, as if a draw began
there, and tells how far its last draw reached into the next piece. A piece that was begun at the wrong place is drawn
again, until none is. Wrong beginnings soon fall into step with right ones, so two or three passes do. What comes out is
the sequence that one thread would have drawn, whatever the pieces.
"""

import functools

import numpy as np

from xcuda import core as cuda
from xcuda.core.arrays import to_device
from xcuda.core.own_kernel import own_kernel

from . import _continuous, _discrete, _streams, _tables
from ._state import TURN, Start, move_on, move_on_by_halves

_PIECES = 1 << 15  # of a pass at most: they bound the memory for what is drawn
_CHUNK = 256  # draws a thread, where each takes one word
_LANES = 128


def _draw_function(name):
    return getattr(_continuous, name, None) or getattr(_discrete, name)


@functools.cache
def _kernels(length, bits, name):
    """(direct, walk) for a stream's length, the bits of a draw and a distribution."""
    draw, start, position_of = _draw_function(name), _streams.start, _streams.position_of

    @cuda.kernel(checked=False, fma=False)
    def direct(out, more, base, jumps, t, first, chunk, a, b, c):
        begin = cuda.grid(1) * chunk
        if begin < out.shape[0]:
            s = cuda.local.array(length, np.uint64)
            start(s, base, jumps, first + begin, bits)
            end = min(begin + chunk, out.shape[0])
            for i in range(begin, end):
                out[i] = draw(s, t, a, b, c)
            if position_of(s, bits) != first + end:
                more[0] = 1

    @cuda.kernel(checked=False, fma=False)
    def walk(drawn, entries, exits, counts, changed, base, jumps, t, first, piece, most, a, b, c):
        i = cuda.grid(1)
        if i < counts.shape[0]:
            entry = exits[i - 1] if i > 0 else 0
            if entry != entries[i]:
                entries[i] = entry
                changed[0] = 1
                s = cuda.local.array(length, np.uint64)
                begin = first + i * piece
                start(s, base, jumps, begin + entry, bits)
                count = 0
                while position_of(s, bits) < begin + piece and count < most:
                    drawn[i, count] = draw(s, t, a, b, c)
                    count += 1
                counts[i] = count
                exits[i] = position_of(s, bits) - (begin + piece)

    return direct, walk


@own_kernel(checked=False)
def _gather(out, drawn, offsets, counts, first):
    i, j = cuda.grid(2)
    if i < drawn.shape[0] and j < drawn.shape[1]:
        to = first + offsets[i] + j
        if j < counts[i] and to < out.shape[0]:
            out[to] = drawn[i, j]


@functools.cache
def _each_kernel(name):
    """Draw i from a Philox stream of its own: counter (block, i, 0, 0)."""
    draw, start64, length = _draw_function(name), _streams.start64, _streams.PHILOX

    @cuda.kernel(checked=False, fma=False)
    def each(out, base, jumps, t, a, b, c):
        i = cuda.grid(1)
        if i < out.shape[0]:
            s = cuda.local.array(length, np.uint64)
            start64(s, base, jumps, 0)
            s[3], s[4] = np.uint64(0), np.uint64(0)
            s[12] = np.uint64(i)
            out[i] = draw(s, t, a[i], b[i], c[i])

    return each


@functools.cache
def _layers_on_host(dtype):
    return np.stack([row.astype(dtype) for row in (*_tables.normal(dtype), *_tables.exponential(dtype))])


def _layers(single):
    """The ziggurat's tables: 12 KiB, copied for each call so that nothing stays on the device."""
    return to_device(_layers_on_host(np.float32 if single else np.float64))


def _grid(threads, width=_LANES):
    return (threads + width - 1) // width


def fill(bit_generator, length, out, name, parameters, *, bits=64, words=1.0, piece=256):
    """Fills a flat DeviceArray with what NumPy would draw, and moves the generator on.

    bits: of a draw from the stream. words: of the stream that a number takes, about; 1 says that it all but always
    takes just one. piece: words a thread draws from.
    """
    with TURN:
        where = Start(bit_generator)
        direct, walk = _kernels(length, bits, name)
        given = where.base, where.jumps, _layers(name.endswith("_single"))
        first = where.position(bits)
        end = None
        if words == 1:
            more = to_device(np.zeros(1, np.int64))
            direct[_grid(_grid(out.size, _CHUNK)), _LANES](out, more, *given, first, _CHUNK, *parameters)
            if not more.copy_to_host()[0]:
                end = first + out.size
        if end is None:
            end = _walked(walk, out, given, first, piece, words, parameters)
        if bits == 64:
            move_on(bit_generator, end - first)
        elif bits == 32:
            move_on_by_halves(bit_generator, end - first)
        else:
            move_on_by_halves(bit_generator, _grid(end, 32 // bits))


def _walked(walk, out, given, first, piece, words, parameters):
    """The position after the last number."""
    done = 0
    while True:
        left = out.size - done
        pieces = min(int(left * words * 1.03 / piece) + 2, _PIECES)
        drawn = cuda.device_array((pieces, piece), out.dtype)
        entries, exits, counts = _walk_pieces(walk, drawn, given, first, piece, piece, parameters)
        made = counts.copy_to_host()
        ends = np.cumsum(made)
        _gather()[(_grid(pieces, 4), _grid(piece, 64)), (4, 64)](
            out, drawn, to_device(ends - made), counts, done
        )
        if ends[-1] >= left:
            last = int(np.searchsorted(ends, left))
            begin = first + last * piece + int(entries.copy_to_host()[last])
            most = int(left - (ends[last] - made[last]))
            _, exits, _ = _walk_pieces(walk, drawn[:1], given, begin, piece, most, parameters)
            return begin + piece + int(exits.copy_to_host()[0])
        done += int(ends[-1])
        first += pieces * piece + int(exits.copy_to_host()[-1])
        words = max(pieces * piece / max(int(ends[-1]), 1), 1.0)


def _walk_pieces(walk, drawn, given, first, piece, most, parameters):
    """(how far into each piece the draw before it reached, how far its own last one does, how many it made)."""
    pieces = drawn.shape[0]
    entries = to_device(np.full(pieces, -1, np.int64))
    exits, counts = (to_device(np.zeros(pieces, np.int64)) for _ in range(2))
    changed = to_device(np.ones(1, np.int64))
    while changed.copy_to_host()[0]:
        changed = to_device(np.zeros(1, np.int64))
        walk[_grid(pieces, 32), 32](
            drawn, entries, exits, counts, changed, *given, first, piece, most, *parameters
        )
    return entries, exits, counts


def fill_each(bit_generator, out, name, parameters):
    """Fills a flat DeviceArray with numbers of a distribution whose parameters are arrays of its size.

    Each number has a Philox stream of its own, under a key of two draws from the generator.
    """
    key = [int(k) for k in np.atleast_1d(bit_generator.random_raw(2))]
    base = to_device(np.array([*key, 0, 0, 0, 0], np.uint64))
    jumps = to_device(np.zeros((1, 4), np.uint64))
    _each_kernel(name)[_grid(out.size), _LANES](out, base, jumps, _layers(False), *parameters)
