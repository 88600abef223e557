"""%cuda_info, %cuda_device and %cuda_cache: what there is, which is current, what is kept."""

from __future__ import annotations

import platform

from IPython.core.error import UsageError
from xcuda.magics.figures import in_unit
from xcuda.magics.source import Text


def info() -> Text:
    import xcuda
    from xcuda import _runtime
    from xcuda.core import devices
    from xcuda.magics.libraries import libraries
    from xcuda.magics.render import template

    current = _runtime.current_device_label()
    sections = [
        (
            "Devices",
            [(d.label + (" (current)" if d.label == current else ""), describe(d)) for d in devices()],
        ),
        ("Compilers", [(d.label, toolchain(d)) for d in devices()]),
        ("Libraries", [(name, state) for name, state in libraries()]),
        ("Cache", cache_rows(_runtime.cache_stats())),
        ("Versions", [("xcuda", xcuda.__version__), ("Python", platform.python_version())]),
    ]
    width = max(len(name) for _, rows in sections for name, _ in rows)
    lines = []
    for title, rows in sections:
        lines.append(title)
        lines += [f"  {name:<{width}}  {text}" for name, text in rows]
    return Text("\n".join(lines), template("info.html").render(sections=sections))


def describe(device) -> str:
    attributes, memory = device.attributes, device.memory()
    parts = [device.name]
    if device.architecture not in device.name:
        parts.append(device.architecture)
    if device.kind == "cpu":
        count = attributes["multiprocessors"]
        parts.append(f"{count} worker{'' if count == 1 else 's'} (XCUDA_WORKERS)")
        parts.append(f"{8 * attributes['vector_bytes']}-bit vectors")
    else:
        parts.append(f"{attributes['multiprocessors']} multiprocessors")
        parts.append(f"{in_unit(attributes['max_shared_bytes_per_block'], 'B')} shared memory a block")
    parts.append(f"{in_unit(memory['used'], 'B')} of {in_unit(memory['total'], 'B')} in use")
    return ", ".join(parts)


def toolchain(device) -> str:
    try:
        return device.toolchain
    except Exception as missing:  # the sentence says what is missing and how to get it
        return str(missing)


def cache_rows(stats: dict) -> list[tuple[str, str]]:
    rows = [
        ("folder", f"{stats['folder']} (XCUDA_CACHE_DIR)"),
        (
            "size",
            f"{kernels(stats['files'])}, {in_unit(stats['bytes'], 'B')} of {in_unit(stats['bound'], 'B')}",
        ),
        (
            "this process",
            f"{stats['compiled']} compiled in {in_unit(stats['compile_seconds'], 's')}, "
            f"{stats['disk_hits']} from the disk, {stats['memory_hits']} from memory",
        ),
    ]
    if not stats["bound"]:
        rows[0] = ("folder", "none: the disk cache is off (XCUDA_CACHE_BYTES=0)")
    if stats["disk_problem"]:
        rows.append(("problem", stats["disk_problem"]))
    return rows


def cache(clear: bool) -> str:
    from xcuda import _runtime

    before = _runtime.cache_stats()
    if clear:
        _runtime.clear_cache()
        freed = before["bytes"] - _runtime.cache_stats()["bytes"]
        return f"Removed {kernels(before['files'], 'compiled kernel')}, {in_unit(freed, 'B')}, from {before['folder']}."
    rows = cache_rows(before)
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:<{width}}  {text}" for name, text in rows)


def use_device(label: str | None) -> str:
    from xcuda.core import Device

    if label is None:
        device = Device()
    else:
        try:
            device = Device(int(label) if label.isdecimal() else label).use()
        except ValueError as unknown:
            raise UsageError(str(unknown)) from None
    return f"{device.label}: {device.name}"


def kernels(count: int, what: str = "kernel") -> str:
    return f"{count} {what}{'s' * (count != 1)}"
