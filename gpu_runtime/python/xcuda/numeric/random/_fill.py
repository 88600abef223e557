"""Arrays of random numbers by kernels: NumPy's stream in parallel.

A draw takes as many words of the stream as it happens to need, so where the next one begins is only known once it is
made. The stream is cut into pieces: each thread draws from the beginning of its piece to its end, as if a draw began
there, and tells how far its last draw reached into the next piece. A piece that was begun at the wrong place is drawn
again, until none is. Wrong beginnings soon fall into step with right ones, so two or three passes do, and nobody looks
before the third. What comes out is the sequence that one thread would have drawn, whatever the pieces.
"""

import functools

import numpy as np

from xcuda import core as cuda
from xcuda.core.arrays import to_device
from xcuda.core.own_kernel import own_kernel

from . import _continuous, _discrete, _streams, _tables
from ._state import TURN, Start, move_on, move_on_by_halves

_WORDS = 1 << 23  # of a pass at most: they bound the memory for what is drawn
_PASSES = 3  # before the host asks whether all pieces were begun at the right place
_END, _MADE, _OVER = range(_PASSES, _PASSES + 3)  # in what kernels tell, after a flag a pass
_CHUNK, _CHUNK_OF_GPU = 256, 32  # words a thread draws from: a GPU has more threads
_LANES = 128


def _draw_function(name):
    return getattr(_continuous, name, None) or getattr(_discrete, name)


@functools.cache
def _kernels(length, bits, name):
    """(direct, walk, finish) for a stream's length, the bits of a draw and a distribution."""
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
    def walk(drawn, entries, exits, counts, told, turn, base, jumps, t, first, piece, a, b, c):
        i = cuda.grid(1)
        if i < counts.shape[0]:
            entry = exits[i - 1] if i > 0 and turn > 0 else 0
            if turn == 0 or entry != entries[i]:
                entries[i] = entry
                told[turn % _PASSES] = 1
                s = cuda.local.array(length, np.uint64)
                begin = first + i * piece
                start(s, base, jumps, begin + entry, bits)
                count = 0
                while position_of(s, bits) < begin + piece:
                    drawn[i, count] = draw(s, t, a, b, c)
                    count += 1
                counts[i] = count
                exits[i] = position_of(s, bits) - (begin + piece)

    @cuda.kernel(checked=False, fma=False)
    def finish(told, entries, exits, counts, sums, left, base, jumps, t, first, piece, a, b, c):
        i = cuda.grid(1)
        if i < counts.shape[0]:
            if i == counts.shape[0] - 1:
                told[_MADE] = sums[i]
                told[_OVER] = exits[i]
            before = sums[i] - counts[i]
            if before < left and left <= sums[i]:
                s = cuda.local.array(length, np.uint64)
                start(s, base, jumps, first + i * piece + entries[i], bits)
                for _ in range(left - before):
                    draw(s, t, a, b, c)
                told[_END] = position_of(s, bits)

    return direct, walk, finish


@own_kernel(checked=False)
def _gather(out, drawn, sums, counts, first):
    i, j = cuda.grid(2)
    if i < drawn.shape[0] and j < drawn.shape[1]:
        to = first + sums[i] - counts[i] + j
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
    """The ziggurat's tables: 12 KiB, copied for each call so that nothing stays on the device."""
    return np.stack([row.astype(dtype) for row in (*_tables.normal(dtype), *_tables.exponential(dtype))])


def _grid(threads, width=_LANES):
    return (threads + width - 1) // width


def fill(bit_generator, length, out, name, parameters, *, bits=64, words=1.0, chunk=None):
    """Fills a flat DeviceArray with what NumPy would draw, and moves the generator on.

    bits: of a draw from the stream. words: of the stream that a number takes, about; 1 says that it all but always
    takes just one. chunk: words a thread draws from; more where a number takes several.
    """
    if chunk is None:
        chunk = _CHUNK if out._host_accessible else _CHUNK_OF_GPU
    with TURN:
        where = Start(bit_generator)
        direct, walk, finish = _kernels(length, bits, name)
        given = where.with_table(_layers_on_host(np.float32 if name.endswith("_single") else np.float64))
        first = where.position(bits)
        end = None
        if words == 1:
            more = to_device(np.zeros(1, np.int64))
            direct[_grid(_grid(out.size, chunk)), _LANES](out, more, *given, first, chunk, *parameters)
            if not more.copy_to_host()[0]:
                end = first + out.size
        if end is None:
            piece = chunk if words < 1.5 else 4 * chunk
            end = _walked(walk, finish, out, given, first, piece, words, parameters)
        if bits == 64:
            move_on(bit_generator, end - first)
        elif bits == 32:
            move_on_by_halves(bit_generator, end - first)
        else:
            move_on_by_halves(bit_generator, _grid(end, 32 // bits))


def _walked(walk, finish, out, given, first, piece, words, parameters):
    """The position after the last number."""
    done = 0
    while True:
        left = out.size - done
        pieces = min(int(left * words * 1.03 / piece) + 2, _WORDS // piece)
        drawn = cuda.device_array((pieces, piece), out.dtype)
        of_pieces = cuda.device_array((3, pieces), np.int64)
        entries, exits, counts = of_pieces[0], of_pieces[1], of_pieces[2]
        told, turn = None, 0
        while told is None or told[_PASSES - 1]:
            found = cuda.zeros(_OVER + 1, np.int64)
            for _ in range(_PASSES):
                walk[_grid(pieces, 32), 32](
                    drawn, entries, exits, counts, found, turn, *given, first, piece, *parameters
                )
                turn += 1
            sums = _running_sums(counts)
            finish[_grid(pieces, 32), 32](
                found, entries, exits, counts, sums, left, *given, first, piece, *parameters
            )
            told = found.copy_to_host()
        _gather()[(_grid(pieces, 4), _grid(piece, 64)), (4, 64)](out, drawn, sums, counts, done)
        if told[_MADE] >= left:
            return int(told[_END])
        done += int(told[_MADE])
        first += pieces * piece + int(told[_OVER])
        words = max(pieces * piece / max(int(told[_MADE]), 1), 1.0)


def _running_sums(counts):
    from .._creation import empty
    from .._scans import scanned
    from .._stacks import ours

    sums = empty(counts.size, "int64")
    scanned("add", *(x.reshape(1, -1, 1) for x in (ours(counts), sums)))
    return sums.to_device_array()


def fill_each(bit_generator, out, name, parameters):
    """Fills a flat DeviceArray with numbers of a distribution whose parameters are arrays of its size.

    Each number has a Philox stream of its own, under a key of two draws from the generator.
    """
    key = [int(k) for k in np.atleast_1d(bit_generator.random_raw(2))]
    base = to_device(np.array([*key, 0, 0, 0, 0], np.uint64))
    jumps = to_device(np.zeros((1, 4), np.uint64))
    _each_kernel(name)[_grid(out.size), _LANES](
        out, base, jumps, to_device(_layers_on_host(np.float64)), *parameters
    )
