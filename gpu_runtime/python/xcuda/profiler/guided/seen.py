"""What a sample holds: ranges of its arguments, and where its threads go at branches."""

from __future__ import annotations

import numpy as np

from xcuda import _runtime
from xcuda.profiler.guided.sample import is_array


def arguments(names, values, host) -> list[dict]:
    """Of each argument its name, a sentence, and the least and largest value where there are any."""
    rows = []
    for name, value, here in zip(names, values, host, strict=True):
        if not is_array(value):
            rows.append({"name": name, "text": f"{value!r} ({type(value).__name__})"})
            continue
        text = f"{here.dtype} {tuple(here.shape)}"
        row = {"name": name, "text": text}
        finite = here[np.isfinite(here)] if here.dtype.kind == "f" else here
        if finite.size and finite.dtype.kind in "biuf":
            low, high = finite.min().item(), finite.max().item()
            row |= {"low": low, "high": high}
            row["text"] += f", all {low:g}" if low == high else f", from {low:g} to {high:g}"
            if finite.size < here.size:
                row["text"] += f", {here.size - finite.size} nan or inf"
        rows.append(row)
    return rows


def branches(callee, values) -> tuple[list[dict], str]:
    """Of each branch {"line", "taken", "threads", "divergent"} in a traced run, and why there are none."""
    try:
        return list(_runtime.trace_branches(callee, values)), ""
    except (RuntimeError, ValueError, TypeError) as error:
        return [], f"branches were not looked at: {error}"
