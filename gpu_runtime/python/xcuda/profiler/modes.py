"""Which reports cells show."""

from __future__ import annotations

MODES = ("on", "off", "full")

_mode = "on"


def show_reports(mode: str | None = None) -> str:
    """Which reports cells show: "on", "off", or "full" (unfolded, with pictures); gives the mode now in use.

    Profiled blocks and functions have their reports whatever the mode. ValueError for another mode.
    """
    global _mode
    if mode is not None:
        if mode not in MODES:
            raise ValueError(f"reports are {', '.join(MODES)}, not {mode!r}")
        _mode = mode
    return _mode
