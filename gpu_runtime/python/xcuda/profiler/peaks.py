"""The most that arrays held on each device while a cell ran, for the cells that made arrays."""

from __future__ import annotations

import sys

KEPT = 1000  # cells a device; the oldest go first

_peaks: dict[str, dict[str, int]] = {}  # {device: {cell: bytes}}, in the order in which the cells ended


def begin_peaks() -> None:
    """A cell begins. Loads nothing: without a runtime nothing is held."""
    if (runtime := sys.modules.get("xcuda._runtime")) is not None:
        runtime.restart_array_peaks()


def end_peaks(cell: str) -> None:
    """A cell ended: keeps what its arrays came to, where it made any."""
    if (runtime := sys.modules.get("xcuda._runtime")) is None:
        return
    for device, before, peak in runtime.array_peaks():
        if peak <= before:
            continue
        of_device = _peaks.setdefault(device, {})
        of_device.pop(cell, None)
        of_device[cell] = peak
        if len(of_device) > KEPT:
            del of_device[next(iter(of_device))]


def largest(device: str, count: int) -> list[tuple[str, int]]:
    """(cell, bytes) of the cells of a device in which arrays held the most, the largest first."""
    return sorted(_peaks.get(device, {}).items(), key=lambda peak: -peak[1])[:count]
