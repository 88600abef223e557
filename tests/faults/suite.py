"""Runs the faulty programs, each followed by a right one, in this process."""

from __future__ import annotations

import asyncio
import linecache
import re
import warnings

import numpy as np
from xcuda import core as cuda

from faults.programs import BAD_THREAD, BLOCKS, THREADS, N, Program

RIGHT = """
import xcuda.core as cuda

@cuda.kernel
def right(out, x, n):
    i = cuda.grid(1)
    if i < n:
        out[i] = 2 * x[i]
"""


def outcome(program: Program) -> str:
    """What went wrong: "" where the right exception came, the device went on and no array was harmed."""
    x = cuda.to_device(np.arange(1, N + 1))
    out = cuda.zeros(N, np.int64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the compiler warns of some of these mistakes, rightly
        error = caught(program, out, x)
        problem = told_wrongly(program, error)
        del error
        return problem or survived(out, x)


def compiled(source: str, name: str) -> dict:
    """The names that a source defines, with its text where inspect and tracebacks find it."""
    file = f"<faulty program: {name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names: dict = {"__name__": "faulty_program"}
    exec(compile(source, file, "exec"), names)
    return names


def caught(program, out, x) -> BaseException | None:
    try:
        names = compiled(program.source, program.name)
        if program.how == "cell":
            return None
        launched = names["faulty"][BLOCKS, THREADS]
        if program.how == "async":
            asyncio.run(awaited(launched, out, x))
        elif program.how == "streams":
            in_two_streams(launched, names["right"], out, x)
        else:
            launched(out, x, N)
            cuda.synchronize()
    except AssertionError as error:
        return error
    except Exception as error:
        return error
    return None


async def awaited(launched, out, x) -> None:
    await launched.async_call(out, x, N)


def in_two_streams(launched, right, out, x) -> None:
    """The faulty launch in one stream, a right one in another, which must not be harmed."""
    one, other = cuda.stream(), cuda.stream()
    beside = cuda.zeros(N, np.int64)
    with other:
        right[BLOCKS, THREADS](beside, x, N)
    try:
        with one:
            launched(out, x, N)
        one.synchronize()
    finally:
        other.synchronize()
        np.testing.assert_array_equal(beside.copy_to_host(), 2 * np.arange(1, N + 1))


def told_wrongly(program, error) -> str:
    if error is None:
        return "nothing was raised"
    text = str(error)
    if type(error).__name__ != program.error:
        return f"{type(error).__name__} instead of {program.error}: {text}"
    if program.told not in text:
        return f"the message lacks {program.told!r}: {text}"
    if program.block is None:
        return ""
    if program.line is not None and f"line {program.line} of" not in text:
        return f"the message lacks line {program.line}: {text}"
    found = re.search(r"thread \((\d+), 0, 0\) of block \((\d+), 0, 0\)", text)
    if not found or int(found[2]) != program.block:
        return f"the message does not name block {program.block}: {text}"
    if program.line is not None and int(found[1]) != BAD_THREAD:
        return f"the message does not name thread {BAD_THREAD}: {text}"
    return ""


def survived(out, x) -> str:
    """Whether arrays are as legal writes left them, and the next launches are right."""
    given = np.arange(1, N + 1)
    if not np.array_equal(x.copy_to_host(), given):
        return "an array that was only read has changed"
    left = out.copy_to_host()
    if not np.isin(left, [0, 1, 2, *given]).all():
        return "the written array holds what nobody wrote"
    right = compiled(RIGHT, "right")["right"]
    right[BLOCKS, THREADS](out, x, N)
    if not np.array_equal(out.copy_to_host(), 2 * given):
        return "the next launch over the same arrays is wrong"
    fresh = np.zeros(N, np.int64)
    right(fresh, given, N)
    return "" if np.array_equal(fresh, 2 * given) else "the next launch over host arrays is wrong"
