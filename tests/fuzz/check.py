"""Runs a program three ways and compares: CPython by the language's rules, the device, and NVRTC on its CUDA text."""

from __future__ import annotations

import linecache
import math
import re
import warnings
from dataclasses import dataclass

import numpy as np

from . import rules
from .programs import Program, variable_of
from .reference import Reference
from .rules import T
from .syntax import Array, Records, Rejected, computes_with_its_row

# What may be refused: NumPy raises OverflowError there, or the program says what can't be.
REFUSALS = re.compile(
    r"does not fit (u?int\d+|64 bits)|no integer type holds both|a tuple's index must be a constant"
)


@dataclass
class Outcome:
    """What became of a program: "same", "faults" (alike), "refused" (as allowed), "rejected", or a fault found."""

    kind: str
    detail: str = ""

    @property
    def good(self) -> bool:
        return self.kind in ("same", "faults", "refused", "rejected")


_count = 0


def make(text: str):
    """The kernel function of a program's text, with its source in linecache as a notebook cell's is."""
    from xcuda import core

    global _count
    linecache.cache.pop(f"<program {_count}>", None)
    _count += 1
    file = f"<program {_count}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = {"np": np, "math": math, "cuda": core, "bfloat16": rules.BFLOAT16}
    exec(compile(text, file, "exec"), space)
    return space["f"]


def argument_type(value):
    if isinstance(value, np.ndarray) and value.dtype.names:
        fields = [(n, value.dtype[n]) for n in value.dtype.names]
        return Records(tuple((n, d.base.name, len(d.shape)) for n, d in fields), value.ndim)
    return Array(value.dtype.name, value.ndim) if isinstance(value, np.ndarray) else rules.type_of(value)


def expected(program: Program):
    """The reference's arrays after all threads, and how each thread ended (None, or kind and line of its fault)."""
    arguments = dict(program.arguments)
    for o in program.outputs:
        arguments[o] = np.zeros(program.threads)
    reference = Reference(program.text, [argument_type(a) for a in arguments.values()])
    types = reference.kernel_types.current
    for o in program.outputs:
        t = types[variable_of(o)]
        if not isinstance(t, T):
            raise Rejected("no number to give out")
        arguments[o] = np.zeros(program.threads, t.dtype)
    for z in program.inexact:  # a tolerance in ulps is one of the type computed in
        arguments[z] = np.zeros(program.threads, reference.kernel_types.inexact.dtype)
    start = {k: copied(v) for k, v in arguments.items()}
    forwards = range(program.threads)
    want, ends = in_order(program, reference, start, forwards)
    own = "cuda.local" in program.text or "cuda.shared" in program.text
    if own or meets(program):  # nothing may hang on the order, nor on what was never written
        reference.cuda.fill = 0x41
        other, others = in_order(program, reference, start, forwards[::-1] if meets(program) else forwards)
        if ends != others or (not any(ends) and differences(program, other, want)):
            raise Rejected("its result hangs on the order of its threads, or on what was never written")
    return start, want, ends


def meets(program: Program) -> bool:
    """Whether its threads work on what others do."""
    return "cuda.shared" in program.text or "cuda.atomic" in program.text


def in_order(program: Program, reference: Reference, start: dict, order: range):
    """The arrays after all threads, one after the other between two barriers, and how each of them ended."""
    arguments = {k: copied(v) for k, v in start.items()}
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if meets(program) and "syncthreads" in program.text:
            return arguments, reference.run_block(list(order), list(arguments.values()))
        by_thread = {i: reference.run(i, list(arguments.values())) for i in order}
    return arguments, [by_thread[i] for i in range(program.threads)]


