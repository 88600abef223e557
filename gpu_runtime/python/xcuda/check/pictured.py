"""A Drawing as SVG and as text: arrays that are read, threads, arrays that are written, and arrows between them."""

from __future__ import annotations

import html
import math
from typing import NamedTuple

from xcuda import _svg as svg

MOST_THREADS, MOST_CELLS, MOST_ARROWS, MOST_PANELS, MOST_LINES = 64, 256, 600, 16, 100
CELL_WIDTH, CELL_HEIGHT, GAP, HEAD, ARROWS = 28, 18, 14, 18, 110
TIPS = 10  # between columns that arrows end at: their tips are seen there, the rest of them passes behind the cells
INK, FREE, TAKEN = "#333333", "#f6f6f6", "#dcdcdc"  # a label; a cell that no thread uses, or several
_SMALL = "font-family='system-ui, sans-serif' font-size='10'"


class Box(NamedTuple):
    """What is drawn as a grid of cells: an array, or a block's threads."""

    title: str
    cells: dict  # of an element or thread: (row, column)
    labels: dict
    pitch: int = CELL_WIDTH  # from a column to the next

    @property
    def rows(self) -> int:
        return 1 + max((r for r, _ in self.cells.values()), default=0)

    @property
    def columns(self) -> int:
        return 1 + max((c for _, c in self.cells.values()), default=0)

    @property
    def height(self) -> float:
        return HEAD + self.rows * CELL_HEIGHT

    @property
    def width(self) -> float:
        return max((self.columns - 1) * self.pitch + CELL_WIDTH, 7 * len(self.title))


class Arrow(NamedTuple):
    thread: tuple  # (block, thread)
    array: tuple  # (name, block): the block of a shared one
    index: tuple
    did: str


def pictured(drawing) -> tuple[str, list[str]]:
    """(SVG document, a sentence for each thing that is not in it)."""
    notes = []
    threads = _threads(drawing, notes)
    panels = _panels(drawing, {t for box in threads for t in box.cells}, notes)
    colours = {
        t: svg.COLOURS[i % len(svg.COLOURS)] for i, t in enumerate(t for b in threads for t in b.cells)
    }
    parts, y, width = [], 8.0, 0.0
    for phase, arrows in panels:
        drawn, bottom, right = _panel(drawing, threads, arrows, colours, y, notes)
        if phase is not None:
            parts.append(svg.text(8, y + 10, phase))
        parts += drawn
        y, width = bottom + GAP, max(width, right)
    title = f"what the threads of {drawing.kernel} read and write"
    return svg.picture(math.ceil(width) + 8, math.ceil(y), parts, title), list(dict.fromkeys(notes))


def _threads(drawing, notes) -> list[Box]:
    """A box a block, with as many threads as fit."""
    gx, gy, gz = drawing.grid
    blocks = [(x, y, z) for z in range(gz) for y in range(gy) for x in range(gx)]
    if drawing.drawn_block is not None:
        blocks = [drawing.drawn_block]
    bx, by, bz = drawing.block_shape
    lanes = [(x, y, z) for z in range(bz) for y in range(by) for x in range(bx)]
    axes = max(i + 1 for i, n in enumerate(drawing.block_shape) if n > 1 or i == 0)
    several = math.prod(drawing.grid) > 1
    room, boxes = MOST_THREADS, []
    for block in blocks:
        shown = lanes[:room]
        room -= len(shown)
        if not shown:
            break
        cells = {(block, t): (t[0] + t[2] * bx, t[1]) for t in shown}
        labels = {key: ",".join(map(str, key[1][:axes])) for key in cells}
        boxes.append(Box(_block(block, drawing) if several else "threads", cells, labels, CELL_WIDTH + TIPS))
    drawn, looked_at = sum(len(b.cells) for b in boxes), len(blocks) * len(lanes)
    if drawn < looked_at:
        notes.append(f"The picture shows {drawn} of {looked_at:,} threads: launch fewer to see all.")
    return boxes


