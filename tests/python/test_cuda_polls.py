"""Loops that the CUDA text cuts where it looks for an interrupt, run on the host (host_cuda): as many turns as in Python."""

import host_cuda
import numpy as np
import pytest
from xcuda import core as cuda


@pytest.fixture(autouse=True, scope="module")
def _tools():
    from fake_cuda import need_nvrtc

    need_nvrtc()
    host_cuda.need_compiler()


def check(function, *scalars, text=()):
    """The function as a kernel gives what it gives in Python; its text holds these words."""
    kernel = cuda.kernel(function)
    got, want = np.zeros(6, np.int64), np.zeros(6, np.int64)
    assert not host_cuda.launch(kernel, 1, 1, got, *scalars)
    function(want, *scalars)
    np.testing.assert_array_equal(got, want)
    made = kernel.compile((got, *scalars), target="sm_90")["text"]
    for word in text:
        assert word in made, word


def endless(out, n):
    k = 0
    while True:
        k += 1
        if k % 3 == 0:
            continue
        out[0] += k
        if k >= n:
            break
        out[1] += 1
    out[2] = k


def with_else(out, n):
    k = n
    while k * k != 49:
        k -= 1
        if k % 5 == 4:
            continue
        if k < -n:
            out[0] = 1
            break
    else:
        out[1] = k
    while k < n:
        k += 3
    else:
        out[2] = k


def nested(out, n):
    total = 0
    i = 0
    while i * i < n:
        j = i
        while j * j < n:
            j += 1
            if j % 7 == 0:
                continue
            if j % 11 == 0:
                break
            total += j
        else:
            out[1] += 1
        for k in range(i, i + j, 3):
            total -= k
        i += 1
    out[0] = total


def counted(out, first, last):
    for k in range(first, last):
        out[0] += k
    for k in range(last, first, -3):
        out[1] = out[1] * 3 + k
    for k in range(first, last, 4095):
        out[2] += k
        for j in range(k, k + 5000):
            out[3] ^= j
    for k in range(last, first):
        out[4] = k
    out[5] = 1


@pytest.mark.parametrize("n", [1, 2, 65535, 65536, 65537, 200_001])
def test_while_true(n):
    check(endless, n, text=["xc_turns > 0", "goto xc_out_"])


@pytest.mark.parametrize("n", [8, 9, 70_000])
def test_while_else(n):
    check(with_else, n, text=["goto xc_out_"])


@pytest.mark.parametrize("n", [0, 1, 300, 90_000])
def test_loops_in_loops(n):
    check(nested, n, text=["xc_turns > 0"])


@pytest.mark.parametrize(
    "bounds", [(0, 0), (0, 1), (-5, 4096), (7, 4103), (7, 4104), (-9000, 9001), (5, -5), (0, 300_000)]
)
def test_ranges(bounds):
    check(counted, *bounds, text=["xc_poll_seldom(xc_turns, 1024", "xc_poll_seldom(xc_turns, 16"])


def test_where_threads_meet_a_loop_is_one():
    """A warp's threads may have turned differently often before: none may wait for a poll while others wait for it."""

    def meeting(out, n):
        k = 0
        while k * k < n:
            k += 1
            cuda.syncthreads()
        out[0] = k

    made = cuda.kernel(meeting).compile((np.zeros(1, np.int64), 5), (32, 1, 1), target="sm_90")["text"]
    assert "xc_poll_seldom(xc_turns, 1," in made
    assert "xc_turns > 0" not in made
