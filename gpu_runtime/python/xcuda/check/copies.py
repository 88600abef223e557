"""Copies of a launch's arguments in host memory, that overlap where the originals do."""

from __future__ import annotations

import ctypes
import dataclasses

import numpy as np

ALIGNED = (
    64  # a copy lies as its original does modulo this: kernels are compiled for rows that are aligned or not
)


@dataclasses.dataclass(frozen=True)
class Place:
    """Where an array lies, on whichever device: its first byte, the byte after its last, and who brings them here."""

    array: object
    address: int  # of element 0
    low: int
    high: int

    def read(self, memory) -> None:
        """The bytes from the first to the last, gaps between elements too."""
        if isinstance(self.array, np.ndarray):
            ctypes.memmove(memory.ctypes.data, self.low, self.high - self.low)
        else:
            self.array._to_host(memory, True)


def host_copies(values) -> list:
    """Each array's copy, with its strides; what is no array as it is."""
    places = {i: place for i, value in enumerate(values) if (place := place_of(value)) is not None}
    regions = _regions(places.values())
    made = list(values)
    for i, place in places.items():
        array = place.array
        if place.low == place.high:
            made[i] = np.empty(array.shape, array.dtype)
            continue
        begin, memory = next((b, m) for b, end, m in regions if b <= place.low < end)
        made[i] = np.ndarray(array.shape, array.dtype, memory, place.address - begin, array.strides)
    return made


def place_of(value) -> Place | None:
    """None for what is no array."""
    if isinstance(value, np.generic) or not hasattr(value, "shape") or not hasattr(value, "dtype"):
        return None
    if hasattr(value, "copy_to_host") or hasattr(value, "__cuda_array_interface__"):
        from xcuda.core import as_device_array

        array = as_device_array(value)
        address = array._address
    else:
        array = np.asarray(value)
        address = array.ctypes.data
    if 0 in array.shape:
        return Place(array, address, 0, 0)
    low = high = address
    for length, stride in zip(array.shape, array.strides, strict=True):
        low += min(0, stride * (length - 1))
        high += max(0, stride * (length - 1))
    return Place(array, address, low, high + array.dtype.itemsize)


def _regions(places):
    """[(first byte, end, copy of what lies between)] of all arrays; those that overlap are one region."""
    merged: list[tuple[int, int, list[Place]]] = []
    for place in sorted((p for p in places if p.low != p.high), key=lambda p: p.low):
        if merged and place.low < merged[-1][1]:
            low, high, members = merged[-1]
            merged[-1] = (low, max(high, place.high), [*members, place])
        else:
            merged.append((place.low, place.high, [place]))
    regions = []
    for low, high, members in merged:
        room = np.empty(high - low + 2 * ALIGNED, np.uint8)
        start = (low - room.ctypes.data) % ALIGNED
        memory = room[start : start + high - low]
        for place in members:
            place.read(memory[place.low - low : place.high - low])
        regions.append((low, high, memory))
    return regions
