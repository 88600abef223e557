"""%cuda_limit: how long cells may run, and how much memory arrays may hold."""

from __future__ import annotations

import contextlib
import re
import sys

from IPython.core.error import UsageError
from xcuda.magics.profile_cell import compiled

SECONDS = {"ms": 1e-3, "s": 1.0, "": 1.0, "min": 60.0, "h": 3600.0}
BYTES = {
    f"{prefix}{unit}": factor**power
    for prefix, power in (("", 0), ("K", 1), ("k", 1), ("M", 2), ("G", 3), ("T", 4))
    for unit, factor in (("", 1000), ("B", 1000), ("iB", 1024))
}
VALUE = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*([A-Za-z]*)")


def limit(words: list[str]) -> str:
    """Sets what is named, and says what holds."""
    from xcuda.core import Device
    from xcuda.core.memory import human
    from xcuda.core.time_limit import time_limit

    wanted = limits_of(words)
    if "time" in wanted:
        time_limit(wanted["time"])
    device = Device()
    if "memory" in wanted:
        device.memory_limit = wanted["memory"]
    seconds, nbytes = time_limit(), device.memory()["limit"]
    return "\n".join(
        (
            f"time:   {'no limit' if seconds is None else f'{seconds:g} s a cell'}",
            f"memory: {human(nbytes) if nbytes else 'no limit but its own'} on {device.label}",
        )
    )


def limited_cell(shell, cell: str, words: list[str]) -> None:
    """Runs the cell under limits of its own."""
    __tracebackhide__ = True  # IPython shows the frames of the cell alone
    from xcuda.core import Device, synchronize
    from xcuda.core.time_limit import at_most

    wanted = limits_of(words)
    if not wanted:
        raise UsageError("%%cuda_limit needs a limit: time=5s, memory=8GB")
    device = Device()
    before = device.memory_limit
    if "memory" in wanted:
        device.memory_limit = wanted["memory"]
    try:
        with at_most(wanted["time"]) if wanted.get("time") else contextlib.nullcontext():
            code, last = compiled(shell, cell, "%%cuda_limit")
            exec(code, shell.user_ns)
            if last is not None:
                sys.displayhook(eval(last, shell.user_ns))
            synchronize()  # what was launched counts
    finally:
        device.memory_limit = before


def limits_of(words: list[str]) -> dict:
    """{"time": seconds or None, "memory": bytes or None} of "time=5s", "memory=8GB", "time=none"."""
    found = {}
    for word in words:
        name, equals, text = word.partition("=")
        units = {"time": SECONDS, "memory": BYTES}.get(name)
        if units is None or not equals:
            raise UsageError(f"a limit is time=5s or memory=8GB, not {word!r}")
        if text.lower() == "none":
            found[name] = None
            continue
        number = amount(f"{name}=", text, units)
        found[name] = number if name == "time" else round(number)
    return found


def amount(option: str, text: str, units: dict) -> float:
    """A number with a unit: "8GB" in bytes, "5s" in seconds."""
    value = VALUE.fullmatch(text)
    factor = None if value is None else units.get(value[2])
    if factor is None or float(value[1]) <= 0:
        known = ", ".join(unit for unit in units if unit)
        raise UsageError(f"{option} takes a number above 0 and a unit ({known}), or none, not {text!r}")
    return float(value[1]) * factor
