"""`verify`: whether a launch gives what it should, and if not, which element, which thread and why, in one sentence."""

from __future__ import annotations

import contextlib
import dataclasses
from collections import Counter
from collections.abc import Mapping

import numpy as np

from xcuda import _runtime
from xcuda.check.accesses import _only_kernels, traced
from xcuda.check.copies import host_copies
from xcuda.check.session import ORDERS, _hooked, _Looked
from xcuda.check.shown import value_text

# What makes a right result one of luck.
_CAUSES = ("race", "uninitialised-read", "divergent-barrier", "order-dependent", "overlap")


@dataclasses.dataclass(frozen=True)
class Verified:
    """What `verify` gives: `right`, and `sentence`, "right" or what is wrong. It is true where the launch is right."""

    right: bool
    sentence: str

    def __bool__(self) -> bool:
        return self.right

    def __repr__(self) -> str:
        return self.sentence


def verify(kernel, *arguments, expected, rtol=None, most_reads=None) -> Verified:
    """Runs a kernel, or kernel[grid, block], over copies on the CPU device and compares what it leaves in its arrays.

    expected: {name of a parameter: the array it must hold afterwards}. rtol: how far numbers may be off, relative to
    them and for those below 1 as such; 1e-2 for float16, 1e-4 for float32, 1e-9 for wider ones, whole numbers exactly.
    most_reads: how often a thread may read global memory. A result that is right by chance, with a race in it or an
    element read before it is written, is none: races are looked for as `check` does.

    Raises TypeError for what is no kernel, ValueError for an expectation that does not fit an argument, and what the
    call itself would raise for such arguments.
    """
    _only_kernels(kernel, "verify")
    if not isinstance(expected, Mapping):
        raise TypeError(
            f'expected is a dict of parameters and arrays, {{"out": a + 10}}, not {type(expected).__name__}'
        )
    made = []

    def look(callee, values):
        before = _runtime.set_launch_hook(None)
        try:
            wrong = _wrong(callee, values, expected, rtol, most_reads)
        finally:
            _runtime.set_launch_hook(before)
        made.append(Verified(not wrong, wrong or "right"))
        raise _Looked

    with contextlib.suppress(_Looked), _hooked(look):
        kernel(*arguments)
    return made[0]


def _wrong(callee, values, expected, rtol, most_reads) -> str:
    """The sentence; "" for nothing."""
    kernel = callee.kernel if isinstance(callee, _runtime.Configured) else callee
    names = list(kernel.__signature__.parameters)
    copies = host_copies(values)
    wanted = {name: _fitting(name, want, names, copies) for name, want in expected.items()}
    run = traced(callee, copies)
    if run.error:
        return run.error
    different = ""
    for name, want in wanted.items():
        different = different or _difference(run, name, copies[names.index(name)], want, rtol)
    cause = _cause(callee, values)
    if cause:
        return f"{different or 'the result is right by chance only'}: {cause}"
    if different:
        return different
    return _reads_too_often(run, most_reads)


def _fitting(name, want, names, copies):
    if name not in names:
        raise ValueError(f"the kernel has no parameter {name!r}: it has {', '.join(names)}")
    got = copies[names.index(name)]
    want = np.asarray(want)
    if not isinstance(got, np.ndarray) or got.shape != want.shape:
        shape = got.shape if isinstance(got, np.ndarray) else "no array"
        raise ValueError(
            f"{name} is {shape} and is expected to be {want.shape}: expect an array of its shape"
        )
    return want


def _difference(run, name, got, want, rtol) -> str:
    if rtol is None:
        rtol = {2: 1e-2, 4: 1e-4}.get(got.dtype.itemsize, 1e-9) if got.dtype.kind in "fc" else 0.0
    inexact = got.dtype.kind in "fc"
    same = np.isclose(got, want, rtol=rtol, atol=rtol, equal_nan=True) if inexact else got == want
    bad = np.argwhere(~same) if same.ndim else np.zeros((int(not same), 0), int)
    if not len(bad):
        return ""
    index = tuple(int(i) for i in bad[0])
    element = f"{name}[{', '.join(map(str, index))}]"
    others = (
        f" ({len(bad) - 1} other element{'s' * (len(bad) > 2)} of {name} differ{'s' * (len(bad) == 2)} too)"
    )
    text = f"{element} is {value_text(got[index])} and should be {value_text(want[index].astype(got.dtype))}"
    return f"{text}, {_history(run, name, index)}{others if len(bad) > 1 else ''}"


def _history(run, name, index) -> str:
    writes = [
        i for i, a in enumerate(run.accesses) if (a.array, a.index) == (name, index) and a.did != "reads"
    ]
    if not writes:
        return "since no thread writes it" if run.complete else "and none of the accesses looked at writes it"
    last = run.accesses[writes[-1]]
    who = {(run.accesses[i].block, run.accesses[i].thread) for i in writes}
    where = f" of block {last.block}" if max(run.grid) > 1 else ""
    text = f"as thread {last.thread}{where} {last.did} it at line {last.line}"
    if len(who) > 1:
        text += f" (the last of {len(who)} threads that do)"
    read = [
        a.element
        for a in run.accesses[: writes[-1]]
        if (a.block, a.thread) == (last.block, last.thread) and a.did == "reads"
    ]
    read = list(dict.fromkeys(read))
    if not read:
        return text + " without having read anything"
    more = f" and {len(read) - 4} more" if len(read) > 4 else ""
    return f"{text}, having read {', '.join(read[:4])}{more}"


def _cause(callee, values) -> str:
    """The first finding of a run in several orders that makes results a matter of chance."""
    copies = tuple(host_copies(values))
    found = _runtime.check_launch(callee, copies, ORDERS, 0, 0, False, [False] * len(copies))
    findings = [f for f in found["findings"] if f["rule"] in _CAUSES]
    if not findings:
        return ""
    first = min(findings, key=lambda f: (_CAUSES.index(f["rule"]), f["line"]))
    line = f"line {first['line']}, " if first["line"] else ""
    return f"{line}{first['evidence']}; {first['advice']}"


def _reads_too_often(run, most_reads) -> str:
    if most_reads is None:
        return ""
    counts = Counter(
        (a.block, a.thread) for a in run.accesses if a.did == "reads" and a.array not in run.shared
    )
    if not counts or max(counts.values()) <= most_reads:
        return ""
    (block, thread), count = max(counts.items(), key=lambda item: item[1])
    return (
        f"the result is right, but thread {thread} of block {block} reads global memory "
        f"{'once' if count == 1 else f'{count} times'}, and {most_reads} {'is' if most_reads == 1 else 'are'} enough"
    )
