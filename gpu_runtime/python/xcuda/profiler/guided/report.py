"""What the optimiser tried, measured and chose, as text, as HTML and as data."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from html import escape


@dataclass
class Trial:
    """One variant. outcome: "given", "chosen", "kept back" (right, but not the fastest), "rejected", "failed".

    seconds, given_seconds: median device times, measured in turns; None where it was not measured. deviation: the
    largest difference of its results, relative to the largest value. note: why it was rejected or failed.
    """

    name: str
    device: str
    outcome: str
    seconds: float | None = None
    given_seconds: float | None = None
    deviation: float | None = None
    note: str = ""

    @property
    def gain(self) -> float | None:
        """How many times faster than the kernel as given."""
        if not self.seconds or not self.given_seconds:
            return None
        return self.given_seconds / self.seconds


@dataclass
class OptimizationReport:
    """The report of one optimize(). Times are device times, medians of runs in turns after a warm-up.

    arguments: of each parameter a dict with what the sample held (ranges, shapes). branches: of each line with a
    branch, how often it was taken. source: "measured" now, or "disk" for a choice that an earlier process made.
    """

    kernel: str
    device: str
    trials: list[Trial] = field(default_factory=list)
    arguments: list[dict] = field(default_factory=list)
    branches: list[dict] = field(default_factory=list)
    winner: str = "as given"
    gain: float = 1.0
    why: str = ""
    tolerance: str = ""
    source: str = "measured"
    notes: list[str] = field(default_factory=list)

    @property
    def variants(self) -> list[Trial]:
        """What was tried, the kernel as given first."""
        return self.trials

    def to_json(self) -> dict:
        """All of it as plain data; from_json is the way back."""
        return asdict(self)

    @staticmethod
    def from_json(data: dict) -> OptimizationReport:
        """Raises TypeError or KeyError for what is no report."""
        return OptimizationReport(**(data | {"trials": [Trial(**row) for row in data["trials"]]}))

    def __repr__(self) -> str:
        rows = [_row(t) for t in self.trials]
        widths = [max(len(row[i]) for row in [_HEAD, *rows]) for i in range(len(_HEAD))]
        lines = [
            "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in [_HEAD, *rows]
        ]
        return "\n".join([self._first_line(), "", *lines, "", *self._sample_lines(), *self._last_lines()])

    def _repr_html_(self) -> str:
        def cells(row, tag):
            return "".join(f"<{tag}>{escape(c)}</{tag}>" for c in row)

        body = "".join(f"<tr>{cells(_row(t), 'td')}</tr>" for t in self.trials)
        told = "".join(f"<li>{escape(line)}</li>" for line in [*self._sample_lines(), *self._last_lines()])
        return (
            f"<p><b>{escape(self._first_line())}</b></p>"
            f"<table><thead><tr>{cells(_HEAD, 'th')}</tr></thead><tbody>{body}</tbody></table>"
            f"<details><summary>The sample, and how it was measured</summary><ul>{told}</ul></details>"
        )

    def _first_line(self) -> str:
        from_disk = ", chosen by an earlier run" if self.source == "disk" else ""
        return f"{self.kernel} on {self.device}: {self.winner}, {self.gain:.2f}x{from_disk}; {self.why}"

    def _sample_lines(self) -> list[str]:
        lines = [f"{a['name']}: {a['text']}" for a in self.arguments]
        for b in self.branches:
            lines.append(
                f"line {b['line']}: taken by {b['taken']:.0%} of {b['threads']} threads"
                + (f", {b['divergent']:.0%} of the warps part" if b["divergent"] else "")
            )
        return lines

    def _last_lines(self) -> list[str]:
        return [f"results: {self.tolerance}", *self.notes]


_HEAD = ("variant", "device", "time", "gain", "outcome")


def _row(trial: Trial) -> tuple[str, ...]:
    gain = "" if trial.gain is None else f"{trial.gain:.2f}x"
    outcome = f"{trial.outcome}: {trial.note}" if trial.note else trial.outcome
    return (trial.name, trial.device, _time(trial.seconds), gain, outcome)


def _time(seconds) -> str:
    if seconds is None:
        return ""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
