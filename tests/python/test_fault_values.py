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


@cuda.kernel
def gathered_beyond(out, where, step, x):
    i = cuda.grid(1)
    at = where[i]
    by = step[at % 4, -1]
    out[i] = x[at + 2 * by]


def test_two_names_that_were_read_from_memory():
    where = np.array([0, 1, 2, 6, 4, 5, 0, 0])  # only one is beyond
    step = np.arange(8, dtype=np.int32).reshape(4, 2)
    text = told(gathered_beyond[1, 8], np.zeros(8), where, step, np.zeros(16))
    assert text == "i = 3, at = 6, by = 5"
    backwards = np.ascontiguousarray(step[:, ::-1])[:, ::-1]  # the same numbers, strides below 0
    assert told(gathered_beyond[1, 8], np.zeros(8), np.repeat(where, 2)[::2], backwards, np.zeros(16)) == text


def test_a_divisor_of_two_names_that_were_read_from_memory():
    @cuda.kernel
    def divided(out, a, b):
        i = cuda.grid(1)
        p = a[i]
        q = b[i]
        out[i] = 7 // (p - q)

    a, b = np.arange(8), 3 * np.arange(8)
    a[5] = 15
    a[0] = 1
    assert told(divided[1, 8], np.zeros(8, np.int64), a, b) == "i = 5, p = 15, q = 15"


def test_what_a_helper_read_from_memory():
    def sum_of(table, at, x):
        low = table[at]
        high = table[at + 1]
        return x[low + high]

    @cuda.kernel
    def through(out, table, x):
        i = cuda.grid(1)
        if i == 2:
            out[i] = sum_of(table, 2 * i, x)

    table = np.array([1, 1, 1, 1, 30, 40])
    assert told(through[1, 8], np.zeros(8), table, np.zeros(64)) == "low = 30, high = 40"


@cuda.kernel
def summed_beyond(out, where, by, x):
    i = cuda.grid(1)
    at = where[i]
    more = by[i]
    out[i] = x[at + more]


def beyond():
    return np.zeros(8), np.array([1, 2, 3, 4, 5, 40, 7, 8]), np.full(8, 9), np.zeros(20)


BEYOND = "i = 5, at = 40, more = 9"


def test_they_are_told_in_a_stream_and_of_a_bound_launch_too():
    assert told(summed_beyond[1, 8], *beyond()) == BEYOND
    with cuda.stream():
        assert told(summed_beyond[1, 8], *beyond()) == BEYOND
        assert told(summed_beyond[1, 8].bind(*beyond())) == BEYOND
    assert told(summed_beyond[1, 8].bind(*beyond())) == BEYOND


def test_what_the_kernel_writes_is_not_read_again():
    @cuda.kernel
    def moved(where, x, out):
        i = cuda.grid(1)
        at = where[i]
        by = where[i + 1]
        where[i] = 0
        out[i] = x[at + by]

    where = np.array([50, 50])
    text = told(moved[1, 1], where, np.zeros(64), np.zeros(1))
    assert text == "i = 0"
    # Nor is what it writes through another argument.
    memory = np.array([50, 50, 0])

    @cuda.kernel
    def aliased(same, where, x, out):
        i = cuda.grid(1)
        at = where[i]
        by = where[i + 1]
        same[i] = 0
        out[i] = x[at + by]

    assert told(aliased[1, 1], memory, memory[:2], np.zeros(64), np.zeros(1)) == "i = 0"


def test_arrays_that_others_may_have_changed_since_are_not_read():
    where, step = cuda.to_device(np.full(8, 6)), cuda.to_device(np.arange(8).reshape(4, 2))
    text = told(gathered_beyond[1, 1], cuda.zeros(8), where, step, cuda.zeros(8))
    assert text == "i = 0"


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


def test_a_divisor_that_comes_from_memory():
    @cuda.kernel
    def divided(out, x):
        i = cuda.grid(1)
        d = x[i]
        out[i] = 7 // d

    x = np.ones(8, np.int64)
    x[5] = 0
    assert told(divided[1, 8], np.zeros(8, np.int64), x) == "i = 5, d = 0"


