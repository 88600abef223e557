"""%cuda_mem and %cuda_free: who holds a device's memory, what changed, and letting go of it."""

from __future__ import annotations

import gc
from types import ModuleType

from IPython.core.error import UsageError
from xcuda.magics.source import Text

PEAKS = 8  # cells that are told

_last: dict[str, dict] = {}  # by device: what the last %cuda_mem saw, {memory: LiveArray}


def overview(shell, label: str | None) -> Text:
    """The device's figures and a table of its arrays."""
    from xcuda.core import memory
    from xcuda.profiler.peaks import largest

    device = device_named(label)
    info = memory.memory_info(device)
    _last[device.label] = seen(device.label)
    figures = [
        ("in use by arrays", memory.human(info.used)),
        ("kept for reuse", memory.human(info.pooled)),
        ("to be had", memory.human(info.available)),
        ("of", memory.human(info.total)),
        ("at most in use so far", memory.human(info.high_water)),
    ]
    if device.kind == "cuda":
        others = max(0, info.total - info.available - info.used)
        figures.insert(3, ("used by others (contexts, libraries, other processes)", memory.human(others)))
    if info.limit:
        figures.append(("limit (%cuda_limit memory=)", memory.human(info.limit)))
    if info.spill_limit:
        figures.append(("moved to host memory", memory.human(info.spilled)))
        figures.append(("at most there (%cuda_mem --spill)", memory.human(info.spill_limit)))
    rows = [row_of(array, memory.human) for array in info.arrays]
    peaks = [f"{cell} {memory.human(nbytes)}" for cell, nbytes in largest(device.label, PEAKS)]
    return table(device.label, figures, rows, peaks=peaks)


def spill(label: str | None, size: str) -> str:
    """Lets arrays of a full GPU move to host memory, or no more; what came of it in a sentence."""
    from xcuda.core.memory import human
    from xcuda.magics.limits import BYTES, amount

    device = device_named(label)
    try:
        device.spill_limit = None if size in ("off", "none") else round(amount("--spill", size, BYTES))
    except (ValueError, RuntimeError) as error:
        raise UsageError(str(error)) from None
    if device.spill_limit is None:
        return f"{device.label}: no array moves to host memory from now on."
    return (
        f"{device.label}: where it is full, arrays of 2 MiB and more that are made from now on move to host memory, at "
        f"most {human(device.spill_limit)} of them, those used longest ago first."
    )


def difference(shell, label: str | None) -> Text:
    """The arrays that came and went since %cuda_mem was last asked."""
    from xcuda.core.memory import human

    device = device_named(label)
    now, before = seen(device.label), _last.get(device.label)
    if before is None:
        raise UsageError(
            f"%cuda_mem --diff compares with the last %cuda_mem of {device.label}: there was none yet"
        )
    came = [array for key, array in now.items() if key not in before]
    went = [array for key, array in before.items() if key not in now]
    _last[device.label] = now
    change = sum(a.nbytes for a in came) - sum(a.nbytes for a in went)
    figures = [("change", ("-" if change < 0 else "+") + human(abs(change)))]
    rows = [("+", *row_of(array, human)) for array in came] + [("-", *row_of(array, human)) for array in went]
    return table(device.label, figures, rows, changed=True)


