"""Pictures as SVG in an <img>: JupyterLab's sanitiser takes <svg> itself away. They have no ground of their own, and
colours that are read on white and on black alike."""

from __future__ import annotations

import base64
import html
import re

# Contrast of at least 4 (text) and 3 (shapes) with JupyterLab's light and dark grounds.
TEXT = "#757575"
LINE = "#8a8a8a"
COLOURS = ("#2f7fc1", "#c2571a", "#3a8f4d", "#8a63c9", "#b04a7a", "#8a7a1f", "#2a8a8f", "#a15c3e")

LEGEND = 17  # height of a line
FONT = "font-family='system-ui, sans-serif' font-size='12'"


def tint(colour: str, share: float = 0.28) -> str:
    """A colour on white, that dark letters are read on: so much of it."""
    return "#" + "".join(f"{round(255 - share * (255 - int(colour[i : i + 2], 16))):02x}" for i in (1, 3, 5))


def picture(width: int, height: int, parts: list[str], title: str) -> str:
    """The SVG document; `title` is what a screen reader says."""
    body = "\n".join(parts)
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' "
        f"height='{height}' role='img'>\n<title>{escaped(title)}</title>\n{body}\n</svg>\n"
    )


def image(svg: str, alt: str) -> str:
    """The <img> that shows an SVG document in a notebook."""
    data = base64.b64encode(svg.encode()).decode()
    return (
        f'<img src="data:image/svg+xml;base64,{data}" alt="{html.escape(printable(alt))}" '
        'style="max-width: 100%">'
    )


def text(x: float, y: float, words: str, anchor: str = "start") -> str:
    return (
        f"<text x='{x:.1f}' y='{y:.1f}' fill='{TEXT}' text-anchor='{anchor}' {FONT}>{escaped(words)}</text>"
    )


def line(x1: float, y1: float, x2: float, y2: float, dashed: bool = False, width: float = 1) -> str:
    dashes = " stroke-dasharray='2 4'" if dashed else ""
    return (
        f"<line x1='{x1:.1f}' y1='{y1:.1f}' x2='{x2:.1f}' y2='{y2:.1f}' stroke='{LINE}' "
        f"stroke-width='{width}'{dashes}/>"
    )


def box(x: float, y: float, width: float, height: float, colour: str, title: str = "") -> str:
    inside = f"<title>{escaped(title)}</title>" if title else ""
    return (
        f"<rect x='{x:.2f}' y='{y:.1f}' width='{max(width, 0.5):.2f}' height='{height:.1f}' "
        f"fill='{colour}'>{inside}</rect>"
    )


def dot(x: float, y: float, radius: float, colour: str, title: str) -> str:
    return f"<circle cx='{x:.1f}' cy='{y:.1f}' r='{radius:g}' fill='{colour}'><title>{escaped(title)}</title></circle>"


def escaped(words: str) -> str:
    return html.escape(printable(words), quote=True)


def printable(words: str) -> str:
    """Without the characters that XML can't hold."""
    return re.sub(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", words)


def shortened(words: str, most: int) -> str:
    return words if len(words) <= most else words[: most - 1] + "…"


def legend(x: float, y: float, colours: dict[str, str], most: int = 12) -> tuple[list[str], float]:
    """(parts, the height that they take): a line a name."""
    parts = []
    for name, colour in list(colours.items())[:most]:
        parts += [box(x, y, 10, 10, colour), text(x + 16, y + 9.5, shortened(name, 70))]
        y += LEGEND
    if len(colours) > most:
        parts.append(text(x + 16, y + 9.5, f"and {len(colours) - most} more"))
    return parts, LEGEND * min(len(colours), most + 1)


def colours_of(names) -> dict[str, str]:
    """A colour a name, in order of first appearance; they repeat where there are many."""
    distinct = dict.fromkeys(names)
    return {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(distinct)}
