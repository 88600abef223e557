"""A report as HTML. Written out here and not in a template: a cell waits for it, and this takes a third of the time."""

from __future__ import annotations

import html
from functools import lru_cache

from xcuda.magics import figures
from xcuda.magics.rows import Row

NAME = "text-align: left; padding: 0.1em 1em 0.1em 0; white-space: nowrap"
CELL = "text-align: left; padding: 0.1em 1em 0.1em 0"
FROM = "text-align: left; padding: 0.1em 1em 0.1em 0; opacity: 0.7"
TABLE = '<table style="border-collapse: collapse; margin: 0.3em 0">'
HEADS = (
    "kernel",
    "calls",
    "time in all",
    "a call",
    "memory rate",
    "arithmetic rate",
    "share of the roofline",
)

escaped = lru_cache(maxsize=4096)(html.escape)  # labels, units and reasons are the same in each report


def page(
    r: dict, line: str, rows: list[list[Row]], unfolded: bool, pictures: list[str], collected: list[str]
) -> str:
    """`line` folds out into the figures of each kernel (`rows`), the advice, compiles, copies and devices."""
    kernels, several = r["kernels"], len(r["kernels"]) > 1
    parts = [
        f'<details{" open" if unfolded else ""} style="font-size: 90%; margin: 0.2em 0">'
        f'<summary style="cursor: pointer; opacity: 0.75">{escaped(line)}</summary>\n'
        '<div style="margin: 0.3em 0 0.6em 1.2em">\n'
    ]
    if several:
        parts.append(_overview(kernels, len(rows)))
    for kernel, figures_here in zip(kernels, rows, strict=False):
        parts.append(_kernel(kernel, figures_here, several))
    parts += map(_hint, r["advice"])
    parts.append(f"{TABLE}<tbody>\n")
    parts += map(_compile, r["compiles"])
    parts += map(_copy, r["copies"])
    if history := r.get("history"):
        before = ", ".join(f"{escaped(run['label'])}: {figures.text(run['time'])}" for run in history[-8:])
        parts.append(_row("these kernels before", before, history[-1]["time"]))
    parts += map(_device, r["devices"])
    parts.append("</tbody></table>\n")
    parts += [f'<div style="margin: 0.4em 0">{picture}</div>\n' for picture in pictures if picture]
    parts += [f'<div style="opacity: 0.75">{escaped(sentence)}</div>\n' for sentence in collected]
    if lost := r["lost_events"]:
        parts.append(f"<div>{lost} earlier events were lost: the log keeps the last 65536.</div>\n")
    parts.append("</div></details>")
    return "".join(parts)


def _row(name: str, inside: str, figure: dict) -> str:
    """`inside` is HTML; the figure tells where it is from."""
    return (
        f'<tr><td style="{NAME}">{escaped(name)}</td><td style="{CELL}">{inside}</td>'
        f'<td style="{FROM}">{escaped(figures.origin(figure))}</td></tr>\n'
    )


def _overview(kernels: list[dict], count: int) -> str:
    head = "".join(f'<th style="{CELL}">{name}</th>' for name in HEADS)
    lines = [f"{TABLE}\n<thead><tr>{head}</tr></thead>\n<tbody>\n"]
    for k in kernels[:count]:
        texts = [k["name"], str(k["calls"])]
        texts += map(
            figures.text,
            (k["time"]["total"], k["time"]["mean"], k["bandwidth"], k["flop_rate"], k["roofline"]["share"]),
        )
        cells = "".join(f'<td style="{CELL}">{escaped(text)}</td>' for text in texts)
        lines.append(f"<tr>{cells}</tr>\n")
    lines.append("</tbody></table>\n")
    if len(kernels) > count:
        lines.append(f"<div>and {len(kernels) - count} more rows in the report's data</div>\n")
    return "".join(lines)


def _kernel(k: dict, rows: list[Row], several: bool) -> str:
    at = figures.place(k["place"])
    title = f"<b>{escaped(k['name'])}</b> <code>{escaped(figures.signature(k))}</code>"
    lines = [f"{TABLE}<tbody>\n"]
    for _key, label, text, origin, meter in rows:
        drawn = f' <meter min="0" max="1" value="{min(meter, 1):.3f}"></meter>' if meter is not None else ""
        style = NAME if len(label) < 30 else CELL
        lines.append(
            f'<tr><td style="{style}">{escaped(label)}</td><td style="{CELL}">{escaped(text)}{drawn}</td>'
            f'<td style="{FROM}">{escaped(origin)}</td></tr>\n'
        )
    lines.append("</tbody></table>\n")
    lines += [f"<div>Warning: {escaped(warning)}</div>\n" for warning in k["warnings"]]
    table = "".join(lines)
    if not several:
        return f"<div>{title} on {escaped(k['device'])}{f', {escaped(at)}' if at else ''}</div>\n{table}"
    shape = f"{figures.shape(k['grid'])}, {figures.shape(k['block'])}{f' ({escaped(at)})' if at else ''}"
    return f'<details><summary style="cursor: pointer">{title} {shape}</summary>\n{table}</details>\n'


def _hint(a: dict) -> str:
    at = figures.place(a["place"])
    where = f' <span style="opacity: 0.7">({escaped(a["kernel"])}, {escaped(at)})</span>' if at else ""
    return f'<div style="margin: 0.2em 0">Hint: {escaped(a["text"])}{where}</div>\n'


def _compile(c: dict) -> str:
    name = "compiled" if c["from"] == "compiled" else f"from the cache ({c['from']})"
    inside = f"{escaped(c['kernel'])} <code>{escaped(c['signature'])}</code> in {figures.text(c['time'])}"
    return _row(name, inside, c["time"])


def _copy(c: dict) -> str:
    name = "filled" if c["direction"] == "fill" else f"copied {c['direction']}"
    name += " by other libraries" if c.get("foreign") else ""
    calls = f"{c['calls']} call{'' if c['calls'] == 1 else 's'}"
    rate = f" ({figures.text(c['bandwidth'])})" if "value" in c["bandwidth"] else ""
    return _row(name, f"{figures.text(c['bytes'])} in {calls}, {figures.text(c['time'])}{rate}", c["bytes"])


def _device(d: dict) -> str:
    copies, peak = d["copy_bandwidth"], d["peak_float32"]
    rates = ""
    if "value" in copies:
        rates = (
            f"; copies at {figures.text(copies)} ({escaped(figures.origin(copies))}), multiply-adds at "
            f"{figures.text(peak)} (float32, {escaped(figures.origin(peak))})"
        )
    inside = f"{escaped(d['name'])}; memory in use {figures.text(d['memory_used'])}{rates}"
    return _row(d["device"], inside, d["memory_used"])