def free(shell, names: list[str], unused: bool, everything: bool) -> str:
    """Deletes what is named, or what nothing needs, and says how much came back."""
    from xcuda import core as cuda
    from xcuda.core import memory
    from xcuda.core._holders import holds_arrays

    if not (names or unused or everything):
        raise UsageError("%cuda_free takes names of variables, --unused or --all")
    names = [name for part in names for name in part.split(",") if name]
    unknown = [name for name in names if name not in shell.user_ns]
    if unknown:
        raise UsageError(
            f"there is no variable {unknown[0]!r}; %cuda_mem lists those that hold device memory"
        )
    for name in names:
        if isinstance(shell.user_ns[name], NO_MEMORY) and not holds_arrays(shell.user_ns[name]):
            raise UsageError(
                f"{name!r} is of the type {type(shell.user_ns[name]).__name__}, which holds no device memory; "
                "%cuda_mem lists the variables that do"
            )
    devices = cuda.devices()
    before = {device.label: (device.memory()["used"], device.memory()["pooled"]) for device in devices}
    arrays = [shell.user_ns.pop(name) for name in dict.fromkeys(names)]
    if everything:
        for name in [n for n, value in shell.user_ns.items() if holds_arrays(value) and not is_history(n)]:
            arrays.append(shell.user_ns.pop(name))
    forget(shell, None if unused or everything else {id(array) for array in arrays})
    arrays.clear()
    if unused or everything:
        memory.release_failed()
    gc.collect()
    for device in devices:
        if unused or everything:
            device._trim()
    lines = []
    for device in devices:
        used, pooled = before[device.label]
        now = device.memory()
        if used != now["used"] or pooled != now["pooled"]:
            parts = [f"{memory.human(max(0, used - now['used']))} of arrays"]
            if pooled > now["pooled"]:
                parts.append(f"{memory.human(pooled - now['pooled'])} that was kept for reuse")
            lines.append(
                f"{device.label}: {' and '.join(parts)} given back; {memory.human(now['used'])} in use"
            )
    return "\n".join(lines) or "Nothing was given back: no array hung on that alone."


# What %cuda_free does not take away: a mistyped name would cost a notebook its imports.
NO_MEMORY = (ModuleType, type, bool, int, float, complex, str, bytes, type(None))


def device_named(label: str | None):
    from xcuda.core import Device

    try:
        return Device(label)
    except (ValueError, TypeError) as error:
        raise UsageError(str(error)) from None


def seen(label: str) -> dict:
    from xcuda.core.memory import live_arrays

    return {(a.name, a.nbytes, a.shape, a.dtype, a.where): a for a in live_arrays(label)}


def is_history(name: str) -> bool:
    """_, __, _3, Out: IPython's own."""
    return name in ("Out", "In", "_oh", "_ih", "_dh") or not name.strip("_0123456789")


def forget(shell, only: set[int] | None) -> None:
    """Takes device arrays out of Out[], _, __, ___ and _N: all of them, or those objects."""

    from xcuda.core._holders import holds_arrays

    def goes(value) -> bool:
        return holds_arrays(value) if only is None else id(value) in only

    outputs = shell.user_ns.get("_oh", {})
    for number in [n for n, value in outputs.items() if goes(value)]:
        del outputs[number]
    for space in (
        shell.user_ns,
        shell.user_ns_hidden,
    ):  # the latter has what IPython itself put into the first
        for name in [n for n, value in space.items() if is_history(n) and n[:1] == "_" and goes(value)]:
            space[name] = ""
    hook = shell.displayhook
    for name in ("_", "__", "___"):
        if goes(getattr(hook, name, None)):
            setattr(hook, name, "")


def row_of(array, human) -> tuple[str, ...]:
    from xcuda.core.memory import human_time

    shape = "x".join(map(str, array.shape)) or "0-d"
    made = (array.where, "" if array.age is None else human_time(array.age))
    return (array.name or "(no variable)", human(array.nbytes), shape, array.dtype, *made)


PEAKS_TOLD = "at most held by arrays while a cell ran"
HEADS = ("variable", "bytes", "shape", "dtype", "made at", "age")


def table(label: str, figures, rows, changed: bool = False, peaks=()) -> Text:
    from xcuda.magics.render import template

    heads = ("", *HEADS) if changed else HEADS
    lines = [f"{label}: " + ", ".join(f"{name} {value}" for name, value in figures)]
    widths = [max(len(row[i]) for row in [heads, *rows]) for i in range(len(heads))]
    nothing = "the same arrays" if changed else "no arrays"
    if rows:
        lines += [
            "  " + "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
            for row in [heads, *rows]
        ]
    else:
        lines.append(f"  {nothing}")
    if peaks:
        lines.append(f"{PEAKS_TOLD}: {', '.join(peaks)}")
    html = template("memory.html").render(
        label=label, figures=figures, heads=heads, rows=rows, nothing=nothing, peaks=peaks, told=PEAKS_TOLD
    )
    return Text("\n".join(lines), html)