def _panels(drawing, shown, notes) -> list:
    """[(its heading, arrows)]: what happens between two barriers."""
    found: dict[int, dict[Arrow, None]] = {}
    for a in drawing.accesses:
        if (a.block, a.thread) in shown:
            array = (a.array, a.block if a.array in drawing.shared else None)
            found.setdefault(a.phase, {})[Arrow((a.block, a.thread), array, a.index, a.did)] = None
    if not drawing.complete:
        notes.append(f"The kernel does more than the {len(drawing)} accesses that were looked at.")
    panels = [(phase, list(arrows)) for phase, arrows in sorted(found.items())]
    if len(panels) > MOST_PANELS:
        notes.append(f"The picture ends after {MOST_PANELS} of {len(panels)} stretches between barriers.")
        panels = panels[:MOST_PANELS]
    if len(panels) <= 1:
        return [(None, arrows) for _, arrows in panels] or [(None, [])]
    return [
        ("before the first barrier" if phase == 0 else f"after barrier {phase}", arrows)
        for phase, arrows in panels
    ]


def _panel(drawing, threads, arrows, colours, top, notes):
    """(parts, bottom, right edge) of one stretch."""
    if len(arrows) > MOST_ARROWS:
        notes.append(
            f"The picture has {MOST_ARROWS} of {len(arrows)} arrows of a stretch: smaller arrays or fewer threads "
            "show all."
        )
        arrows = arrows[:MOST_ARROWS]
    left = _arrays(drawing, [a for a in arrows if a.did == "reads"], CELL_WIDTH, notes)
    right = _arrays(drawing, [a for a in arrows if a.did != "reads"], CELL_WIDTH + TIPS, notes)
    columns = [left, {box.title: box for box in threads}, right]
    widths = [max((box.width for box in column.values()), default=0) for column in columns]
    heights = [sum(box.height + GAP for box in column.values()) for column in columns]
    middle = top + HEAD + max(heights) / 2
    xs = [8.0, 8 + widths[0] + ARROWS * bool(left), 0.0]
    xs[2] = xs[1] + widths[1] + ARROWS
    at, frames, words, users_of = [{}, {}, {}], [], [], {}
    for a in arrows:
        users_of.setdefault((a.array, a.index), set()).add(a.thread)
    for i, column in enumerate(columns):
        y = middle - heights[i] / 2
        for key, box in column.items():
            words.append(svg.text(xs[i], y + 12, box.title))
            for cell, (row, col) in box.cells.items():
                x, cy = xs[i] + col * box.pitch, y + HEAD + row * CELL_HEIGHT
                at[i][(key, cell) if i != 1 else cell] = (x, cy)
                users = users_of.get((key, cell), set()) if i != 1 else {cell}
                frames.append(_frame(x, cy, [colours[t] for t in users if t in colours], i == 1))
                words.append(_label(x, cy, box.labels[cell]))
            y += box.height + GAP
    lines = []
    for a in arrows:
        array = at[0 if a.did == "reads" else 2].get((a.array, a.index))
        if array is None:
            continue
        x, y = at[1][a.thread]
        ends = (
            [(array[0] + CELL_WIDTH, array[1]), (x, y)] if a.did == "reads" else [(x + CELL_WIDTH, y), array]
        )
        lines.append(_arrow(ends, colours[a.thread], a.did == "changes"))
    edge = xs[2] + widths[2] if right else xs[1] + widths[1]
    return lines + frames + words, top + HEAD + max(heights), edge


def _titled(array, drawing) -> str:
    name, block = array
    return name if block is None or math.prod(drawing.grid) == 1 else f"{name} of {_block(block, drawing)}"


def _block(block, drawing) -> str:
    """ "block 1", "block (0, 1)": with as many axes as the grid has."""
    axes = max(i + 1 for i, n in enumerate(drawing.grid) if n > 1 or i == 0)
    return f"block {block[0]}" if axes == 1 else f"block ({', '.join(map(str, block[:axes]))})"