def copied(value):
    """A copy of the same layout."""
    if not isinstance(value, np.ndarray):
        return value
    low, high = np.lib.array_utils.byte_bounds(value)
    if all(s > 0 for s in value.strides) and high - low == value.nbytes:
        return value.copy(order="K")
    base = np.zeros((high - low) // value.itemsize, value.dtype)
    offset = (value.ctypes.data - low) // value.itemsize
    made = np.lib.stride_tricks.as_strided(base[offset:], value.shape, value.strides)
    made[...] = value
    return made


def chosen(program: Program, arguments: dict, keep: list[int]):
    """The arguments with only some threads' rows."""
    names = {*program.rows, *program.outputs}
    made = {k: copied(v[keep] if k in names else v) for k, v in arguments.items()}
    made["n"] = len(keep)
    return made


def arrays_of(arguments: dict) -> dict:
    """Its arrays by name, those of records by their fields."""
    made = {}
    for name, value in arguments.items():
        if isinstance(value, np.ndarray):
            made |= (
                {f"{name}.{f}": value[f] for f in value.dtype.names} if value.dtype.names else {name: value}
            )
    return made


def differences(program: Program, got: dict, want: dict) -> str:
    found = arrays_of(got)
    for name, value in arrays_of(want).items():
        g, w = found[name], value
        with np.errstate(all="ignore"):
            if w.dtype.kind == "c":
                same = np.array(
                    [
                        (np.array(getattr(g, p)) == getattr(w, p))
                        & (np.signbit(getattr(g, p)) == np.signbit(getattr(w, p)))
                        | np.isnan(getattr(g, p)) & np.isnan(getattr(w, p))
                        for p in ("real", "imag")
                    ]
                ).all(0)
            elif rules.is_float(w.dtype):
                same = (g == w) & ((g != 0) | (np.signbit(g) == np.signbit(w))) | (np.isnan(g) & np.isnan(w))
                if name in program.inexact:
                    near = np.abs(g.astype("f8") - w) <= 16 * np.abs(np.spacing(w)).astype("f8")
                    same = (g == w) | near | (np.isnan(g) & np.isnan(w))
            else:
                same = g == w
        if not same.all():
            at = tuple(int(k) for k in np.argwhere(~same)[0])
            return f"{name}{list(at)} is {g[at]!r}, not {w[at]!r} ({(~same).sum()} differ)"
    return ""


def check(program: Program, nvrtc: bool = False) -> Outcome:
    """Compares the program on the present device with the reference; with `nvrtc`, compiles its CUDA text too."""
    from xcuda import core
    from xcuda.core.errors import KernelSyntaxError

    try:
        start, want, ends = expected(program)
    except Rejected as e:
        return Outcome("rejected", str(e))
    except RecursionError as e:
        return Outcome("rejected", str(e))
    kernel = core.kernel(make(program.text), fma=False)

    def launch(arguments, threads):
        block = 8 if program.guarded and threads % 3 == 0 else threads
        grid = (threads + block - 1) // block + (1 if program.guarded else 0)
        kernel[grid, block](*arguments.values())
        core.synchronize()
        return block

    everyone = {k: copied(v) for k, v in start.items()}
    faults = {e for e in ends if e}
    good = [i for i, e in enumerate(ends) if e is None]
    try:
        block = launch(everyone, program.threads)
    except KernelSyntaxError as e:
        return Outcome("refused" if REFUSALS.search(str(e)) else "refusal", f"line {e.lineno}: {e}")
    except Exception as e:
        told = type(e).__name__, int(m.group(1)) if (m := re.search(r"at line (\d+) of", str(e))) else 0
        if not faults:
            return Outcome("fault", f"{told}: {e}; the reference has none")
        m = re.search(r"thread \((\d+), \d+, \d+\) of block \((\d+),", str(e))
        if not m:
            return Outcome("fault", f"{type(e).__name__}: {e}; wanted one of {faults}")
        block = 8 if program.guarded and program.threads % 3 == 0 else program.threads
        i = int(m.group(1)) + int(m.group(2)) * block
        if i >= len(ends) or ends[i] != told:
            return Outcome("fault", f"{told} in thread {i}, not {ends[i] if i < len(ends) else None}: {e}")
    else:
        if faults:
            return Outcome("no fault", f"threads end with {faults}, the device with none")
        if found := differences(program, everyone, want):
            return Outcome("difference", found)
    if nvrtc and (found := nvrtc_says(kernel, everyone)):
        return Outcome("nvrtc", found)
    if faults and good and not meets(program) and not computes_with_its_row(program.text):
        some, wanted = chosen(program, start, good), chosen(program, want, good)
        try:  # renumbered, a thread computes the same
            launch(some, len(good))
        except Exception as e:
            return Outcome("fault", f"without the threads that fault: {type(e).__name__}: {e}")
        if found := differences(program, some, wanted):
            return Outcome("difference", found)
    return Outcome("faults" if faults else "same")


def nvrtc_says(kernel, arguments) -> str:
    try:
        kernel.compile(tuple(arguments.values()), target="sm_90")
    except Exception as e:
        return f"{type(e).__name__}: {e}"
    return ""
