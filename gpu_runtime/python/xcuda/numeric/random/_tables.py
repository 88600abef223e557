"""NumPy's ziggurat tables, read out of NumPy: what it returns for chosen bits tells every entry to the last bit."""

import ctypes
import functools
import threading

import numpy as np

_LAYERS = 256


class _BitGenerator(ctypes.Structure):
    """NumPy's bitgen_t (numpy/random/bitgen.h)."""

    _fields_ = [(name, ctypes.c_void_p) for name in ("state", "uint64", "uint32", "double", "raw")]


class _Fed:
    """A bit generator that gives the draws it is fed, then zeros, and counts them."""

    def __init__(self):
        self.draws, self.used = [], 0

        def next_draw(_):
            self.used += 1
            return self.draws.pop(0) if self.draws else 0

        kinds = ctypes.c_uint64, ctypes.c_uint32, ctypes.c_double
        self._calls = [ctypes.CFUNCTYPE(kind, ctypes.c_void_p)(next_draw) for kind in kinds]
        at = [ctypes.cast(call, ctypes.c_void_p).value for call in self._calls]
        self._table = _BitGenerator(None, *at, at[0])
        made = ctypes.pythonapi.PyCapsule_New
        made.restype, made.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        self._name = b"BitGenerator"
        self.capsule, self.lock = made(ctypes.addressof(self._table), self._name, None), threading.Lock()


def _ask(function, fed, dtype, *draws):
    """(what it returns for these draws, how many it took)."""
    fed.draws, fed.used = list(draws), 0
    return function(dtype=dtype), fed.used


def _first_rejected(function, fed, dtype, guess, bits_of, rest):
    """The least magnitude that takes more than one draw."""

    def taken_at_once(magnitude):
        return _ask(function, fed, dtype, bits_of(magnitude), *rest)[1] == 1

    low, high = max(guess - 32, 0), guess + 32
    while low and not taken_at_once(low - 1):
        low = max(low - 4096, 0)
    while taken_at_once(high):
        high += 4096
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if taken_at_once(middle) else (low, middle)
    return low


def _read(method, dtype, bits, place, step, density):
    """(limits as uint64, widths, densities) of all layers; `step` is what magnitude 1 adds to the drawn bits."""
    fed = _Fed()
    function = getattr(np.random.Generator(fed), method)
    widths = np.array([_ask(function, fed, dtype, (i << place) + step, 0)[0] for i in range(_LAYERS)])
    edges = np.abs(widths.astype(np.float64)) * 2.0**bits
    limits = np.zeros(_LAYERS, np.uint64)
    half, most = (0.5, 0.9999) if dtype == np.float64 else (1 << 31, 0xFFFFFF00)
    for i in range(_LAYERS):
        if i == 1:
            continue  # the topmost layer holds nothing for sure
        inner = edges[_LAYERS - 1] if i == 0 else edges[i - 1]
        # In the tail the second draw must be the greater one; elsewhere any ends the search that zeros don't.
        rest = (half, most) * 20 if i == 0 else (half, *((5 << place) + step,) * 9)
        guess = int(inner / edges[i] * 2.0**bits)
        limits[i] = _first_rejected(function, fed, dtype, guess, lambda m, i=i: (i << place) + step * m, rest)
    densities = density(edges)
    densities[0] = 1.0
    return limits, widths, densities.astype(dtype)


@functools.cache
def normal(dtype):
    """(limits, widths, densities) of NumPy's standard_normal of float64 or float32."""
    bits = 52 if dtype == np.float64 else 23
    return _read("standard_normal", dtype, bits, 0, 1 << 9, lambda x: np.exp(-0.5 * x * x))


@functools.cache
def exponential(dtype):
    """(limits, widths, densities) of NumPy's standard_exponential of float64 or float32."""
    wide = dtype == np.float64
    place, bits = (3, 53) if wide else (1, 23)
    return _read("standard_exponential", dtype, bits, place, 1 << place + 8, lambda x: np.exp(-x))