def _arrays(drawing, arrows, pitch, notes) -> dict[tuple, Box]:
    """The arrays that these arrows touch, cut to what is touched of them where they are large."""
    touched: dict[tuple, list] = {}
    for a in arrows:
        touched.setdefault(a.array, []).append(a.index)
    boxes = {}
    for array, indices in touched.items():
        shape = drawing.arrays[array[0]]
        low, high = [0] * len(shape), list(shape)
        if math.prod(shape) > MOST_CELLS or (len(shape) == 1 and shape[0] > MOST_THREADS):
            low = [min(i[axis] for i in indices) for axis in range(len(shape))]
            high = [max(i[axis] for i in indices) + 1 for axis in range(len(shape))]
        cells, labels = {}, {}
        inside = [high[axis] - low[axis] for axis in range(len(shape))]
        # Rows of the picture are all axes but the last; a vector goes downwards.
        for number in range(min(math.prod(inside), MOST_CELLS)):
            index, rest = [], number
            for axis in reversed(range(len(shape))):
                index.append(low[axis] + rest % inside[axis])
                rest //= inside[axis]
            index = tuple(reversed(index))
            cells[index] = (number // inside[-1], number % inside[-1]) if len(shape) > 1 else (number, 0)
            labels[index] = ",".join(map(str, index))
        if math.prod(inside) > MOST_CELLS:
            notes.append(f"The picture shows {MOST_CELLS} elements of {array[0]}: a smaller array shows all.")
        boxes[array] = Box(_titled(array, drawing), cells, labels, pitch)
    return boxes


def _frame(x, y, colours, is_thread) -> str:
    """A chip that hides the arrows behind it, light in both themes, of a tint of the one thread that uses it."""
    fill = svg.tint(colours[0]) if len(colours) == 1 else TAKEN if colours else FREE
    radius = " rx='8'" if is_thread else ""
    return (
        f"<rect x='{x + 1:.1f}' y='{y + 1:.1f}' width='{CELL_WIDTH - 2}' height='{CELL_HEIGHT - 2}'{radius} "
        f"fill='{fill}' stroke='{svg.LINE}'/>"
    )


def _label(x, y, words) -> str:
    return (
        f"<text x='{x + CELL_WIDTH / 2:.1f}' y='{y + 13:.1f}' fill='{INK}' text-anchor='middle' {_SMALL}>"
        f"{svg.escaped(words)}</text>"
    )


def _arrow(ends, colour, both) -> str:
    (x1, y1), (x2, y2) = ((x, y + CELL_HEIGHT / 2) for x, y in ends)
    line = f"<line x1='{x1:.1f}' y1='{y1:.1f}' x2='{x2:.1f}' y2='{y2:.1f}' stroke='{colour}' stroke-opacity='0.75'/>"
    return line + _tip(x1, y1, x2, y2, colour) + (_tip(x2, y2, x1, y1, colour) if both else "")


def _tip(x1, y1, x2, y2, colour) -> str:
    turned = math.degrees(math.atan2(y2 - y1, x2 - x1))
    return f"<path d='M0 0L-7 -3L-7 3Z' fill='{colour}' transform='translate({x2:.1f} {y2:.1f}) rotate({turned:.0f})'/>"


def head_of(drawing) -> str:
    where = "" if drawing.drawn_block is None else f", block {drawing.drawn_block}"
    return f"{drawing.kernel}[{drawing.grid}, {drawing.block_shape}]{where} on the CPU device: {len(drawing)} accesses"


def accesses_text(drawing) -> str:
    """A line a thread and stretch between barriers."""
    rows: dict[tuple, dict[str, dict[str, int]]] = {}
    for a in drawing.accesses:
        did = rows.setdefault((a.phase, a.block, a.thread), {}).setdefault(a.did, {})
        did[a.element] = did.get(a.element, 0) + 1
    barriers = any(phase for phase, _, _ in rows)
    lines = [head_of(drawing)]
    for (phase, block, thread), did in sorted(rows.items(), key=lambda row: row[0])[:MOST_LINES]:
        where = f" of block {block}" if math.prod(drawing.grid) > 1 else ""
        stretch = f"after barrier {phase}: " if phase else "at first: " if barriers else ""
        said = "; ".join(f"{what} {_elements(of)}" for what, of in did.items())
        lines.append(f"  {stretch}thread {thread}{where} {said}")
    if len(rows) > MOST_LINES:
        lines.append(f"  ... {len(rows) - MOST_LINES} more")
    return "\n".join(lines + drawing.notes)


def _elements(counts: dict[str, int], most: int = 8) -> str:
    words = [name + (f" {n} times" if n > 1 else "") for name, n in counts.items()]
    return ", ".join(words[:most]) + (f" and {len(words) - most} more" if len(words) > most else "")


def accesses_html(drawing) -> str:
    notes = "".join(f'<div style="opacity: 0.75">{html.escape(note)}</div>' for note in drawing.notes)
    picture = svg.image(drawing.svg, f"what the threads of {drawing.kernel} read and write")
    return f"<div><b>{html.escape(head_of(drawing))}</b></div>{picture}{notes}"
