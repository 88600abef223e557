"""`analyze`: what a kernel's accesses, branches and barriers do, seen in one run of some of its blocks."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xcuda.profiler.rewrites import Rewrite

WITHOUT_GPU = "sm_90"


@dataclasses.dataclass(frozen=True)
class Finding:
    """One thing to change in a kernel.

    rule: a name out of rules(). file, line: of the user's source. evidence: what was seen there, with its numbers.
    advice: what to write instead. gain: how many times less that access, branch or loop would cost, None where it is
    not estimated. subject: the array or argument it is about, "" for none. rewrite: the kernel with this change, None
    where only a person can make it; str() of it are the changed lines.
    """

    rule: str
    file: str
    line: int
    evidence: str
    advice: str
    gain: float | None
    subject: str = ""
    other_line: int = 0  # race: where the other access stands
    rewrite: Rewrite | None = None

    def __str__(self) -> str:
        gain = f" (about {self.gain:.3g}x)" if self.gain else ""
        return f"line {self.line}: {self.evidence}; {self.advice}{gain}"


@dataclasses.dataclass(frozen=True)
class Analysis:
    """What `analyze` gives: the launch it looked at, and its findings in the order of lines.

    grid, block: (x, y, z) of that launch. blocks, records: how many blocks were traced, and their accesses, branches
    and barriers. complete: False where a block did more than is written down (a million steps). target: the GPU whose
    compiler told registers and occupancy; not_compiled: why none did, "" where one did.
    """

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    findings: tuple[Finding, ...]
    blocks: int
    records: int
    complete: bool
    target: str = ""
    not_compiled: str = ""

    def __iter__(self):
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __getitem__(self, index):
        return self.findings[index]

    def of(self, rule: str) -> list[Finding]:
        """The findings of one rule."""
        return [f for f in self.findings if f.rule == rule]

    def __repr__(self) -> str:
        head = f"{self.kernel}, grid {self.grid}, block {self.block}: "
        if not self.findings:
            return head + f"nothing to change ({self.records} steps of {self.blocks} blocks were looked at)"
        return head + "".join(f"\n  {f}{_indented(f.rewrite)}" for f in self.findings)


def _indented(rewrite) -> str:
    return "" if rewrite is None else "".join(f"\n      {line}" for line in str(rewrite).splitlines())


def rules() -> dict[str, str]:
    """The rules by name, with what each looks for."""
    from xcuda import _runtime

    return dict(_runtime.analysis_rules())


def analyze(kernel, *arguments, target=None, multiprocessors=None) -> Analysis:
    """Analyses a kernel, or kernel[grid, block], for arguments or their types ("float32[:, :]", "int64").

    The kernel runs once on the CPU device over copies, with the steps of an inner block, the first and the last one
    written down; nothing that the caller holds is changed. Where types are given, arrays of 1,000 elements in all
    (odd lengths, filled with ones) stand in, and ints are 100. Without [grid, block] the launch is the one that a call
    makes on a GPU by itself.

    target: "sm_90" and the like, the GPU whose registers and shared memory count; None: the present GPU, else sm_90.
    multiprocessors: how many it has; None: the present GPU's, and where there is none nothing is said of the grid's
    size. "" as target leaves both out.

    Raises TypeError for what is no kernel, and what a call with such arguments would raise.
    """
    import numpy as np

    from xcuda import _runtime
    from xcuda.profiler.rewrites import Context

    callee = kernel
    if isinstance(callee, _runtime.Configured):
        kernel = callee.kernel
    if not isinstance(kernel, _runtime.Kernel):
        raise TypeError(f"analyze takes a kernel, or kernel[grid, block], not {type(kernel).__name__}")
    values = tuple(_stand_in(a) for a in arguments)
    bound = kernel.__signature__.bind(*values)
    bound.apply_defaults()
    values = tuple(np.array(v) if isinstance(v, np.ndarray) else v for v in bound.arguments.values())
    architecture, units = _gpu(target, multiprocessors)
    real = not any(isinstance(a, str) for a in arguments)  # stand-ins say nothing of how large a grid is
    found = _runtime.analyze(callee, values, architecture, units, real)
    for row in found["findings"]:
        if row["rule"] == "register-spills":
            row["evidence"] += _by_line(kernel, values, found["block"], architecture)
    context = Context(dict(zip(bound.arguments, values, strict=True)), found["grid"], found["block"])
    return Analysis(
        kernel=kernel.__name__,
        grid=found["grid"],
        block=found["block"],
        findings=tuple(_with_rewrite(kernel, Finding(**row), context) for row in found["findings"]),
        blocks=found["blocks"],
        records=found["records"],
        complete=not found["cut"],
        target="" if found["not_compiled"] else architecture,
        not_compiled=found["not_compiled"],
    )


def _by_line(kernel, values, block, architecture) -> str:
    """Where the spills are: ", most in line 7 (12 of 40 loads and stores)"; "" where the machine code does not tell."""
    import inspect

    from xcuda.profiler.spills import spilled_lines, told

    try:
        code, first = inspect.getsourcelines(kernel.py_func)
    except OSError:
        return ""
    made = kernel.compile(values, block, target=architecture)
    lines = range(first, first + len(code))
    words = told(spilled_lines(made["cubin"], made["entry"], kernel.py_func.__code__.co_filename, lines))
    return words and f", {words}"


def _with_rewrite(kernel, finding, context):
    from xcuda.profiler.rewrites import rewritten

    return dataclasses.replace(finding, rewrite=rewritten(kernel.py_func, finding, context))


def _gpu(target, multiprocessors) -> tuple[str, int]:
    """(architecture, multiprocessors or 0) that an analysis is for."""
    if target is None:
        from xcuda.core.devices import Device

        here = Device()
        if here.kind == "cuda":
            return here.architecture, here.multiprocessors if multiprocessors is None else multiprocessors
        target = WITHOUT_GPU
    return target, multiprocessors or 0


# Lengths that no block divides, so that a missing guard shows.
_LENGTHS = {0: (), 1: (1003,), 2: (77, 93), 3: (19, 21, 23)}


def _stand_in(argument):
    import numpy as np

    if not isinstance(argument, str):
        if hasattr(argument, "copy_to_host"):
            return argument.copy_to_host()
        return argument
    from xcuda.core.signatures import types_from

    (kind, *rest) = types_from(argument)[0]
    if kind == "scalar":
        dtype = np.dtype(rest[0])
        return dtype.type(100) if dtype.kind in "iu" else dtype.type(1)
    dtype, ndim = rest[0], rest[1]
    return np.ones(_LENGTHS.get(ndim, (3,) * ndim), dtype)
