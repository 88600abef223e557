"""Stable merge sort by kernels of our own: tiles in shared memory, then merges of ever longer runs."""

import functools

import numpy

from xcuda import core as cuda

from ._creation import empty

_BLOCK, _TILE = 256, 1024


def before(kind):
    """NumPy's order of a dtype's kind, as a function of the kernel language: nan comes last."""
    if kind == "c":

        def less(a, b):
            p, q, r, s = a.real, b.real, a.imag, b.imag
            a_class = 2 * int(p != p) + int(r != r)
            b_class = 2 * int(q != q) + int(s != s)
            if a_class != b_class:
                return a_class < b_class
            return p < q or ((p == q or p != p) and r < s)

    elif kind == "f":

        def less(a, b):
            return a < b or (a == a and b != b)

    else:

        def less(a, b):
            return a < b

    return less


@functools.cache
def _sort_tiles(dtype):
    less, T = before(dtype.kind), dtype.type

    @cuda.kernel(checked=False)
    def sort_tiles(out, x):
        a = cuda.shared.array(_TILE, T)
        b = cuda.shared.array(_TILE, T)
        t = cuda.threadIdx.x
        tiles = (x.shape[1] + _TILE - 1) // _TILE
        row, number = divmod(cuda.blockIdx.x, tiles)
        first = number * _TILE
        here = min(_TILE, x.shape[1] - first)
        for k in range(t, here, _BLOCK):
            a[k] = x[row, first + k]
        cuda.syncthreads()
        width = 1
        while width < here:
            for k in range(t, here, _BLOCK):
                v = a[k]
                pair = k // (2 * width) * (2 * width)
                middle = min(pair + width, here)
                left = k < middle
                low = middle if left else pair
                high = min(pair + 2 * width, here) if left else middle
                while low < high:
                    m = (low + high) // 2
                    if less(a[m], v) if left else not less(v, a[m]):
                        low = m + 1
                    else:
                        high = m
                b[k - middle + low] = v
            cuda.syncthreads()
            for k in range(t, here, _BLOCK):
                a[k] = b[k]
            cuda.syncthreads()
            width *= 2
        for k in range(t, here, _BLOCK):
            out[row, first + k] = a[k]

    return sort_tiles


@functools.cache
def _order_tiles(dtype, index):
    less, T, N = before(dtype.kind), dtype.type, index.type

    @cuda.kernel(checked=False)
    def order_tiles(out, order, x):
        a = cuda.shared.array(_TILE, T)
        b = cuda.shared.array(_TILE, T)
        of_a = cuda.shared.array(_TILE, N)
        of_b = cuda.shared.array(_TILE, N)
        t = cuda.threadIdx.x
        tiles = (x.shape[1] + _TILE - 1) // _TILE
        row, number = divmod(cuda.blockIdx.x, tiles)
        first = number * _TILE
        here = min(_TILE, x.shape[1] - first)
        for k in range(t, here, _BLOCK):
            a[k] = x[row, first + k]
            of_a[k] = N(first + k)
        cuda.syncthreads()
        width = 1
        while width < here:
            for k in range(t, here, _BLOCK):
                v = a[k]
                pair = k // (2 * width) * (2 * width)
                middle = min(pair + width, here)
                left = k < middle
                low = middle if left else pair
                high = min(pair + 2 * width, here) if left else middle
                while low < high:
                    m = (low + high) // 2
                    if less(a[m], v) if left else not less(v, a[m]):
                        low = m + 1
                    else:
                        high = m
                b[k - middle + low] = v
                of_b[k - middle + low] = of_a[k]
            cuda.syncthreads()
            for k in range(t, here, _BLOCK):
                a[k] = b[k]
                of_a[k] = of_b[k]
            cuda.syncthreads()
            width *= 2
        for k in range(t, here, _BLOCK):
            out[row, first + k] = a[k]
            order[row, first + k] = of_a[k]

    return order_tiles


def _split_of(less):
    """How many elements of the left run are among the first `d` of two runs merged."""

    def split(x, row, left, right, end, d):
        low = max(0, d - (end - right))
        high = min(d, right - left)
        while low < high:
            m = (low + high) // 2
            if less(x[row, right + d - 1 - m], x[row, left + m]):
                high = m
            else:
                low = m + 1
        return low

    return split


