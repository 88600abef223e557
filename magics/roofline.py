"""The roofline of a report as a picture: what each kernel did a second against what the device can."""

from __future__ import annotations

import math

from xcuda import _svg as svg
from xcuda.magics.figures import in_unit, value

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 620, 340, 90, 20, 16, 44


def roofline(document: dict) -> tuple[str, str]:
    """(SVG, sentence). ValueError with the reason where no kernel of the report has a place on one."""
    devices = {d["device"]: d for d in document["devices"]}
    points, why = [], "no kernel ran"
    for kernel in document["kernels"]:
        rate, moved = value(kernel["flop_rate"]), _bytes(kernel)
        device = devices.get(kernel["device"])
        if not rate or not moved or device is None or "absent" in device["copy_bandwidth"]:
            why = _why_not(kernel, device)
            continue
        points.append((kernel, value(kernel["flops"]) / moved, rate))
    if not points:
        raise ValueError(why)
    device = devices[points[0][0]["device"]]
    points = [p for p in points if p[0]["device"] == device["device"]]
    return _drawn(document, device, points)


def _bytes(kernel: dict) -> float:
    return (value(kernel["bytes_read"]) or 0) + (value(kernel["bytes_written"]) or 0)


def _why_not(kernel: dict, device: dict | None) -> str:
    name = kernel["name"]
    for figure in (kernel["flop_rate"], kernel["bytes_read"]):
        if "absent" in figure:
            return f"{name}: {figure['absent']}"
    if device is None or "absent" in device["copy_bandwidth"]:
        return device["copy_bandwidth"]["absent"] if device else "the device's limits are not known"
    return f"{name} does no floating-point operation, or moves no bytes of global memory"


class Axes:
    """Both axes in logarithms: operations a byte to the right, operations a second upwards."""

    def __init__(self, low: tuple[float, float], high: tuple[float, float]):
        self.low, self.high = low, high

    def x(self, number: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * self._part(0, number)

    def y(self, number: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * self._part(1, number)

    def _part(self, axis: int, number: float) -> float:
        return math.log(number / self.low[axis]) / math.log(self.high[axis] / self.low[axis])

    def grid(self) -> list[str]:
        parts = []
        for number in _decades(self.low[0], self.high[0]):
            x = self.x(number)
            parts.append(svg.line(x, TOP, x, HEIGHT - BOTTOM, dashed=True))
            parts.append(svg.text(x, HEIGHT - BOTTOM + 16, f"{number:g}", "middle"))
        for number in _decades(self.low[1], self.high[1]):
            y = self.y(number)
            parts.append(svg.line(LEFT, y, WIDTH - RIGHT, y, dashed=True))
            parts.append(svg.text(LEFT - 6, y + 4, in_unit(number, "FLOP/s"), "end"))
        middle = (LEFT + WIDTH - RIGHT) / 2
        return [*parts, svg.text(middle, HEIGHT - 8, "operations a byte of memory (modelled)", "middle")]


def _drawn(document: dict, device: dict, points: list) -> tuple[str, str]:
    bandwidth = value(device["copy_bandwidth"])
    types = ["float64"] if all("float64" in k["signature"] for k, _, _ in points) else ["float64", "float32"]
    peaks = {name: device[f"peak_{name}"] for name in types}
    top = max(value(figure) for figure in peaks.values())
    ridge = top / bandwidth
    left = _decade(min([ridge / 30] + [x for _, x, _ in points]) / 1.5, math.floor)
    right = _decade(max([ridge * 10] + [x for _, x, _ in points]) * 1.5, math.ceil)
    rates = [rate for _, _, rate in points]
    bottom = _decade(min([bandwidth * left, *rates]) / 1.5, math.floor)
    axes = Axes((left, bottom), (right, _decade(max([top, *rates]) * 1.2, math.ceil)))
    colours = svg.colours_of(kernel["name"] for kernel, _, _ in points)
    parts = axes.grid() + _ceilings(axes, device["copy_bandwidth"], peaks) + _points(axes, points, colours)
    names, more = svg.legend(LEFT, HEIGHT, colours)
    told = f"Roofline of {document['scope']['label']} on {device['name']}: " + ", ".join(
        f"{kernel['name']} {in_unit(rate, 'FLOP/s')}" for kernel, _, rate in points[:6]
    )
    return svg.picture(WIDTH, HEIGHT + more + 4, parts + names, told), told


def _ceilings(axes: Axes, copy: dict, peaks: dict[str, dict]) -> list[str]:
    bandwidth, top = value(copy), max(value(figure) for figure in peaks.values())
    start = max(axes.low[0], axes.low[1] / bandwidth)
    x, y = axes.x(start), axes.y(bandwidth * start)
    words = f"copies {in_unit(bandwidth, 'B/s')} ({copy['source']})"
    parts = [
        svg.line(x, y, axes.x(top / bandwidth), axes.y(top), width=2),
        svg.text(x + 26, y - 6, words),
    ]
    for name, figure in peaks.items():
        peak = value(figure)
        y = axes.y(peak)
        words = f"{name} {in_unit(peak, 'FLOP/s')} ({figure['source']})"
        parts.append(svg.line(axes.x(peak / bandwidth), y, WIDTH - RIGHT, y, width=2))
        below = name == "float64" and len(peaks) > 1
        parts.append(svg.text(WIDTH - RIGHT, y + (14 if below else -5), words, "end"))
    return parts


def _points(axes: Axes, points: list, colours: dict[str, str]) -> list[str]:
    parts = []
    for kernel, intensity, rate in points:
        name, share = kernel["name"], value(kernel["roofline"]["share"])
        title = f"{name}: {in_unit(rate, 'FLOP/s')} at {intensity:.3g} FLOP/B"
        if share is not None:
            title += f", {in_unit(share, 'share')} of its limit"
        parts.append(svg.dot(axes.x(intensity), axes.y(rate), 5, colours[name], title))
    return parts


def _decade(number: float, rounded) -> float:
    return 10.0 ** rounded(math.log10(number))


def _decades(low: float, high: float) -> list[float]:
    first, last = round(math.log10(low)), round(math.log10(high))
    step = max(1, math.ceil((last - first) / 7))
    return [10.0**power for power in range(first, last + 1, step)]
