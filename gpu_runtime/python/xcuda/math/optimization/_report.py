"""What tuning tried and gained, as text and as a table in a notebook."""

from __future__ import annotations

from html import escape

from . import _tuning


class Report:
    """The decisions so far: `rows` has them, newest last."""

    def __init__(self, rows):
        self.rows = list(rows)

    def __len__(self):
        return len(self.rows)

    def __str__(self):
        if not self.rows:
            return "nothing was tuned: call functions within `with nvmath.optimization.auto_tune():`"
        lines = []
        for row in self.rows:
            gain = "" if row.gain is None else f", {row.gain:.2f}x the plain way"
            lines.append(f"{row.what} {' '.join(map(_short, row.key))}: {row.winner} ({row.source}{gain})")
            for name, seconds in row.seconds.items():
                lines.append(f"    {name:<24} {_time(seconds):>10}")
            for name, why in row.why_not.items():
                lines.append(f"    {name:<24} no candidate: {why}")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self):
        rows = []
        for row in self.rows:
            tried = "<br>".join(f"{escape(n)}: {_time(s)}" for n, s in row.seconds.items())
            tried += "".join(f"<br>{escape(n)}: {escape(w)}" for n, w in row.why_not.items())
            gain = "" if row.gain is None else f"{row.gain:.2f}×"
            cells = (row.what, " ".join(map(_short, row.key)), row.winner, row.source, gain)
            rows.append("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in cells) + f"<td>{tried}</td></tr>")
        head = "".join(f"<th>{h}</th>" for h in ("what", "of", "taken", "by", "gain", "tried"))
        return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _short(part):
    text = " ".join(str(part).split())
    return text if len(text) <= 60 else text[:57] + "..."


def _time(seconds):
    return f"{seconds * 1e6:.0f} µs" if seconds < 1e-3 else f"{seconds * 1e3:.2f} ms"


def report():
    """What was tuned in this process: candidates, times, winners and what they gain."""
    return Report(_tuning.records)
