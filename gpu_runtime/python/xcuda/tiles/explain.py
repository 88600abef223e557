"""`explain`: how a tile kernel lies on the machine, as text and as a picture: logical tiles, blocks, warps."""

import base64
import html
import json

from xcuda import _runtime
from xcuda.core.signatures import types_from

MOST_LINES = 8  # logical tiles, or blocks, that are drawn along an axis
CELL = 132  # of a drawn square, in pixels
INK = "#7a7a7a"  # reads on white and on dark grounds alike
HUES = ("#4c8bf5", "#e08a1e", "#2fa36b", "#b763c9", "#d9534f", "#1ba3b8", "#8d7a1f", "#7a7a7a")


class Explanation:
    """The plan of a tile kernel for some arguments; `plan` has its figures, `svg` the picture."""

    def __init__(self, name, tile_size, plan, grid):
        self.name, self.tile_size, self.plan, self.grid = name, tile_size, plan, grid

    def __str__(self):
        return "\n".join(f"{label}: {text}" for label, text in self._lines())

    __repr__ = __str__

    def _lines(self):
        p = self.plan
        yield self.name, f"a tile kernel on {p['target']}"
        if self.tile_size and p["unit"]:
            yield "tile written", _by(self.tile_size)
            yield (
                "hardware tile",
                _by(p["unit"]) + (f", products in steps of {p['depth']}" if p["depth"] else ""),
            )
            per = [
                max(1, u // t)
                for u, t in zip(p["unit"][-len(self.tile_size) :], self.tile_size, strict=False)
            ]
            yield "a block does", f"{_by(per)} of the tiles written"
        if self.grid:
            yield "blocks", _by(self.grid)
        elif p["grid"]:
            yield "blocks", " x ".join(p["grid"])
        yield "threads of a block", str(p["threads"])
        for t in p["tiles"]:
            yield f"tile {_by(t['shape'])}", _lies(t)
        if p["stages"] > 1:
            yield "stages", f"{p['stages']}: operands of {p['stages'] - 1} later steps are on their way"
        if p["copies"] == "bulk":
            yield "operands", "brought by the copy engine; a warp beside the threads asks for them"
        if p["instructions"]:
            yield "products by", p["instructions"]
        if p["instructions"].startswith("tcgen05"):
            yield (
                "sums",
                "in tensor memory, two tiles' in turn; a thread beside the others asks for the products",
            )
        if p["shared_bytes"]:
            yield "shared memory", f"{p['shared_bytes']:,} bytes a block"
        if p.get("registers") is not None:
            spills = p.get("local_bytes") or 0
            yield "registers", f"{p['registers']} a thread" + (f", {spills} bytes spilled" if spills else "")

    @property
    def svg(self):
        """The picture: the result in blocks and written tiles, and a block in warps. No script, no style sheet."""
        parts, x = [], 10
        p = self.plan
        if p["unit"]:
            rows, columns = ([1, *p["unit"]] if len(p["unit"]) == 1 else p["unit"])[-2:]
            tile = ([1, *self.tile_size] if len(self.tile_size) == 1 else self.tile_size or (rows, columns))[
                -2:
            ]
            blocks = _ends([*self.grid, 1][:2][::-1]) if self.grid else (2, 2)
            parts.append(_grid(x, blocks, "the result in blocks", f"each {rows} x {columns}"))
            x += CELL + 50
            inner = _ends((max(1, rows // tile[0]), max(1, columns // tile[1])))
            parts.append(_grid(x, inner, "a block in tiles", f"as written: {_by(tile)}"))
            x += CELL + 50
        if not p["unit"] and not p["tiles"]:
            parts.append(_grid(x, (1, 1), "the result at once", f"by {p['instructions']}"))
            x += CELL + 50
        for t in p["tiles"][:2]:
            down, across = (
                (t["down"], t["across"])
                if t["kind"] in ("matrix", "blocks")
                else (p["threads"] // 32 or 1, 1)
            )
            label = "warps" if t["kind"] != "blocks" else "threads"
            parts.append(
                _grid(x, _ends((down, across)), f"{_by(t['shape'])} over {label}", _lies(t, short=True), True)
            )
            x += CELL + 50
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{x}" height="{CELL + 56}" role="img">'
            f"<title>{html.escape(self.name)}</title>{''.join(parts)}</svg>"
        )

    def _repr_mimebundle_(self, include=None, exclude=None):
        rows = "".join(
            f"<tr><td>{html.escape(a)}</td><td>{html.escape(b)}</td></tr>" for a, b in self._lines()
        )
        image = base64.b64encode(self.svg.encode()).decode()
        picture = f'<img alt="tiles, blocks and warps" src="data:image/svg+xml;base64,{image}">'
        return {"text/plain": str(self), "text/html": f"<div>{picture}<table>{rows}</table></div>"}


def explained(kernel, args, target=None):
    """The Explanation of a kernel for the arguments of a call."""
    from xcuda import core

    about = kernel.about
    given = args
    if any(about.constants):
        kernel, args, _ = about.variant(tuple(args))
    device = core.Device()
    cpu = device.kind == "cpu"
    target = target or about.as_target or ("cpu" if cpu else device.architecture)
    elements = [_elements(a) for a in args]
    signature = types_from(tuple(args))
    plan = json.loads(_runtime.tile_plan(kernel, signature, target, elements))
    if target != "cpu":
        figures = _runtime.compile_for(kernel, signature, target, None, False, elements)
        plan |= {k: figures.get(k) for k in ("registers", "local_bytes", "occupancy")}
    last = kernel.last_launch
    return Explanation(about.py_func.__name__, about.tile_size, plan, _grid_of(plan, given, last))


def _grid_of(plan, args, last):
    if last and plan["target"] in ("cpu", "") and last["grid"]:
        dims = list(last["grid"])
        while len(dims) > 1 and dims[-1] == 1:
            dims.pop()
        return dims
    return None


def _elements(argument):
    read = _runtime.array_type(argument)
    return -1 if read is None else read[4]


def _by(lengths):
    return " x ".join(str(n) for n in lengths)


def _lies(t, short=False):
    if t["kind"] == "one thread":
        return "one thread, in vector registers"
    if t["kind"] == "whole":
        return "one number, which every thread has"
    if t["kind"] == "matrix":
        words = f"{t['down']} x {t['across']} warps of {t['rows']} x {t['columns']}"
    elif t["kind"] == "blocks":
        words = f"{t['down']} x {t['across']} threads of {t['rows']} x {t['columns']}"
    else:
        words = "row by row over the threads"
    return words if short else f"{words}, {t['registers']} numbers a thread"


def _ends(lengths):
    return tuple(min(MOST_LINES, max(1, n)) for n in lengths)


def _grid(x, cells, title, below, filled=False):
    rows, columns = cells
    w, h = CELL / columns, CELL / rows
    out = [_text(x, 14, title)]
    for r in range(rows):
        for c in range(columns):
            paint = (
                f'fill="{HUES[(r * columns + c) % len(HUES)]}" fill-opacity="0.45"'
                if filled
                else 'fill="none"'
            )
            out.append(
                f'<rect x="{x + c * w:.1f}" y="{22 + r * h:.1f}" width="{w:.1f}" height="{h:.1f}" {paint} '
                f'stroke="{INK}"/>'
            )
    out.append(_text(x, CELL + 40, below))
    return "".join(out)


def _text(x, y, text):
    return f'<text x="{x}" y="{y}" font-family="sans-serif" font-size="12" fill="{INK}">{html.escape(text)}</text>'
