"""cuda.debug: one thread of a kernel, line by line, with the values that the compiled kernel has."""

from __future__ import annotations

import math

import numpy as np
import pytest
from cpu_device import needs_cpu
from xcuda import core as cuda
from xcuda import tiles

pytestmark = needs_cpu


@cuda.kernel
def dot_rows(out, a, b):
    i = cuda.grid(1)
    if i >= out.shape[0]:
        return
    total = 0.0
    for k in range(a.shape[1]):
        total += a[i, k] * b[k]
    out[i] = total


def rows():
    a = np.arange(12, dtype=np.float32).reshape(3, 4) / 7
    return np.zeros(3, np.float32), a, np.ones(4, np.float32)


def lines_of(debugged):
    return [s.source for s in debugged]


def test_a_thread_is_followed_line_by_line_in_the_kernel_s_own_types():
    out, a, b = rows()
    followed = cuda.debug(dot_rows[1, 32], out, a, b, thread=2)
    assert lines_of(followed) == [
        "i = cuda.grid(1)",
        "if i >= out.shape[0]:",
        "total = 0.0",
        *["for k in range(a.shape[1]):", "for k in range(a.shape[1]):", "total += a[i, k] * b[k]"][:1],
        *["for k in range(a.shape[1]):", "total += a[i, k] * b[k]"] * 4,
        "out[i] = total",
    ]
    assert followed.thread == (2, 0, 0) and followed.block == (0, 0, 0) and followed.complete
    total = np.float32(0)
    sums = [s.changes["total"] for s in followed if "total +=" in s.source]
    for k, found in enumerate(sums):
        total = total + a[2, k] * b[k]
        assert found == total and found.dtype == np.float32
    assert followed[-1].changes == {"out[2]": total} and followed[-1].variables["i"] == 2
    assert not out.any()  # the caller's arrays are not touched


def test_a_thread_that_the_guard_stops():
    followed = cuda.debug(dot_rows[1, 32], *rows(), thread=(3, 0, 0))
    assert lines_of(followed) == ["i = cuda.grid(1)", "if i >= out.shape[0]:"]


@cuda.kernel
def wraps(out, x):
    i = cuda.grid(1)
    v = x[i] * x[i]
    w = v // -7
    r = v % -7
    out[i] = w + r


def test_integers_wrap_and_floor_as_the_kernel_s_do():
    x = np.array([100_000, -5, 7], np.int32)
    with np.errstate(over="ignore"):
        for t in range(3):
            changes = {}
            for step in cuda.debug(wraps[1, 3], np.zeros(3, np.int32), x, thread=t):
                changes |= step.changes
            v = x[t] * x[t]
            assert changes["v"] == v and changes["v"].dtype == np.int32
            assert changes["w"] == v // np.int32(-7) and changes["r"] == v % np.int32(-7)


@cuda.kernel
def block_sums(out, x):
    part = cuda.shared.array(8, np.int64)
    t = cuda.threadIdx.x
    part[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    step = 4
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        out[cuda.blockIdx.x] = part[0]


def test_the_whole_block_runs_with_it():
    x = np.arange(24)
    followed = cuda.debug(block_sums[3, 8], np.zeros(3, np.int64), x, block=1, thread=0)
    sums = [s.changes["part[0]"] for s in followed if "part[0]" in s.changes]
    assert sums == [8, 8 + 12, 8 + 12 + 10 + 14, 92]
    assert followed[-1].changes == {"out[1]": x[8:16].sum()}
    halves = [s.changes["step"] for s in followed if "step" in s.changes]
    assert halves == [4, 2, 1, 0]


def test_stops_by_condition_and_line():
    followed = cuda.debug(dot_rows[1, 32], *rows(), thread=1)
    [stop] = followed.stops("k == 2 and total > 0", line=next(s.line for s in followed if "+=" in s.source))
    assert stop.variables["k"] == 2 and stop.variables["i"] == 1
    assert len(followed.stops("abs(i) == 1")) == len(followed) - 1
    with pytest.raises(NameError, match="has no variable 'kk': it has i, k, total"):
        followed.stops("kk == 2")
    with pytest.raises(SyntaxError):
        followed.stops("k ==")


def a_kernel_that_stops():
    @cuda.kernel
    def roots(out, x):
        i = cuda.grid(1)
        v = x[i]
        if v < 0:
            breakpoint()
            v = -v
        out[i] = math.sqrt(v)

    return roots


def test_a_breakpoint_is_nothing_in_a_launch_and_stops_the_debugger():
    with pytest.warns(cuda.KernelWarning, match="stops under %%cuda_debug"):
        roots = a_kernel_that_stops()
    x = np.array([4.0, 9.0, -16.0, 1.0, -25.0])
    out = np.zeros(5)
    roots[1, 5](out, x)
    np.testing.assert_array_equal(out, [2, 3, 4, 1, 5])
    followed = cuda.debug(roots[1, 5], out, x, at_breakpoint=True)
    assert followed.thread == (2, 0, 0)
    [stop] = followed.stops()
    assert stop.source == "breakpoint()" and stop.variables["v"] == -16.0 and stop.variables["i"] == 2
    with pytest.raises(LookupError, match="no thread of roots comes to a breakpoint"):
        cuda.debug(roots[1, 5], out, abs(x), at_breakpoint=True)


def scaled(v, by):
    twice = v * by
    return twice + 1


@cuda.kernel
def with_helper(out, x):
    i = cuda.grid(1)
    out[i] = scaled(x[i], 2)


def test_a_helper_s_lines_are_followed_too():
    followed = cuda.debug(with_helper[1, 4], np.zeros(4), np.arange(4.0), thread=3)
    assert "twice = v * by" in lines_of(followed)
    assert next(s for s in followed if "twice" in s.changes).changes["twice"] == 6.0
    assert followed[-1].changes["out[3]"] == 7.0


@cuda.kernel
def beyond(out, x):
    i = cuda.grid(1)
    j = i + 3
    out[i] = x[j]


def test_the_fault_of_a_thread_ends_its_steps():
    followed = cuda.debug(beyond[1, 8], np.zeros(8), np.zeros(8), thread=5)
    assert followed[-1].source == "out[i] = x[j]" and followed[-1].variables["j"] == 8
    assert "index 8 is out of range" in followed.error


def test_what_can_not_be_followed_is_told():
    out, a, b = rows()
    with pytest.raises(
        IndexError, match=r"there is no thread \(40, 0, 0\) in this launch: it has \(32, 1, 1\)"
    ):
        cuda.debug(dot_rows[1, 32], out, a, b, thread=40)
    with pytest.raises(TypeError, match="debug takes a kernel"):
        cuda.debug(len, out)

    @tiles.tile_kernel(tile_size=(4, 4))
    def copied(A, C):
        tiles.store(C, tiles.load_shared(A))

    with pytest.raises(TypeError, match="kernel of tiles"):
        cuda.debug(copied, np.ones((4, 4)), np.ones((4, 4)))


def test_no_more_steps_than_asked_for():
    followed = cuda.debug(dot_rows[1, 32], *rows(), thread=1, steps=2)
    assert not followed.complete and len(followed) < 10
    assert "and more than that" in repr(followed)
