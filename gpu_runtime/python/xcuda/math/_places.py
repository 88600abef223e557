"""Where arrays are: host arrays and those of other libraries as numeric's, uncopied where the device allows it."""

from __future__ import annotations

import numpy

from xcuda import _runtime
from xcuda.core.arrays import DeviceArray, as_device_array
from xcuda.numeric import _dtypes
from xcuda.numeric._array import _from_host, ndarray

HOST, OURS, CORE = "host", "numeric", "core"


def place_of(value):
    """HOST, CORE (a DeviceArray) or OURS (numeric's and other libraries' device arrays)."""
    if isinstance(value, numpy.ndarray):
        return HOST
    return CORE if isinstance(value, DeviceArray) else OURS


def as_numeric(value):
    """numeric's array over the same memory, for one call; a copy where the device can't read it in place."""
    if isinstance(value, numpy.ndarray):
        return _host_array(value)
    if isinstance(value, ndarray):
        return _runtime.numeric_alias(value) if _runtime.numeric_shared(value) else value
    return _runtime.numeric_alias_of(as_device_array(value))


def as_numeric_once(value, taken):
    """as_numeric(value), for host arrays the one that `taken` has of it."""
    if not isinstance(value, numpy.ndarray):
        return as_numeric(value)
    made = taken.get(id(value))
    if made is None:
        made = taken[id(value)] = _host_array(value)
    return made


_held: dict = {}  # by dtype: whether device arrays have it


def _host_array(value):
    dtype = value.dtype
    known = _held.get(dtype)
    if known is None:
        known = _held[dtype] = _dtypes.held(dtype.newbyteorder("=")) and (dtype.name, dtype.isnative)
    if not known:
        raise TypeError(
            f"device arrays hold no {dtype}: bool, integers, float16 to float64 and complex numbers"
        )
    name, native = known
    if not native:
        value = value.astype(dtype.newbyteorder("="))
    flags = value.flags
    whole = flags.c_contiguous or all(s % value.itemsize == 0 for s in value.strides)
    in_place = value.size and value.ndim <= 8 and flags.aligned and name != "bfloat16" and whole
    if in_place and _runtime.current_device_label() == "cpu":
        return _runtime.numeric_alias_of(as_device_array(value))
    return _from_host(value)


def given_back(array, place):
    """A result where the inputs were; 0-dimensional host results are NumPy's scalars, as NumPy has it."""
    if place == OURS or not isinstance(array, ndarray):
        return array
    if place == CORE:
        return array.to_device_array()
    host = array._host()
    return host[()] if host.ndim == 0 else host


def place_for(places):
    """Where results go: the host only where all arrays came from there."""
    if not places:
        return OURS
    if all(p == HOST for p in places):
        return HOST
    return CORE if all(p in (CORE, HOST) for p in places) else OURS
