"""What a finding says, done to the user's own kernel: its text with the change, where the change is mechanical."""

from __future__ import annotations

import ast
import dataclasses
import difflib

from xcuda.profiler.rewrites import accesses, arithmetic, flow, launches, shared
from xcuda.profiler.rewrites.source import NoRewriteError, Source

# By rule: a function over (source, finding, context) that edits the source and gives what else has to change.
RULES = {
    "strided-access": accesses.swap_axes,
    "bank-conflict": accesses.pad,
    "accumulation-in-memory": accesses.keep_in_variable,
    "loop-invariant-load": accesses.load_before,
    "out-of-range": accesses.guard,
    "race": flow.add_barrier,
    "divergent-barrier": flow.barrier_outside,
    "divergent-branch": flow.choose_value,
    "float64-arithmetic": arithmetic.narrow,
    "integer-division": arithmetic.count_along,
    "contended-atomics": shared.own_counters,
    "repeated-reads": shared.tile,
    "unused": launches.take_out,
    "part-warp": launches.whole_warps,
    "register-spills": launches.without_limit,
    "low-occupancy": launches.with_limit,
}


@dataclasses.dataclass(frozen=True)
class Rewrite:
    """A kernel's text with one finding's change.

    text: the whole function. note: what changes beside it, "" for nothing. lines: the changed lines, as diff has them.
    """

    text: str
    note: str
    lines: tuple[str, ...]

    def __str__(self) -> str:
        note = self.note if "](...)" in self.note else f"# {self.note}"  # a launch is code
        return "\n".join([*self.lines, *([note] if self.note else [])])


@dataclasses.dataclass(frozen=True)
class Context:
    """The call that was looked at: its arguments by name, and its launch."""

    values: dict
    grid: tuple[int, int, int]
    block: tuple[int, int, int]

    def array(self, name):
        """The argument of this name if it is an array, else None."""
        value = self.values.get(name)
        return value if getattr(value, "ndim", 0) else None

    @property
    def float_bits(self) -> int:
        """Of the widest floating-point array."""
        widths = [
            v.dtype.itemsize for v in self.values.values() if getattr(v, "ndim", 0) and v.dtype.kind == "f"
        ]
        return 8 * max(widths, default=4)

    def is_double(self, name) -> bool:
        """Whether the argument of this name is a float64 number."""
        value = self.values.get(name)
        return not getattr(value, "ndim", 0) and str(getattr(value, "dtype", "")) == "float64"

    def is_integer(self, node) -> bool:
        """Whether an expression has integers in it only, as far as its text tells."""
        return not any(
            isinstance(n, (ast.Subscript, ast.Call))
            or isinstance(n, ast.Constant)
            and not isinstance(n.value, int)
            or isinstance(n, ast.Name)
            and isinstance(self.values.get(n.id), float)
            for n in ast.walk(node)
        )


def rewritten(function, finding, context: Context) -> Rewrite | None:
    """The function with the finding's change; None where its form is one that no rule knows to change."""
    change = RULES.get(finding.rule)
    if change is None:
        return None
    try:
        source = Source(function)
        note = change(source, finding, context)
        text = source.result()
    except NoRewriteError:
        return None
    if text == source.text and not note:
        return None
    return Rewrite(text, note, tuple(_changed(source.text, text)))


def _changed(before: str, after: str):
    for line in difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm=""):
        if not line.startswith(("---", "+++", "@@")):
            yield f"{line[0]} {line[1:]}"