@functools.cache
def _merge(dtype):
    less, T = before(dtype.kind), dtype.type
    split = _split_of(less)

    @cuda.kernel(checked=False)
    def merge_runs(out, x, width):
        tile = cuda.shared.array(_TILE, T)
        ends = cuda.shared.array(2, numpy.int64)
        t = cuda.threadIdx.x
        n = x.shape[1]
        row, number = divmod(cuda.blockIdx.x, (n + _TILE - 1) // _TILE)
        first = number * _TILE
        here = min(_TILE, n - first)
        left = first // (2 * width) * (2 * width)
        right = min(left + width, n)
        end = min(left + 2 * width, n)
        if t < 2:
            ends[t] = split(x, row, left, right, end, first - left + t * here)
        cuda.syncthreads()
        begin = ends[0]
        ours = ends[1] - begin
        theirs = right + first - left - begin
        for k in range(t, here, _BLOCK):
            tile[k] = x[row, left + begin + k if k < ours else theirs + k - ours]
        cuda.syncthreads()
        for k in range(t, here, _BLOCK):
            v = tile[k]
            low = ours if k < ours else 0
            high = here if k < ours else ours
            while low < high:
                m = (low + high) // 2
                if less(tile[m], v) if k < ours else not less(v, tile[m]):
                    low = m + 1
                else:
                    high = m
            out[row, first + k - ours + low] = v

    return merge_runs


@functools.cache
def _merge_order(dtype):
    less, T = before(dtype.kind), dtype.type
    split = _split_of(less)

    @cuda.kernel(checked=False)
    def merge_order(out, order, x, of_x, width):
        tile = cuda.shared.array(_TILE, T)
        ends = cuda.shared.array(2, numpy.int64)
        t = cuda.threadIdx.x
        n = x.shape[1]
        row, number = divmod(cuda.blockIdx.x, (n + _TILE - 1) // _TILE)
        first = number * _TILE
        here = min(_TILE, n - first)
        left = first // (2 * width) * (2 * width)
        right = min(left + width, n)
        end = min(left + 2 * width, n)
        if t < 2:
            ends[t] = split(x, row, left, right, end, first - left + t * here)
        cuda.syncthreads()
        begin = ends[0]
        ours = ends[1] - begin
        theirs = right + first - left - begin
        for k in range(t, here, _BLOCK):
            tile[k] = x[row, left + begin + k if k < ours else theirs + k - ours]
        cuda.syncthreads()
        for k in range(t, here, _BLOCK):
            v = tile[k]
            low = ours if k < ours else 0
            high = here if k < ours else ours
            while low < high:
                m = (low + high) // 2
                if less(tile[m], v) if k < ours else not less(v, tile[m]):
                    low = m + 1
                else:
                    high = m
            out[row, first + k - ours + low] = v
            order[row, first + k - ours + low] = of_x[
                row, left + begin + k if k < ours else theirs + k - ours
            ]

    return merge_order


def sorted_rows(x):
    """The rows of a matrix, each sorted."""
    rows, n = x.shape
    out = empty(x.shape, x.dtype)
    if not out.size:
        return out
    blocks = rows * -(-n // _TILE)
    _sort_tiles(x.dtype)[blocks, _BLOCK](out, x)
    width, other = _TILE, None
    while width < n:
        other = empty(x.shape, x.dtype) if other is None else other
        _merge(x.dtype)[blocks, _BLOCK](other, out, width)
        out, other = other, out
        width *= 2
    return out


def stable_order(x):
    """For each row of a matrix the places that sort it, equal elements in their order."""
    rows, n = x.shape
    index = numpy.dtype("int32" if n < 1 << 31 else "int64")
    out, order = empty(x.shape, x.dtype), empty(x.shape, index)
    if not out.size:
        return order.astype("int64")
    blocks = rows * -(-n // _TILE)
    _order_tiles(x.dtype, index)[blocks, _BLOCK](out, order, x)
    width, other = _TILE, None
    while width < n:
        if other is None:
            other, other_order = empty(x.shape, x.dtype), empty(x.shape, index)
        _merge_order(x.dtype)[blocks, _BLOCK](other, other_order, out, order, width)
        out, order, other, other_order = other, other_order, out, order
        width *= 2
    return order.astype("int64")
