"""A report's figures as people read them: three digits, the prefix that fits, and where each is from."""

from __future__ import annotations

import re
import sys
from functools import lru_cache

PREFIXES = ("n", "µ", "m", "", "k", "M", "G", "T", "P")
BINARY = ("B", "KiB", "MiB", "GiB", "TiB")


def in_unit(value: float, unit: str) -> str:
    """in_unit(0.00123, "s") is "1.23 ms"; bytes go by 1024, "3 MiB"; shares are percent, "64 %"."""
    if (runtime := sys.modules.get("xcuda._runtime")) is not None:  # a report has dozens of figures
        return runtime.in_unit(value, unit)
    return _in_unit(value, unit)


def _in_unit(value: float, unit: str) -> str:
    """The same where the runtime is not loaded, which is not loaded for a report that comes from a file."""
    if unit == "share":
        return f"{100 * value:.0f} %" if value >= 0.1 or value == 0 else f"{100 * value:.2g} %"
    if unit == "1":
        return f"{value:g}"
    if unit == "B":
        power = 0
        while abs(value) >= 1024 and power + 1 < len(BINARY):
            value, power = value / 1024, power + 1
        return f"{_digits(value)} {BINARY[power]}"
    power = 3
    while value and abs(value) < 0.9995 and power > 0:
        value, power = value * 1000, power - 1
    while abs(value) >= 999.5 and power + 1 < len(PREFIXES):
        value, power = value / 1000, power + 1
    return f"{_digits(value)} {PREFIXES[power]}{unit}"


def _digits(value: float) -> str:
    size = abs(value)
    if size >= 100 or abs(size - round(size)) <= 1e-9 * size:  # whole, but for the unit's rounding
        return f"{value:.0f}"
    return f"{value:.1f}" if size >= 10 else f"{value:.2f}"


def text(figure: dict) -> str:
    """The figure's value, or a dash where it is absent."""
    return "–" if "absent" in figure else in_unit(figure["value"], figure["unit"])


def counted(figure: dict) -> str:
    """A counter's value: large numbers with their prefix, small ones with two digits after the point."""
    if figure.get("unit") != "1":
        return text(figure)
    value = figure["value"]
    return f"{value:.2f}".rstrip("0").rstrip(".") if abs(value) < 1000 else in_unit(value, "").rstrip()


def origin(figure: dict) -> str:
    """Where the figure is from, or why there is none."""
    return figure.get("absent") or figure["source"]


def value(figure: dict) -> float | None:
    return figure.get("value")


def signature(kernel: dict, most: int = 160) -> str:
    """A kernel's signature; another library's may be pages of template arguments."""
    words = kernel["signature"]
    return words if len(words) <= most else f"{words[: most - 1]}…"


def shape(dims: list[int]) -> str:
    """[32, 8, 1] is "32 × 8"."""
    used = dims[: max((i + 1 for i, n in enumerate(dims) if n != 1), default=1)]
    return " × ".join(str(n) for n in used)


def place(where: dict) -> str:
    """{"file": "<ipython-input-3-...>", "line": 4} is "cell 3, line 4"; "" where it is not known."""
    if not where["line"]:
        return ""
    cell = cell_of(where["file"])
    name = f"cell {cell}" if cell else where["file"].rsplit("/", 1)[-1]
    return f"{name}, line {where['line']}"


@lru_cache(maxsize=1024)
def _named_cell(file: str) -> int | None:
    match = re.match(r"<ipython-input-(\d+)-|<?(?:cell|In) \[?(\d+)", file)
    return int(match[1] or match[2]) if match else None


def cell_of(file: str) -> int | None:
    """The number of the cell whose code goes by this file name, None where it is a file or not known."""
    if (named := _named_cell(file)) is not None:
        return named
    # As `from IPython import get_ipython` has it, which looks for the name in two more places each time.
    ipython = sys.modules.get("IPython.core.getipython")
    shell = ipython.get_ipython() if ipython is not None else None
    compiler = getattr(shell, "compile", None)
    return getattr(compiler, "_filename_map", {}).get(file)
