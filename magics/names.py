"""%cuda_names: who serves the article's import names."""

from __future__ import annotations

import sys


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
