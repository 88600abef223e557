"""A device's memory for people: who holds how much, and what is let go of when it runs out."""

from __future__ import annotations

import gc
import sys
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from types import AsyncGeneratorType, CoroutineType, FunctionType, GeneratorType

from xcuda import _runtime
from xcuda.core._cells import name_cell
from xcuda.core.devices import Device

ARRAYS = (_runtime.ArrayBase, _runtime.NumericBase)  # what holds a device's memory
_LISTED = 5  # arrays in a message
_ITEMS = 1000  # of a container that is looked into


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


@dataclass(frozen=True)
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
    arrays: list[LiveArray] = field(repr=False)

    def __str__(self):
        lines = [
            f"{self.device}: {human(self.used)} in use of {human(self.total)}, {human(self.available)} to be had, "
            f"{human(self.pooled)} kept for reuse, at most {human(self.high_water)} in use so far"
            + (f", limit {human(self.limit)}" if self.limit else "")
            + (f", {human(self.spilled)} moved to host memory" if self.spilled else "")
        ]
        return "\n".join(lines + [f"  {array}" for array in self.arrays])


def memory_info(device=None) -> MemoryInfo:
    """What of a device's memory (the current one's by default) is used, kept and free, and by which arrays.

    Names are looked up in the notebook's (or script's) variables and in those of the functions that call this one;
    arrays in lists, tuples, dicts and attributes of such variables have names like `layers[2]` and `net.weights`; those
    that a kept error's traceback, a function's closure or a generator holds are told with it.
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
    for frame, names in _frames(getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)):
        if any(True for _ in _named(names)):
            try:
                frame.clear()
            except RuntimeError:
                continue  # still running
            if type(names) is dict:  # a copy, which until Python 3.12 the frame keeps
                names.clear()


def _frames(error):
    """(frame, its variables) of the functions that an error's traceback leads through, and those of its causes."""
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        at = error.__traceback__
        while at is not None:
            frame, at = at.tb_frame, at.tb_next
            names = frame.f_locals
            if names is not frame.f_globals:
                yield frame, names
        error = error.__cause__ or error.__context__


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
    spaces = [vars(sys.modules["__main__"])] if "__main__" in sys.modules else []
    frame = sys._getframe(1)
    while frame is not None:
        if not frame.f_globals.get("__name__", "").startswith("xcuda.core."):
            spaces.append(frame.f_locals)
        frame = frame.f_back
    best = {}
    for space in spaces:
        for name, array in _named(space):
            key, nbytes, _, _ = array._memory
            rank = (name.startswith("_"), name.startswith("Out["), array.nbytes < nbytes, len(name))
            if key not in best or rank < best[key][0]:
                best[key] = (rank, name)
    return {key: name for key, (_, name) in best.items()}


def _named(space):
    """(name, array) of a namespace: its arrays, and those one step inside its containers and objects."""
    for name, value in list(space.items()):
        if isinstance(value, ARRAYS):
            yield name, value
        elif isinstance(value, (list, tuple)):
            yield from _those_of((f"{name}[{i}]", item) for i, item in enumerate(value[:_ITEMS]))
        elif isinstance(value, dict) and len(value) <= _ITEMS:
            yield from _those_of((f"{name}[{key!r}]", item) for key, item in list(value.items()))
        elif isinstance(value, BaseException):
            yield from _of_error(name, value)
        elif isinstance(value, (set, frozenset, deque)) and len(value) <= _ITEMS:
            yield from _those_of((f"an item of {name}", item) for item in list(value))
        elif isinstance(value, FunctionType):
            yield from _those_of(_bound(name, value))
        elif isinstance(value, partial):
            given = [*enumerate(value.args), *value.keywords.items()]
            yield from _those_of((f"{name}, a partial call's {key}", item) for key, item in given)
        elif (frame := _paused(value)) is not None:
            yield from _those_of((f"{name}, paused with {key}", item) for key, item in frame.f_locals.items())
        elif not isinstance(value, (type, type(sys))) and type(value).__module__ not in ("builtins", "numpy"):
            attributes = getattr(value, "__dict__", None)
            if type(attributes) is dict and len(attributes) <= _ITEMS:
                yield from _those_of((f"{name}.{key}", item) for key, item in list(attributes.items()))


def _of_error(name, error):
    """The arrays among the variables of the functions that a kept error's traceback leads through."""
    for frame, names in _frames(error):
        of = frame.f_code.co_name
        yield from _those_of((f"{name}, an error with {key} of {of}()", v) for key, v in names.items())


def _bound(name, function):
    """What a function keeps: its closure's variables and its defaults."""
    for key, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # not set yet
            yield f"{name}, a function with {key}", cell.cell_contents
    for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
        yield f"{name}, a function with a default", value


def _paused(value):
    """The frame of a generator or coroutine that has begun and not ended."""
    return (
        next((f for f in (getattr(value, n, None) for n in ("gi_frame", "cr_frame", "ag_frame")) if f), None)
        if isinstance(value, (GeneratorType, CoroutineType, AsyncGeneratorType))
        else None
    )


def _those_of(pairs):
    return ((name, item) for name, item in pairs if isinstance(item, ARRAYS))
