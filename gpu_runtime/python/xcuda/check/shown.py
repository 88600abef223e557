"""A followed thread as a table of lines and what they changed."""

from __future__ import annotations

ROWS = 200  # of a table; the first ones


def value_text(value) -> str:
    """A number as Python prints it, without NumPy's type around it."""
    item = value.item() if hasattr(value, "item") else value
    if isinstance(item, float) and getattr(value, "dtype", None) is not None and value.dtype.itemsize < 8:
        return str(value)  # its own shortest digits
    return repr(item)


def changes_text(changes: dict) -> str:
    return ", ".join(f"{name} = {value_text(value)}" for name, value in changes.items())


def head_of(debugged) -> str:
    """One line: which thread of which launch, and how long it went."""
    d = debugged
    count = f"{len(d)} step{'s' if len(d) != 1 else ''}"
    return (
        f"{d.kernel}[{d.grid}, {d.block_shape}], thread {d.thread} of block {d.block} on the CPU device: {count}"
        + ("" if d.complete else ", and more than that")
    )


def rows_of(debugged, steps=None, rows=ROWS) -> list[tuple[int, str, str]]:
    """(line, source, what it changed; at stops: all variables) of the first `rows` steps."""
    if steps is None:
        return [(s.line, s.source, changes_text(s.changes)) for s in debugged.steps[:rows]]
    return [(s.line, s.source, changes_text(s.variables)) for s in steps[:rows]]


def debugged_text(debugged, steps=None, rows=ROWS) -> str:
    lines = [head_of(debugged)]
    shown = rows_of(debugged, steps, rows)
    width = min(max((len(source) for _, source, _ in shown), default=0), 60)
    lines += [f"{line:>5}  {source:<{width}}  {changed}".rstrip() for line, source, changed in shown]
    return "\n".join(lines + notes_of(debugged, len(shown), len(debugged if steps is None else steps)))


def notes_of(debugged, shown: int, of: int) -> list[str]:
    notes = []
    if of > shown:
        notes.append(f"... {of - shown} more")
    if debugged.error:
        notes.append(debugged.error)
    return notes
