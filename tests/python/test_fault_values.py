"""A fault names what the numbers of its line held, as far as that follows from the thread, the lengths and the index."""

from __future__ import annotations

import numpy as np
import pytest
from xcuda import core as cuda


def told(kernel, *arguments) -> str:
    with pytest.raises((IndexError, ZeroDivisionError, AssertionError)) as caught:
        kernel(*arguments)
        cuda.synchronize()
    return str(caught.value).partition(", where ")[2]


def test_names_that_follow_from_the_thread():
    @cuda.kernel
    def shifted(out, x):
        i = cuda.grid(1)
        right = i + 1
        out[i] = x[right]

    assert told(shifted[2, 8], np.zeros(16), np.zeros(16)) == "i = 15, right = 16"


def test_a_loop_s_number_follows_from_the_index():
    @cuda.kernel
    def spread(out, n):
        j, i = cuda.grid(2)
        for k in range(n):
            out[i, j + k] = 1

    values = dict(
        part.split(" = ") for part in told(spread[(1, 1), (8, 8)], np.zeros((8, 10)), 5).split(", ")
    )
    assert int(values["j"]) + int(values["k"]) == 10 and int(values["i"]) < 8


def test_a_divisor():
    @cuda.kernel
    def divided(out):
        i = cuda.grid(1)
        d = out.shape[0] - 2 * i
        out[i] = 7 // d

    assert told(divided[1, 8], np.zeros(8, np.int64)) == "i = 4, d = 0"


def test_what_comes_from_memory_is_told_where_it_is_the_index():
    @cuda.kernel
    def gathered(out, where, x):
        i = cuda.grid(1)
        at = where[i]
        out[i] = x[at]

    where = np.arange(8)
    where[3] = 77
    assert "at = 77" in told(gathered[1, 8], np.zeros(8), where, np.zeros(8))


def test_a_name_whose_value_does_not_follow_is_left_out():
    @cuda.kernel
    def summed(out, x):
        i = cuda.grid(1)
        s = 0
        for k in range(x.shape[0]):
            s += x[k]
        out[s * i] = 1

    text = told(summed[1, 4], np.zeros(3), np.ones(5, np.int64))
    assert "i = 1" in text or "i = 2" in text or "i = 3" in text
