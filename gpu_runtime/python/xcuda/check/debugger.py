"""`debug`: one thread of a kernel, line by line, with the values that the compiled kernel itself has."""

from __future__ import annotations

import contextlib
import dataclasses

import numpy as np

from xcuda import _runtime
from xcuda.check.copies import host_copies
from xcuda.check.session import _hooked, _Looked
from xcuda.core._cells import source_line

STEPS = 10_000
_STEP, _SAW, _AT, _STORED = range(4)


@dataclasses.dataclass(frozen=True)
class Step:
    """A line that the thread was about to run.

    changes: what the line then assigned: {"t": value, "dst[3]": value}, in the kernel's own types. variables: all that
    had a value when the line began. breakpoint: the line calls breakpoint().
    """

    file: str
    line: int
    variables: dict
    changes: dict
    breakpoint: bool = False

    @property
    def source(self) -> str:
        """The line's text."""
        return source_line(self.file, self.line)


class Debugged:
    """The steps of one thread.

    kernel, grid, block_shape; block, thread: (x, y, z) of the thread that was followed. complete: False where it did
    more steps than were asked for. error: what ended the launch, "" for nothing.
    """

    def __init__(self, kernel, found, block, thread, arguments):
        self.kernel, self.grid, self.block_shape = kernel, found["grid"], found["block"]
        self.block, self.thread = block, thread
        self.complete = not found["cut"]
        self.error = "" if found["fault"] is None else "{}: {}".format(*found["fault"])
        self.arguments = arguments
        self.steps = _steps(found, arguments)

    def __iter__(self):
        return iter(self.steps)

    def __len__(self):
        return len(self.steps)

    def __getitem__(self, index):
        return self.steps[index]

    def stops(self, condition=None, line=None) -> list[Step]:
        """The steps where `condition` (Python, over the variables at that moment) holds, or at that line; else at each
        breakpoint().

        Where a condition names what has no value yet it does not hold. Raises SyntaxError, NameError for a name
        that has a value at no step, and ValueError for a condition that fails, with the values that it failed with.
        """
        if condition is None and line is None:
            return [s for s in self.steps if s.breakpoint]
        found = [s for s in self.steps if line is None or s.line == line]
        if condition is None:
            return found
        code = compile(condition, "<condition>", "eval")
        known = {name for s in self.steps for name in s.variables}
        unknown = [n for n in code.co_names if n not in known and n not in _CONDITION and not hasattr(np, n)]
        if unknown:
            has = ", ".join(sorted(known)) or "none"
            raise NameError(f"the kernel's thread has no variable {unknown[0]!r}: it has {has}")
        return [s for s in found if _holds(code, condition, s)]

    def __repr__(self):
        from xcuda.check.shown import debugged_text

        return debugged_text(self)


_CONDITION = {"abs", "min", "max", "round", "int", "float", "bool", "any", "all", "len", "np"}


def _holds(code, condition, step) -> bool:
    import builtins

    space = {name: getattr(builtins, name) for name in _CONDITION - {"np"}}
    try:
        with np.errstate(all="ignore"):
            return bool(eval(code, {"__builtins__": space, "np": np}, dict(step.variables)))
    except NameError:
        return False
    except Exception as error:
        has = ", ".join(
            f"{name} = {value}" for name, value in step.variables.items() if name in code.co_names
        )
        raise ValueError(
            f"the condition {condition!r} fails at line {step.line}{f', where {has}' if has else ''}: "
            f"{type(error).__name__}: {error}"
        ) from None


def debug(
    kernel, *arguments, block=(0, 0, 0), thread=(0, 0, 0), steps=STEPS, at_breakpoint=False
) -> Debugged:
    """Follows one thread of a launch of a kernel, or of kernel[grid, block], over copies on the CPU device.

    block, thread: its place, an int or (x, y, z). at_breakpoint: the first thread that comes to a breakpoint() instead.
    The threads of its block run with it, so that barriers and shared memory are as in the launch; other blocks do not,
    but where the whole grid meets. steps: at most so many lines.

    Raises TypeError for what is no kernel, IndexError for a thread that the launch does not have, and LookupError where
    no thread comes to a breakpoint().
    """
    if not isinstance(kernel, (_runtime.Kernel, _runtime.Configured)):
        raise TypeError(f"debug takes a kernel, or kernel[grid, block], not {type(kernel).__name__}")
    made = []

    def look(callee, values):
        made.append(follow(callee, values, block, thread, steps, at_breakpoint))
        raise _Looked

    with contextlib.suppress(_Looked), _hooked(look):
        kernel(*arguments)
    return made[0]


def follow(callee, values, block, thread, steps=STEPS, at_breakpoint=False) -> Debugged:
    """The same for a launch whose arguments are arrays and numbers, one a parameter."""
    kernel = callee.kernel if isinstance(callee, _runtime.Configured) else callee
    before = _runtime.set_launch_hook(None)
    try:
        grid, shape = _runtime.launch_shape(callee, tuple(host_copies(values)))
        if at_breakpoint:
            found = _runtime.follow_thread(callee, tuple(host_copies(values)), -1, 0, 0)
            if found and found["at_breakpoint"] is None:
                raise LookupError(f"no thread of {kernel.__name__} comes to a breakpoint() in this launch")
            if found:
                block, thread = (
                    _at(number, lengths)
                    for number, lengths in zip(found["at_breakpoint"], (grid, shape), strict=True)
                )
        block, b = _place("block", block, grid)
        thread, t = _place("thread", thread, shape)
        # A step is its line and what it assigned.
        found = _runtime.follow_thread(callee, tuple(host_copies(values)), b, t, 4 * steps)
    finally:
        _runtime.set_launch_hook(before)
    if found is None:
        raise TypeError(f"{kernel.__name__} is a kernel of tiles: its threads are the compiler's")
    names = list(kernel.__signature__.parameters)
    scalars = {n: v for n, v in zip(names, values, strict=False) if not getattr(v, "shape", ())}
    return Debugged(kernel.__name__, found, block, thread, scalars)


def _place(what, given, lengths):
    """((x, y, z), its number) of a thread or block."""
    at = (given,) if hasattr(given, "__index__") else tuple(given)
    at = tuple(int(i) for i in (*at, 0, 0)[:3])
    if any(not 0 <= i < n for i, n in zip(at, lengths, strict=True)):
        raise IndexError(f"there is no {what} {at} in this launch: it has {tuple(lengths)}")
    return at, at[0] + lengths[0] * (at[1] + lengths[1] * at[2])


def _at(number, lengths):
    return number % lengths[0], number // lengths[0] % lengths[1], number // lengths[0] // lengths[1]


def _steps(found, arguments) -> list[Step]:
    points, variables = found["points"], found["variables"]
    now, made, index = dict(arguments), [], {}
    point, began, changes = None, None, {}

    def end():
        if point is not None:
            file, line, is_break = points[point]
            made.append(Step(file, line, began, changes, is_break))

    for what, number, bits in found["events"]:
        if what == _STEP:
            end()
            point, began, changes, index = number, dict(now), {}, {}
        elif what == _SAW:
            name, dtype = variables[number]
            now[name] = changes[name] = _value(bits, dtype)
        elif what == _AT:
            index[number] = int.from_bytes(bits[:8], "little", signed=True)
        else:
            name, dtype = variables[number]
            changes[f"{name}[{', '.join(str(i) for i in index.values())}]"] = _value(bits, dtype)
            index = {}
    end()
    return made


def _value(bits, dtype):
    from xcuda.core.dtypes import numpy_dtype

    kind = numpy_dtype(dtype)
    return np.frombuffer(bits[: kind.itemsize], kind)[0]
