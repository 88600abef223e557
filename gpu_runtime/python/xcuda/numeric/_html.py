"""How an array looks in a notebook: what it is, and a corner of it."""

from html import escape

import numpy

_EDGE = 6


def array_html(a):
    """Shape, dtype, device, bytes, and a preview for which only what it shows is moved."""
    shape = " × ".join(map(str, a.shape)) or "one number"
    state = "not computed yet" if a._pending else "in memory"
    head = f"{shape} · {a.dtype} · {a._device_label} · {_bytes(a.nbytes)} · {state}"
    return f"<div><div><small>{escape(head)}</small></div>{_table(a)}</div>"


def _bytes(n):
    for unit in ("bytes", "KiB", "MiB"):
        if n < 1024:
            return f"{n:.0f} {unit}" if unit == "bytes" else f"{n:.1f} {unit}"
        n /= 1024
    return f"{n:.1f} GiB"


def _table(a):
    if a.size == 0:
        return ""
    plane = a[(0,) * (a.ndim - 2)] if a.ndim > 2 else a.reshape(1, -1) if a.ndim < 2 else a
    rows, columns = plane.shape
    corner = plane[:_EDGE, :_EDGE].get()
    lines = []
    for row in corner:
        cells = "".join(f"<td>{escape(numpy.array2string(x, precision=6))}</td>" for x in row)
        lines.append(f"<tr>{cells}{'<td>…</td>' if columns > _EDGE else ''}</tr>")
    if rows > _EDGE:
        lines.append("<tr><td>⋮</td></tr>")
    note = f"<div><small>plane {(0,) * (a.ndim - 2)}</small></div>" if a.ndim > 2 else ""
    return f"<table>{''.join(lines)}</table>{note}"
