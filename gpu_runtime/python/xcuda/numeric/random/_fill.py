"""Arrays of random numbers by kernels: NumPy's stream in parallel.

A draw takes as many words of the stream as it happens to need, so where the next one begins is only known once it is
made. The stream is cut into pieces: each thread draws from the beginning of its piece to its end, and tells how far its
last draw reached into the next piece. Where its own first draw begins it finds by drawing some words before its piece,
as if a draw began there: wrong beginnings soon fall into step with right ones. Each beginning is compared with what the
piece before it tells, and a piece that was begun at a wrong place is drawn again, until none is. What comes out is the
sequence that one thread would have drawn, whatever the pieces.
"""

import functools

import numpy as np

from xcuda import core as cuda
from xcuda.core.arrays import to_device
from xcuda.core.own_kernel import own_kernel

from . import _continuous, _discrete, _streams, _tables
from ._state import TURN, Start, move_on, move_on_by_halves

_WORDS = 1 << 23  # of a pass at most: they bound the memory for what is drawn
_BACK = 8  # words before a piece from which its thread looks for its first draw
_AGAIN = (
    2  # passes more before the host asks whether all began at the right place, where draws take several words
)
_WRONG, _MADE, _OVER, _END, _TOLD = range(5)  # in what kernels tell; then how many there are
_ENTRY, _EXIT, _COUNT, _BEFORE = range(
    4
)  # of a piece; _BEFORE: numbers that its block's pieces before it made
_CHUNK, _CHUNK_OF_GPU = 256, 32  # words a thread draws from: a GPU has more threads
_EXACT = frozenset(("random", "random_single"))  # a draw each, whatever comes: nobody waits to see it
_LANES = 128
_PIECES = 32  # of a block
_SUMS = 256  # threads that add up what the blocks made


def _draw_function(name):
    return getattr(_continuous, name, None) or getattr(_discrete, name)


