"""Generator.integers: whole numbers between bounds, NumPy's stream."""

import math

import numpy as np

from .._array import asarray, ndarray
from .._creation import empty, full
from .._fallback import to_host
from .._registry import TABLE
from . import _generator
from ._fill import fill, fill_each
from ._state import stream_of

_MASK = (1 << 64) - 1
_CHECKER = np.random.Generator(np.random.PCG64(0))
# By the dtype's size in bytes: kernel and bits of a draw; 8 takes 32 bits where they hold the range.
_KERNELS = {1: ("bounded8", 8), 2: ("bounded16", 16), 4: ("bounded32", 32), 8: ("bounded64", 64)}


def integers(self, low, high=None, size=None, dtype=np.int64, endpoint=False):
    """Whole numbers from low up to but not high (to high with endpoint); from 0 up to low without high.

    The numbers are NumPy's; with arrays of bounds their distribution is, each from a Philox stream of its own.
    """
    host = to_host(low), to_host(high)
    scalars = all(v is None or np.ndim(v) == 0 for v in host)
    if size is None and scalars and not any(isinstance(v, ndarray) for v in (low, high)):
        return self._host.integers(*host, None, dtype, endpoint)
    _CHECKER.integers(*host, None, dtype, endpoint)  # raises what NumPy raises for these bounds
    kind = np.dtype(dtype)
    shape = _generator.shape_of(size, [v for v in host if v is not None])
    how = {"size": shape, "dtype": dtype, "endpoint": endpoint}
    if math.prod(shape) <= _generator.SMALL:
        return _generator.few(self, "integers", host, how)
    length = stream_of(self.bit_generator)
    if length is None:
        return _generator.by_host(self, "integers", host, how)
    if not scalars:
        return _between_arrays(self.bit_generator, low, high, shape, kind, endpoint)
    first, last = (0, int(host[0])) if high is None else (int(host[0]), int(host[1]))
    span = last - first - (not endpoint)
    if span == 0:
        return full(shape, first, kind)
    made = empty(math.prod(shape), kind)
    kernel, bits = ("one_bit", 1) if kind.kind == "b" else _KERNELS[kind.itemsize]
    if bits == 64 and span <= 0xFFFFFFFF:
        kernel, bits = "bounded32", 32
    drawn = 32 if kernel == "one_bit" else bits
    refused = (1 << drawn) % (span + 1) / (1 << drawn)  # share of draws that are made again
    fill(
        self.bit_generator, length, made.to_device_array(), kernel,
        [np.uint64(span), np.uint64(first & _MASK), np.uint64(0)], bits=bits,
        words=1 if refused * made.size < 0.1 else 1 / (1 - refused) + 0.01,
    )  # fmt: skip
    return made.reshape(shape)


def _between_arrays(bit_generator, low, high, shape, kind, endpoint):
    first, last = (0, low) if high is None else (low, high)
    wide = "uint64" if kind.name == "uint64" else "int64"
    first, last = (TABLE["broadcast_to"].function(asarray(v).astype(wide), shape) for v in (first, last))
    first, last = (v.astype("uint64").reshape(-1) for v in (first, last))
    span = last - first if endpoint else last - first - np.uint64(1)
    made = empty(math.prod(shape), "uint64")
    flat = [(v if v._c_contiguous else v.copy()).to_device_array() for v in (span, first)]
    fill_each(bit_generator, made.to_device_array(), "bounded", [*flat, flat[0]])
    return made.astype(kind).reshape(shape)