def put(out, at, n):
    out[at + n] = 1


def test_a_helper_s_names_follow_from_its_one_call():
    @cuda.kernel
    def calls(out, n):
        i = cuda.grid(1)
        if i == 3:
            put(out, i * 2, n)

    assert told(calls[1, 8], np.zeros(8), 7) == "at = 6, n = 7"


def test_a_raise_tells_of_the_condition_that_it_stands_under():
    @cuda.kernel
    def refuses(out):
        i = cuda.grid(1)
        half = i // 2
        if half == 3:
            raise IndexError("not that one")

    assert told(refuses[1, 7], np.zeros(8)) == "half = 3"


def test_a_name_without_a_value_is_told_none():
    @cuda.kernel
    def late(out, n):
        i = cuda.grid(1)
        if n < 0:
            t = i
        out[i] = t

    with pytest.raises(UnboundLocalError) as caught:
        late[1, 1](np.zeros(1), 3)
        cuda.synchronize()
    assert str(caught.value).endswith("where i = 0")


def test_a_guard_is_proposed_only_where_the_index_is_the_thread_s_place():
    @cuda.kernel
    def own(out):
        out[cuda.grid(1)] = 1

    @cuda.kernel
    def shifted(out, n):
        i = cuda.grid(1)
        out[i + n] = 1

    for kernel, arguments, guarded in ((own, (), True), (shifted, (64,), False)):
        with pytest.raises(IndexError) as caught:
            kernel[4, 32](np.zeros(65), *arguments)
            cuda.synchronize()
        assert ("a guard such as" in str(caught.value)) == guarded


@pytest.mark.parametrize(
    "dtype", [np.int8, np.uint32, np.int64, np.uint64, np.float16, np.float32, np.float64]
)
def test_what_comes_from_memory_is_told_of_an_assert_s_and_a_raise_s_condition(dtype):
    @cuda.kernel
    def asserted(out, x, most):
        i = cuda.grid(1)
        v = x[i]
        assert v < most, "too much"
        out[i] = v

    @cuda.kernel
    def raised(out, x, most):
        i = cuda.grid(1)
        v = x[i]
        if v > most:
            raise ValueError("too much")
        else:
            out[i] = v

    x = np.ones(8, dtype)
    x[5] = 77
    for kernel, error in ((asserted, AssertionError), (raised, ValueError)):
        with pytest.raises(error) as caught:
            kernel[1, 8](np.zeros(8, dtype), x, 50)
            cuda.synchronize()
        assert str(caught.value).endswith(", where v = 77, most = 50")


def test_the_round_of_a_loop_is_told():
    @cuda.kernel
    def summed(out, x):
        i = cuda.grid(1)
        s = 0.0
        for k in range(x.shape[0]):
            s += x[k]
            assert s + k < 4.5, "too much"
        out[i] = s

    assert told(summed[1, 1], np.zeros(1), np.array([0.5, 1.5, 0.75, 2.5])) == "s = 2.75, k = 2"


def low(v, least):
    if v < least:
        raise ValueError("too little")
    return v


def test_a_helper_s_condition_is_told():
    @cuda.kernel
    def calls(out, x, y):
        i = cuda.grid(1)
        out[i] = low(x[i], 3) + low(y[i], -5)

    y = np.zeros(8, np.int64)
    y[2] = -9
    with pytest.raises(ValueError) as caught:
        calls[1, 8](y, np.arange(8) + 5, y)
        cuda.synchronize()
    assert str(caught.value).endswith(", where v = -9, least = -5")


def test_a_name_that_only_some_ways_set_is_left_out():
    @cuda.kernel
    def some(out, x, n):
        i = cuda.grid(1)
        v = x[i]
        if n > 5:
            t = v + 1
        if n > 5 and t > 100 or v > 70:
            raise ValueError("too much")
        out[i] = v

    x = np.ones(8, np.int64)
    x[5] = 77
    with pytest.raises(ValueError) as caught:
        some[1, 8](np.zeros(8, np.int64), x, 3)
        cuda.synchronize()
    assert " t = " not in str(caught.value) and "v = 77" in str(caught.value)
