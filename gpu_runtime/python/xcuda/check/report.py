"""What a check found: findings by line, of one launch and of all launches of a while."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Finding:
    """One thing that is wrong in a kernel.

    rule: a name out of rules(). file, line: of the user's source; other_line: a race's second line, 0 for none.
    evidence: what was seen there, with threads, index and numbers. advice: what to write instead. subject: the array or
    operation it is about. count: how often it was seen, in all orders.
    """

    rule: str
    file: str
    line: int
    evidence: str
    advice: str
    other_line: int = 0
    subject: str = ""
    count: int = 1

    def __str__(self) -> str:
        return f"line {self.line}: {self.evidence}; {self.advice}"


@dataclasses.dataclass(frozen=True)
class Launch:
    """What was found in one launch.

    grid, block: (x, y, z). orders: how many orders of threads and blocks it ran in. steps: accesses that were looked
    at, of all orders; complete: False where there were more than the check was asked to look at. notes: sentences on
    what is no fault. fault: what the kernel itself raised, "" for nothing. device: where it ran to be looked at, "the
    CPU device" or a GPU as "cuda:0".
    """

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    orders: int
    steps: int
    complete: bool
    fault: str = ""
    device: str = "the CPU device"


class Report:
    """All launches that were checked; iterating gives their findings, each line and kind once.

    skipped: {kernel: launches that were not looked at}, with `why` for each.
    """

    def __init__(self):
        self.launches: list[Launch] = []
        self.skipped: dict[tuple[str, str], int] = {}

    @property
    def findings(self) -> list[Finding]:
        """In the order of lines; what several launches showed alike is there once, with the counts added."""
        merged: dict[tuple, Finding] = {}
        for launch in self.launches:
            for f in launch.findings:
                key = (f.rule, f.file, f.line, f.other_line, f.subject)
                known = merged.get(key)
                merged[key] = f if known is None else dataclasses.replace(known, count=known.count + f.count)
        return sorted(merged.values(), key=lambda f: (f.file, f.line))

    @property
    def notes(self) -> list[str]:
        """What could not be looked at, and why; errors that kernels raised themselves."""
        found = dict.fromkeys(note for launch in self.launches for note in launch.notes)
        found.update(
            dict.fromkeys(
                f"{launch.kernel} ended with its own error: {launch.fault}"
                for launch in self.launches
                if launch.fault and not launch.findings
            )
        )
        for (kernel, why), count in self.skipped.items():
            found[f"{count} launch{'es' if count > 1 else ''} of {kernel} not looked at: {why}"] = None
        if not all(launch.complete for launch in self.launches):
            found["some launches did more than was looked at: steps=... (--steps) looks at more"] = None
        return list(found)

    def of(self, rule: str) -> list[Finding]:
        """The findings of one rule."""
        return [f for f in self.findings if f.rule == rule]

    def without(self, rules) -> Report:
        """A report that leaves findings of these rules out."""
        made = Report()
        made.skipped = self.skipped
        made.launches = [
            dataclasses.replace(x, findings=tuple(f for f in x.findings if f.rule not in rules))
            for x in self.launches
        ]
        return made

    def __iter__(self):
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __bool__(self) -> bool:
        return True

    @property
    def head(self) -> str:
        """One line: what was looked at, where, and how much was found."""
        kernels = list(dict.fromkeys(launch.kernel for launch in self.launches))
        if not kernels:
            return "no kernel was launched: there is nothing to check"
        names = ", ".join(kernels) if len(kernels) <= 3 else f"{len(kernels)} kernels"
        count, n = len(self.findings), len(self.launches)
        found = f"{count} finding{'s' if count > 1 else ''}" if count else "nothing found"
        steps = sum(launch.steps for launch in self.launches)
        orders = max(launch.orders for launch in self.launches)
        where = " and ".join(dict.fromkeys(launch.device for launch in self.launches))
        return (
            f"{names}: {found} ({n} launch{'es' if n > 1 else ''}, {steps} accesses looked at on {where}, "
            f"in {orders} order{'s' if orders != 1 else ''} of threads and blocks)"
        )

    def __repr__(self) -> str:
        lines = [self.head]
        for f in self.findings:
            lines += [f"  line {f.line} ({f.rule}): {f.evidence}{times(f)}", f"    -> {f.advice}"]
        return "\n".join(lines + [f"  note: {note}" for note in self.notes])


def times(finding: Finding) -> str:
    """ " (seen 64 times)", empty for once."""
    return f" (seen {finding.count} times)" if finding.count > 1 else ""