@functools.cache
def _kernels(length, bits, name):
    """(direct, walk, gather) for a stream's length, the bits of a draw and a distribution."""
    draw, start, position_of = _draw_function(name), _streams.start, _streams.position_of

    @cuda.kernel(checked=False, fma=False)
    def direct(out, told, base, jumps, t, first, chunk, a, b, c):
        begin = cuda.grid(1) * chunk
        if begin < out.shape[0]:
            s = cuda.local.array(length, np.uint64)
            start(s, base, jumps, first + begin, bits)
            end = min(begin + chunk, out.shape[0])
            for i in range(begin, end):
                out[i] = draw(s, t, a, b, c)
            if position_of(s, bits) != first + end:
                told[_WRONG] = 1

    @cuda.kernel(checked=False, fma=False)
    def walk(drawn, pieces, totals, told, turn, base, jumps, t, first, length_of_piece, a, b, c):
        counts = cuda.shared.array(_PIECES, np.int64)
        exits = cuda.shared.array(_PIECES, np.int64)
        i, lane = cuda.grid(1), cuda.threadIdx.x
        inside = i < pieces.shape[1]
        begin = first + i * length_of_piece
        entry, count, over, wrong = 0, 0, 0, turn == 0
        if inside and turn > 0:
            entry, over, count = pieces[_ENTRY, i], pieces[_EXIT, i], pieces[_COUNT, i]
            wrong = i > 0 and entry != pieces[_EXIT, i - 1]
            if wrong:
                entry = pieces[_EXIT, i - 1]
        if inside and wrong:
            s = cuda.local.array(length, np.uint64)
            if turn == 0 and i > 0:
                start(s, base, jumps, begin - _BACK, bits)
                while position_of(s, bits) < begin:
                    draw(s, t, a, b, c)
                entry = position_of(s, bits) - begin
            else:
                start(s, base, jumps, begin + entry, bits)
            count = 0
            while position_of(s, bits) < begin + length_of_piece:
                drawn[i, count] = draw(s, t, a, b, c)
                count += 1
            over = position_of(s, bits) - (begin + length_of_piece)
        counts[lane], exits[lane] = count, over
        cuda.syncthreads()
        if inside:
            before = 0
            for k in range(lane):
                before += counts[k]
            pieces[_ENTRY, i], pieces[_EXIT, i] = entry, over
            pieces[_COUNT, i], pieces[_BEFORE, i] = count, before
            if lane > 0 and entry != exits[lane - 1]:
                told[_WRONG] = 1
            if lane == _PIECES - 1 or i == pieces.shape[1] - 1:
                totals[cuda.blockIdx.x] = before + count

    @cuda.kernel(checked=False, fma=False)
    def gather(out, drawn, pieces, totals, told, done, base, jumps, t, first, length_of_piece, a, b, c):
        j, i = cuda.grid(2)
        if i < drawn.shape[0] and j < drawn.shape[1] and j < pieces[_COUNT, i]:
            to = done + totals[i // _PIECES] + pieces[_BEFORE, i] + j
            if to < out.shape[0]:
                out[to] = drawn[i, j]
            if to == out.shape[0] - 1:
                s = cuda.local.array(length, np.uint64)
                start(s, base, jumps, first + i * length_of_piece + pieces[_ENTRY, i], bits)
                for _ in range(j + 1):
                    draw(s, t, a, b, c)
                told[_END] = position_of(s, bits)

    return direct, walk, gather


@own_kernel(checked=False)
def _add_up(pieces, totals, told):
    """One block: what each block of pieces made becomes what was made before it."""
    sums = cuda.shared.array(_SUMS, np.int64)
    lane = cuda.threadIdx.x
    each = (totals.shape[0] + _SUMS - 1) // _SUMS
    low = min(lane * each, totals.shape[0])
    high = min(low + each, totals.shape[0])
    total = 0
    for k in range(low, high):
        total += totals[k]
        if k > 0 and pieces[_ENTRY, k * _PIECES] != pieces[_EXIT, k * _PIECES - 1]:
            told[_WRONG] = 1
    sums[lane] = total
    cuda.syncthreads()
    step = 1
    while step < _SUMS:
        joined = sums[lane] + (sums[lane - step] if lane >= step else 0)
        cuda.syncthreads()
        sums[lane] = joined
        cuda.syncthreads()
        step *= 2
    before = sums[lane] - total
    for k in range(low, high):
        here = totals[k]
        totals[k] = before
        before += here
    if lane == _SUMS - 1:
        told[_MADE] = before
        told[_OVER] = pieces[_EXIT, pieces.shape[1] - 1]


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
        direct, walk, gather = _kernels(length, bits, name)
        table = _layers_on_host(np.float32 if name.endswith("_single") else np.float64)
        told, *given = where.with_table(table, _TOLD)
        first = where.position(bits)
        end = None
        if words == 1:
            direct[_grid(_grid(out.size, chunk)), _LANES](out, told, *given, first, chunk, *parameters)
            if name in _EXACT or not told.copy_to_host()[_WRONG]:
                end = first + out.size
        if end is None:
            piece = chunk if words < 1.5 else 4 * chunk
            end = _walked(walk, gather, out, told, given, first, piece, words, parameters)
        if bits == 64:
            move_on(bit_generator, end - first)
        elif bits == 32:
            move_on_by_halves(bit_generator, end - first)
        else:
            move_on_by_halves(bit_generator, _grid(end, 32 // bits))


def _walked(walk, gather, out, told, given, first, piece, words, parameters):
    """The position after the last number."""
    done = 0
    while True:
        count = min(int((out.size - done) * words * 1.03 / piece) + 2, _WORDS // piece)
        blocks = _grid(count, _PIECES)
        drawn = cuda.empty((count, piece), out.dtype)
        pieces, totals = cuda.empty((4, count), np.int64), cuda.empty(blocks, np.int64)
        stream = *given, first, piece, *parameters
        turn, found = 0, None
        while found is None or found[_WRONG]:
            for _ in range(1 if words < 1.5 and not turn else 1 + _AGAIN):
                if done or turn:
                    told._fill_bytes(0)
                walk[blocks, _PIECES](drawn, pieces, totals, told, turn, *stream)
                turn += 1
            _add_up()[1, _SUMS](pieces, totals, told)
            gather[(_grid(piece, 32), _grid(count, 8)), (32, 8)](
                out, drawn, pieces, totals, told, done, *stream
            )
            found = told.copy_to_host()
        done += int(found[_MADE])
        if done >= out.size:
            return int(found[_END])
        first += count * piece + int(found[_OVER])
        words = max(count * piece / max(int(found[_MADE]), 1), 1.0)


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
