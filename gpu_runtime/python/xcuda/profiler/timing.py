"""What `benchmark` gives: spreads of seconds, with warm and with cold caches, and what they are of."""

from __future__ import annotations

import statistics
from dataclasses import dataclass


@dataclass(frozen=True)
class Spread:
    """Seconds of many calls: the median, the quartiles round it, the shortest and the longest."""

    samples: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.samples)

    @property
    def low(self) -> float:
        """The first quartile."""
        return self._quartile(0)

    @property
    def high(self) -> float:
        """The third quartile."""
        return self._quartile(2)

    @property
    def min(self) -> float:
        return min(self.samples)

    @property
    def max(self) -> float:
        return max(self.samples)

    def _quartile(self, which: int) -> float:
        if len(self.samples) < 2:
            return self.samples[0]
        return statistics.quantiles(self.samples, n=4, method="inclusive")[which]


@dataclass(frozen=True)
class Timing:
    """Calls under one state of the caches. Seconds; `device` and `host` are None where they are not known."""

    total: Spread  # from the call until the device was done
    returned: Spread  # from the call until it returned; later work of the device not counted
    device: Spread | None  # in which at least one kernel of the call ran, by the launches' own events
    host: Spread | None  # in which none ran: Python, copies, starting launches, waiting
    why_no_device: str = ""

    @property
    def calls(self) -> int:
        return len(self.total.samples)


@dataclass(frozen=True)
class Benchmark:
    """What `benchmark` measured. `warm.total.median` and the like are seconds."""

    name: str
    device_label: str
    first_call: float  # seconds of the very first call until the device was done, compiling included
    compiled: int  # kernels compiled in it
    warm: Timing
    cold: Timing | None
    why_no_cold: str = ""
    swept: str = ""  # how the caches were emptied
    launches: int = 0  # of one call
    copied: int = 0  # bytes between host and device in one call
    notes: tuple[str, ...] = ()

    @property
    def median(self) -> float:
        """Seconds of a call with warm caches, until the device was done."""
        return self.warm.total.median

    def __repr__(self) -> str:
        rows = [("warm", self.warm)] + ([("cold", self.cold)] if self.cold else [])
        lines = [f"{self.name}: {_text(self.median)} a call on {self.device_label}"]
        for label, timing in rows:
            parts = [f"{_text(timing.total.median)} ({_range(timing.total)})"]
            if timing.device is not None:
                parts.append(f"device {_text(timing.device.median)} ({_range(timing.device)})")
                parts.append(f"host {_text(timing.host.median)}")
            lines.append(f"  {label}  {', '.join(parts)}; {timing.calls} calls")
        lines += [f"  {note}" for note in self.told]
        return "\n".join(lines)

    @property
    def told(self) -> list[str]:
        """What was measured, and what was not, in sentences."""
        first = f"first call {_text(self.first_call)}"
        if self.compiled:
            first += f", with {self.compiled} kernel{'s' if self.compiled > 1 else ''} compiled"
        lines = [first]
        what = f"a call starts {self.launches} launch{'' if self.launches == 1 else 'es'}"
        lines.append(what + (f" and copies {self.copied:,} bytes" if self.copied else ""))
        if self.warm.why_no_device:
            lines.append(f"no device time: {self.warm.why_no_device}")
        if self.cold is not None:
            lines.append(f"cold: {self.swept}")
        elif self.why_no_cold:
            lines.append(f"no cold figures: {self.why_no_cold}")
        return lines + list(self.notes)

    def _repr_mimebundle_(self, include=None, exclude=None):
        from xcuda.profiler.shown import bundle

        return bundle("benchmark", self)


def _range(spread: Spread) -> str:
    return f"{_text(spread.low)} to {_text(spread.high)}"


def _text(seconds: float) -> str:
    from xcuda._runtime import in_unit

    return in_unit(seconds, "s")
