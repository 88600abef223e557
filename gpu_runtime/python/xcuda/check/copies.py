"""Copies of a launch's arguments in host memory, that overlap where the originals do."""

from __future__ import annotations

import ctypes

import numpy as np

ALIGNED = (
    64  # a copy lies as its original does modulo this: kernels are compiled for rows that are aligned or not
)


def host_copies(values) -> list:
    """Each array's copy, with its strides; what is no array as it is."""
    places = {i: place for i, value in enumerate(values) if (place := _place_of(value)) is not None}
    regions = _regions(places.values())
    made = list(values)
    for i, (array, low, high) in places.items():
        if low == high:
            made[i] = np.array(array)
            continue
        begin, memory = next((b, m) for b, end, m in regions if b <= low < end)
        offset = _address(array) - begin
        made[i] = np.ndarray(array.shape, array.dtype, memory, offset, array.strides)
    return made


def _place_of(value):
    """(a host view of an array, its first byte, the byte after its last); None for what is no array."""
    if isinstance(value, np.generic) or not hasattr(value, "shape") or not hasattr(value, "dtype"):
        return None
    array = _seen_from_host(value)
    if array.size == 0:
        return array, 0, 0
    low = high = _address(array)
    for length, stride in zip(array.shape, array.strides, strict=True):
        low += min(0, stride * (length - 1))
        high += max(0, stride * (length - 1))
    return array, low, high + array.itemsize


def _seen_from_host(value) -> np.ndarray:
    if isinstance(value, np.ndarray):
        return value
    from xcuda.core import as_device_array

    if not hasattr(value, "copy_to_host") and not hasattr(value, "__cuda_array_interface__"):
        return np.asarray(value)
    array = as_device_array(value)
    array.device.synchronize()
    if array.device.kind != "cpu" or array.size == 0:
        return array.copy_to_host()
    # The CPU device's memory is the host's: a view, so that arrays which overlap are seen to.
    strides = tuple(step * array.itemsize for step in array._steps)
    low = sum(min(0, s * (n - 1)) for n, s in zip(array.shape, strides, strict=True))
    high = sum(max(0, s * (n - 1)) for n, s in zip(array.shape, strides, strict=True)) + array.itemsize
    memory = (ctypes.c_char * (high - low)).from_address(array._address + low)
    return np.ndarray(array.shape, array.dtype, memory, -low, strides)


def _address(array) -> int:
    return array.__array_interface__["data"][0] if array.dtype.names is None else array.ctypes.data


def _regions(places):
    """[(first byte, end, copy of what lies between)] of all arrays; those that overlap are one region."""
    merged: list[list[int]] = []
    for _, low, high in sorted((p for p in places if p[1] != p[2]), key=lambda p: p[1]):
        if merged and low < merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], high)
        else:
            merged.append([low, high])
    regions = []
    for low, high in merged:
        room = np.empty(high - low + 2 * ALIGNED, np.uint8)
        start = (low - room.ctypes.data) % ALIGNED
        memory = room[start : start + high - low]
        # Byte by byte, gaps between elements too: they are the arrays' own memory or their base's.
        ctypes.memmove(memory.ctypes.data, low, high - low)
        regions.append((low, high, memory))
    return regions
