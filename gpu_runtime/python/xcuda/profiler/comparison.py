"""Two reports side by side: what became faster or slower, and what else changed with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

# A difference below this share is noise unless the calls' own spread says otherwise.
SMALL = 0.05


class Pair(NamedTuple):
    """A kernel of the first report with the one of the second that stands in its place."""

    before: dict
    after: dict

    @property
    def name(self) -> str:
        names = dict.fromkeys((self.before["name"], self.after["name"]))
        return " → ".join(names)

    @property
    def ratio(self) -> float | None:
        """How many times as fast a call became; below 1: slower. None where either was not measured."""
        before, after = _value(self.before["time"]["mean"]), _value(self.after["time"]["mean"])
        return before / after if before and after else None

    @property
    def changes(self) -> list[str]:
        """What else is different: launch shape, types, bytes, operations, how it runs."""
        return list(_changes(self.before, self.after))


@dataclass(frozen=True)
class Comparison:
    """`before.compare(after)`: its `pairs`, kernels that only one of them has, and the whole."""

    before: dict  # documents
    after: dict
    pairs: list[Pair]
    gone: list[dict]  # kernels of the first only
    new: list[dict]

    @property
    def ratio(self) -> float | None:
        """How many times as fast all kernels together became, by their device time."""
        before, after = (_value(d["totals"]["device_time"]) for d in (self.before, self.after))
        return before / after if before and after else None

    def faster(self) -> list[Pair]:
        """Pairs whose calls became faster by more than noise, the largest saving first."""
        return sorted((p for p in self.pairs if (p.ratio or 1) > 1 + SMALL), key=_saving, reverse=True)

    def slower(self) -> list[Pair]:
        return sorted((p for p in self.pairs if (p.ratio or 1) < 1 / (1 + SMALL)), key=_saving)

    def lines(self) -> list[str]:
        """The comparison in sentences."""
        labels = f"{self.before['scope']['label']} → {self.after['scope']['label']}"
        lines = [f"{labels}: kernels {words(self.ratio)}"]
        for pair in self.pairs:
            lines.append(f"{pair.name}: {_times(pair)}, {words(pair.ratio)}")
            lines += [f"  {change}" for change in pair.changes]
        lines += [f"{kernel['name']}: only before" for kernel in self.gone]
        lines += [f"{kernel['name']}: only after" for kernel in self.new]
        for name, what in (("compile_time", "compiling"), ("copy_time", "copies")):
            was, now = (d["totals"][name] for d in (self.before, self.after))
            if (_value(was) or 0) != (_value(now) or 0):
                lines.append(f"{what}: {_text(was)} → {_text(now)}")
        return lines

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def _repr_mimebundle_(self, include=None, exclude=None):
        from xcuda.profiler.shown import bundle

        return bundle("comparison", self)


def compare(before: dict, after: dict) -> Comparison:
    """Pairs kernels by name and argument types, then by name, then by their place among those left over."""
    old, new = list(before["kernels"]), list(after["kernels"])
    pairs: list[Pair] = []
    for key in (
        lambda k: (k["name"], k["signature"], k["grid"], k["block"]),
        lambda k: (k["name"], k["signature"]),
        lambda k: k["name"],
    ):
        for kernel in list(old):
            match = next((k for k in new if key(k) == key(kernel)), None)
            if match is not None:
                pairs.append(Pair(kernel, match))
                old.remove(kernel)
                new.remove(match)
    if len(old) == len(new) == 1 and not pairs:  # one kernel, written anew under another name
        pairs.append(Pair(old.pop(), new.pop()))
    order = [id(k) for k in before["kernels"]]
    pairs.sort(key=lambda pair: order.index(id(pair.before)))
    return Comparison(before, after, pairs, old, new)


def words(ratio: float | None) -> str:
    """words(2.5) is "2.5x as fast"; words(0.5) is "2x as slow"."""
    if ratio is None:
        return "not both measured"
    if 1 / (1 + SMALL) <= ratio <= 1 + SMALL:
        return "about as fast"
    return f"{ratio:.3g}x as fast" if ratio > 1 else f"{1 / ratio:.3g}x as slow"


def _changes(before: dict, after: dict):
    for key, label in (("device", "device"), ("signature", "argument types"), ("how", "runs with")):
        if before[key] != after[key]:
            yield f"{label}: {before[key] or 'not told'} → {after[key] or 'not told'}"
    for key in ("grid", "block"):
        if before[key] != after[key]:
            yield f"{key}: {_shape(before[key])} → {_shape(after[key])}"
    for key, label in (
        ("bytes_read", "bytes read"),
        ("bytes_written", "bytes written"),
        ("flops", "floating-point operations"),
        ("registers", "registers"),
        ("local_bytes", "local memory"),
        ("shared_bytes", "shared memory"),
        ("bandwidth", "memory rate"),
        ("flop_rate", "arithmetic rate"),
    ):
        if _differ(before[key], after[key]):
            yield f"{label}: {_text(before[key])} → {_text(after[key])}"
    for key, label in (("occupancy", "occupancy"), ("roofline", "share of the roofline")):
        was, now = before[key]["share"], after[key]["share"]
        if _differ(was, now):
            yield f"{label}: {_text(was)} → {_text(now)}"
    if before["roofline"].get("bound") != after["roofline"].get("bound"):
        yield f"limited by: {before['roofline'].get('bound', '–')} → {after['roofline'].get('bound', '–')}"


def _differ(before: dict, after: dict) -> bool:
    was, now = _value(before), _value(after)
    if was is None or now is None:
        return was is not now
    return abs(was - now) > SMALL * max(abs(was), abs(now))


def _saving(pair: Pair) -> float:
    calls = pair.after["calls"]
    return calls * (pair.before["time"]["mean"]["value"] - pair.after["time"]["mean"]["value"])


def _times(pair: Pair) -> str:
    return f"{_text(pair.before['time']['mean'])} → {_text(pair.after['time']['mean'])} a call"


def _value(figure: dict) -> float | None:
    return figure.get("value")


def _text(figure: dict) -> str:
    from xcuda._runtime import in_unit

    if "absent" in figure:
        return "–"
    if figure["unit"] == "share":
        return f"{figure['value']:.0%}" if figure["value"] >= 0.1 else f"{figure['value']:.2%}"
    return f"{figure['value']:g}" if figure["unit"] == "1" else in_unit(figure["value"], figure["unit"])


def _shape(dims: list[int]) -> str:
    return "x".join(map(str, dims)).removesuffix("x1").removesuffix("x1")
