"""A captured function as a picture: a box a kernel or library call, in the order they run, with the bytes between."""

from __future__ import annotations

from xcuda import _svg as svg

_WIDTH, _BOX, _GAP, _LEFT = 720, 44, 26, 20
_KERNEL, _LIBRARY, _INPUT = svg.COLOURS[0], svg.COLOURS[1], svg.COLOURS[2]
_LONGEST = 88


def drawn(explanation):
    """The SVG document of an Explanation."""
    from ._explain import shown_bytes

    inputs = ", ".join(explanation.names.values()) or "no arguments"
    rows = [(_INPUT, "arguments", inputs, "")]
    for kernel in explanation.kernels:
        colour = _KERNEL if kernel.kind == "kernel" else _LIBRARY
        n = kernel.operations
        title = f"{kernel.kind}{f' of {n} operations' if kernel.kind == 'kernel' else ''}"
        moved = f"reads {shown_bytes(kernel.bytes_read)} · writes {shown_bytes(kernel.bytes_written)}"
        rows.append((colour, title, kernel.text, moved))
    parts, y = [], 14
    for i, (colour, title, words, moved) in enumerate(rows):
        if i:
            parts.append(svg.line(_LEFT + 40, y - _GAP, _LEFT + 40, y, width=1.5))
        parts.append(svg.box(_LEFT, y, 6, _BOX, colour, words))
        parts.append(svg.line(_LEFT + 6, y, _WIDTH - _LEFT, y))
        parts.append(svg.line(_LEFT + 6, y + _BOX, _WIDTH - _LEFT, y + _BOX))
        parts.append(svg.line(_WIDTH - _LEFT, y, _WIDTH - _LEFT, y + _BOX))
        parts.append(svg.text(_LEFT + 14, y + 17, title))
        parts.append(svg.text(_WIDTH - _LEFT - 8, y + 17, moved, "end"))
        parts.append(svg.text(_LEFT + 14, y + 35, svg.shortened(words, _LONGEST)))
        y += _BOX + _GAP
    before, after = explanation.unfused_bytes, explanation.bytes
    parts += _bars(y, before, after, shown_bytes)
    return svg.picture(_WIDTH, int(y + 50), parts, f"what {explanation.name} becomes")


def _bars(y, before, after, shown):
    """Bytes as written against bytes as run."""
    whole = max(before, after, 1)
    parts = []
    for i, (what, n, colour) in enumerate((("as written", before, svg.LINE), ("as run", after, _KERNEL))):
        top = y + i * 20
        parts.append(svg.text(_LEFT, top + 11, what))
        parts.append(svg.box(_LEFT + 80, top, (_WIDTH - 2 * _LEFT - 180) * n / whole, 13, colour, shown(n)))
        parts.append(svg.text(_WIDTH - _LEFT, top + 11, shown(n), "end"))
    return parts
