"""Folds of all beginnings of a row (scans) and of its parts, by kernels of our own."""

import functools

import numpy

from xcuda import core as cuda

from ._creation import empty

_BLOCK, _EACH = 256, 8
_TILE = _BLOCK * _EACH
# In whatever groups the operands are folded, the result is one (of floating-point numbers but for rounding).
_ASSOCIATIVE = frozenset(
    (
        *(
            "add",
            "multiply",
            "maximum",
            "minimum",
            "fmax",
            "fmin",
            "logical_and",
            "logical_or",
            "logical_xor",
        ),
        *("bitwise_and", "bitwise_or", "bitwise_xor", "logaddexp"),
    )
)
_LANES = 2048  # so many rows keep a GPU busy with a thread each


def _function(name, dtype):
    """NumPy's function as the kernel language has it, for a dtype."""
    if dtype.kind == "b":
        name = {"add": "logical_or", "multiply": "logical_and", "maximum": "logical_or", "minimum": "logical_and",
                "fmax": "logical_or", "fmin": "logical_and"}.get(name, name)  # fmt: skip
    return getattr(numpy, name)


@functools.cache
def _lanes(name, dtype):
    op, T = _function(name, dtype), dtype.type

    @cuda.kernel(checked=False)
    def scan_lanes(out, x):
        lane = cuda.grid(1)
        if lane < out.shape[0] * out.shape[2]:
            p, q = divmod(lane, out.shape[2])
            total = T(x[p, 0, q])
            out[p, 0, q] = total
            for i in range(1, out.shape[1]):
                total = T(op(total, T(x[p, i, q])))
                out[p, i, q] = total

    return scan_lanes


@functools.cache
def _tiles(name, dtype):
    op, T = _function(name, dtype), dtype.type

    @cuda.kernel(checked=False)
    def scan_tiles(out, ends, x):
        tile = cuda.shared.array(_TILE, T)
        part = cuda.shared.array(_BLOCK, T)
        t = cuda.threadIdx.x
        row, number = divmod(cuda.blockIdx.x, ends.shape[1])
        p, q = divmod(row, out.shape[2])
        first = number * _TILE
        here = min(_TILE, out.shape[1] - first)
        for k in range(t, here, _BLOCK):
            tile[k] = T(x[p, first + k, q])
        cuda.syncthreads()
        low = t * _EACH
        high = min(low + _EACH, here)
        if low < high:
            total = tile[low]
            for k in range(low + 1, high):
                total = T(op(total, tile[k]))
                tile[k] = total
            part[t] = total
        cuda.syncthreads()
        step = 1
        while step < _BLOCK:
            joins = t >= step and low < high
            joined = part[0]
            if joins:
                joined = T(op(part[t - step], part[t]))
            cuda.syncthreads()
            if joins:
                part[t] = joined
            cuda.syncthreads()
            step *= 2
        if t > 0 and low < high:
            before = part[t - 1]
            for k in range(low, high):
                tile[k] = T(op(before, tile[k]))
        cuda.syncthreads()
        for k in range(t, here, _BLOCK):
            out[p, first + k, q] = tile[k]
        if t == 0:
            ends[row, number, 0] = tile[here - 1]

    return scan_tiles


@functools.cache
def _carry(name, dtype):
    op, T = _function(name, dtype), dtype.type

    @cuda.kernel(checked=False)
    def add_earlier_tiles(out, ends):
        at = cuda.grid(1)
        if at < out.shape[0] * out.shape[1] * out.shape[2]:
            rest, q = divmod(at, out.shape[2])
            p, i = divmod(rest, out.shape[1])
            if i >= _TILE:
                out[p, i, q] = T(op(ends[p * out.shape[2] + q, i // _TILE - 1, 0], out[p, i, q]))

    return add_earlier_tiles


@functools.cache
def _parts(name, dtype):
    op, T = _function(name, dtype), dtype.type

    @cuda.kernel(checked=False)
    def fold_parts(out, x, starts, stops):
        at = cuda.grid(1)
        if at < out.shape[0] * out.shape[1] * out.shape[2]:
            rest, q = divmod(at, out.shape[2])
            p, i = divmod(rest, out.shape[1])
            first = starts[i]
            total = T(x[p, first, q])
            for k in range(first + 1, stops[i]):
                total = T(op(total, T(x[p, k, q])))
            out[p, i, q] = total

    return fold_parts


def scanned(name, x, out):
    """`out`, filled with the scan of `x` (planes, n, columns) along its middle axis, computed in the dtype of `out`.

    Rows of their own thread each where there are many; else tiles of a row are scanned side by side, then their ends,
    then each tile takes in what lies before it.
    """
    if not out.size:
        return out
    dtype = out.dtype
    planes, n, columns = x.shape
    rows = planes * columns
    if name not in _ASSOCIATIVE or rows >= _LANES or n <= 64:
        _lanes(name, dtype)[-(-rows // 128), 128](out, x)
        return out
    tiles = -(-n // _TILE)
    ends = empty((rows, tiles, 1), dtype)
    _tiles(name, dtype)[rows * tiles, _BLOCK](out, ends, x)
    if tiles > 1:
        _carry(name, dtype)[-(-out.size // _BLOCK), _BLOCK](
            out, scanned(name, ends, empty(ends.shape, dtype))
        )
    return out


def folded_parts(name, x, out, starts, stops):
    """Fills `out` with the folds of x[:, starts[i]:stops[i], :], a part of one element at least."""
    if out.size:
        _parts(name, out.dtype)[-(-out.size // 128), 128](out, x, starts, stops)


def known(name, dtypes):
    """True where the kernel language has the function for these dtypes."""
    return name in _KNOWN and all(d.name != "bfloat16" for d in dtypes)


_KNOWN = _ASSOCIATIVE | {
    *("subtract", "divide", "floor_divide", "remainder", "fmod", "power", "float_power", "left_shift"),
    *("right_shift", "hypot", "arctan2", "copysign", "nextafter", "less", "less_equal", "equal", "not_equal"),
    *("greater", "greater_equal"),
}
