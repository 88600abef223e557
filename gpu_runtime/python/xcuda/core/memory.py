"""A device's memory for people: who holds how much, and what is let go of when it runs out."""

from __future__ import annotations

import gc
import sys
from dataclasses import dataclass

from xcuda import _runtime
from xcuda.core._cells import name_cell
from xcuda.core._holders import STEPS, frames_of, named
from xcuda.core.devices import Device

_LISTED = 5  # arrays in a message


@dataclass(frozen=True)
class LiveArray:
    """Memory of a device that Python holds: `nbytes` of it, seen by `name` (empty: by no variable that was found)."""

    name: str
    nbytes: int
    shape: tuple
    dtype: str
    where: str  # "line 2 of <cell 3>": where it was made; may be empty
    age: float | None = None  # seconds since then; None where it is not known

    def __str__(self):
        made = f", made at {self.where}" if self.where else ""
        return f"{self.name or 'one without a name'} ({human(self.nbytes)}, {self.dtype}, shape {self.shape}{made})"


@dataclass(frozen=True, repr=False)
class MemoryInfo:
    """Bytes of a device's memory, and the arrays that hold them, the largest first."""

    device: str
    used: int  # by arrays, now
    high_water: int  # by arrays, at most so far
    pooled: int  # kept for the next arrays
    available: int  # to be had now
    total: int
    limit: int  # of `used`; 0: none
    spilled: int  # moved to host memory, not in `used`
    spill_limit: int  # of it; 0: none moves
    arrays: list[LiveArray]

    def __str__(self):
        lines = [
            f"{self.device}: {human(self.used)} in use of {human(self.total)}, {human(self.available)} to be had, "
            f"{human(self.pooled)} kept for reuse, at most {human(self.high_water)} in use so far"
            + (f", limit {human(self.limit)}" if self.limit else "")
            + (f", {human(self.spilled)} moved to host memory" if self.spilled else "")
        ]
        return "\n".join(lines + [f"  {array}" for array in self.arrays])

    __repr__ = __str__


def memory_info(device=None) -> MemoryInfo:
    """What of a device's memory (the current one's by default) is used, kept and free, and by which arrays.

    Names are looked up in the notebook's (or script's) variables and in those of the functions that call this one;
    arrays in containers and attributes of such variables have names like `layers[2]` and `net.weights`; those that a
    kept error's traceback, a function's closure, a partial call or a generator holds are told with it.
    """
    device = Device(device)
    m = device.memory()
    keys = ("used", "high_water", "pooled", "available", "total", "limit", "spilled", "spill_limit")
    return MemoryInfo(device.label, *(m[key] for key in keys), live_arrays(device.label))


def trim_memory(device=None) -> int:
    """Waits for the work under way and gives memory kept for reuse back to the system; how many bytes that were."""
    device = Device(device)
    gc.collect()
    before = device.memory()["pooled"]
    device._trim()
    return before - device.memory()["pooled"]


def live_arrays(label) -> list[LiveArray]:
    """The arrays on a device with memory of their own, the largest first; views count as their array."""
    found = {}  # by memory; an array before its views
    objects = gc.get_objects()
    for array in [*_runtime.arrays_among(objects), *_runtime.numeric_among(objects)]:
        if array._device_label != label:
            continue
        key, nbytes, site, age = array._memory
        if nbytes and (key not in found or array.nbytes > found[key][0].nbytes):
            found[key] = (array, nbytes, site, age)
    names = _names()
    rows = []
    for key, (array, nbytes, site, age) in found.items():
        where = f"line {site[1]} of {name_cell(site[0])}" if site else ""
        rows.append(
            LiveArray(names.get(key, ""), nbytes, array.shape, _dtype_of(array), where, age if site else None)
        )
    return sorted(rows, key=lambda row: -row.nbytes)


def _dtype_of(array) -> str:
    return array._dtype_name if isinstance(array, _runtime.ArrayBase) else str(array.dtype)


def largest_arrays(label, count=_LISTED) -> str:
    """The largest arrays on a device in words; empty where there is none."""
    rows = live_arrays(label)
    told = [str(row) for row in rows[:count]]
    if rest := rows[count:]:
        told.append(f"and {len(rest)} more of {human(sum(row.nbytes for row in rest))}")
    return "; ".join(told)


def release_failed() -> None:
    """Ends what a failed cell's traceback holds on a device: its functions' variables, where arrays are among them."""
    for frame, names in frames_of(getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)):
        if any(True for _ in named(names, 1)):
            try:
                frame.clear()
            except RuntimeError:
                continue  # still running
            if type(names) is dict:  # a copy, which until Python 3.12 the frame keeps
                names.clear()


def human(nbytes) -> str:
    """ "1.5 GiB"."""
    value, units = float(nbytes), ["bytes", "KiB", "MiB", "GiB", "TiB"]
    while value >= 1024 and len(units) > 1:
        value, units = value / 1024, units[1:]
    return f"{nbytes} bytes" if units[0] == "bytes" else f"{value:.1f} {units[0]}"


def human_time(seconds) -> str:
    """ "2.5 min"."""
    for unit, size in (("h", 3600), ("min", 60), ("s", 1)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e3:.0f} ms"


def relieve() -> None:
    """What a device asks for before it is out of memory."""
    release_failed()
    gc.collect()


def _names():
    """{memory: the best name that leads to it}."""
    spaces = [(vars(sys.modules["__main__"]), STEPS)] if "__main__" in sys.modules else []
    frame = sys._getframe(1)
    while frame is not None:
        if not frame.f_globals.get("__name__", "").startswith("xcuda.core."):
            spaces.append((frame.f_locals, 1))
        frame = frame.f_back
    best = {}
    for space, steps in spaces:
        for name, array in named(space, steps):
            key, nbytes, _, _ = array._memory
            rank = (name.startswith("_"), name.startswith("Out["), array.nbytes < nbytes, len(name))
            if key not in best or rank < best[key][0]:
                best[key] = (rank, name)
    return {key: name for key, (_, name) in best.items()}
