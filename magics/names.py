"""%cuda_names: who serves the article's import names; and what a cell is told that imports what can't work here."""

from __future__ import annotations

import importlib.util
import re
import sys

# `import a.b` and `from a import b`, at a line's begin or after a semicolon.
IMPORTS = re.compile(r"(?:^|;)[ \t]*(?:import[ \t]+([\w.]+)|from[ \t]+([\w.]+)[ \t]+import[ \t]+(\w+))", re.M)

_told: set[str] = set()


def installed_instead(code: str) -> list[str]:
    """A line for each of the article's names that `code` imports and an installed package keeps; each name once."""
    if "cuda" not in code and "cupy" not in code and "nvmath" not in code:
        return []
    return _installed(code) + _of_no_use(code)


def _installed(code: str) -> list[str]:
    from xcuda import _names

    lines = []
    for whole, parent, child in IMPORTS.findall(code):
        found = whole or f"{parent}.{child}"
        name = next((n for n in _names.NAMES if found == n or found.startswith(n + ".")), None)
        if name is None or name in _told or _names.preferred() or not _names.provided_elsewhere(name):
            continue
        _told.add(name)
        ours = _names.NAMES[name].rpartition(".")[2]
        lines.append(
            f"{name} is that of an installed package here, not xcuda's: write `from xcuda import {ours}`, "
            f"or run `%cuda_names xcuda` first."
        )
    return lines


def _of_no_use(code: str) -> list[str]:
    """A line for a package of another house that is not here, or that has no GPU to run on; each once."""
    lines = []
    for whole, parent, child in IMPORTS.findall(code):
        found = whole or f"{parent}.{child}"
        package = found.partition(".")[0]
        if package not in PORTED or package in _told or found in ("cupy.numeric", "numba.cuda.random"):
            continue
        if package == "numba":
            if not found.startswith("numba.cuda") or _has_gpu():
                continue
        elif importlib.util.find_spec(package) is not None:
            continue
        _told.add(package)
        lines.append(PORTED[package])
    return lines


PORTED = {
    "cupy": "No cupy is installed here; `import xcuda.numeric as cp` runs programs over its arrays, "
    "and notebooks/09_porting.ipynb has the rest.",
    "pycuda": "No pycuda is installed here; notebooks/09_porting.ipynb says how its programs are written with xcuda.",
    "numba": "numba.cuda needs a GPU, and there is none here; `from xcuda import core as cuda` runs its kernels "
    "on every device.",
}


def _has_gpu() -> bool:
    from xcuda import core

    return any(device.kind != "cpu" for device in core.devices())


def names(owner: str | None) -> str:
    from xcuda import _names

    if owner is not None:
        _names.prefer_xcuda(owner == "xcuda")
    lines = []
    for name, ours in _names.NAMES.items():
        if not _names._exists(ours):
            continue
        elsewhere = _names.provided_elsewhere(name)
        if _names.preferred() or not elsewhere:
            text = ours
        else:
            text = "the installed package; %cuda_names xcuda hands it to " + ours
        if name in sys.modules and owner is not None:
            text += " (import it again)"
        lines.append(f"{name:<14} {text}")
    return "\n".join(lines)
