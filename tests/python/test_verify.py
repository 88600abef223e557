"""cuda.verify: one sentence on what is wrong with a launch's results, at which element and by which thread."""

from __future__ import annotations

import numpy as np
import pytest
from cpu_device import needs_cpu
from xcuda import core as cuda

pytestmark = needs_cpu

A = np.arange(8.0)


@cuda.kernel
def plus_ten(a, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + 10


def line(kernel, offset):
    return kernel.py_func.__code__.co_firstlineno + offset


def test_right():
    found = cuda.verify(plus_ten[2, 6], A, np.zeros(8), expected={"out": A + 10})
    assert found and found.right and repr(found) == "right"


def test_nothing_writes_it():
    @cuda.kernel
    def unfinished(a, out):
        i = cuda.grid(1)
        ...

    found = cuda.verify(unfinished[1, 8], A, np.zeros(8), expected={"out": A + 10})
    assert not found
    assert found.sentence == (
        "out[0] is 0.0 and should be 10.0, since no thread writes it (7 other elements of out differ too)"
    )


def test_who_wrote_it_and_what_it_had_read():
    @cuda.kernel
    def off_by_one(a, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = a[max(i - 1, 0)]

    out = np.zeros(8)
    found = cuda.verify(off_by_one[2, 4], A, out, expected={"out": np.maximum(A - 1, 0) + (A == 5)})
    assert found.sentence == (
        f"out[5] is 4.0 and should be 5.0, as thread (1, 0, 0) of block (1, 0, 0) writes it at line "
        f"{line(off_by_one, 4)}, having read a[4]"
    )
    assert not out.any()


def test_matrices_integers_and_nans():
    @cuda.kernel
    def negated(a, out):
        i, j = cuda.grid(2)
        if i < out.shape[0] and j < out.shape[1]:
            out[i, j] = -a[i, j]

    a = np.arange(6, dtype=np.int32).reshape(2, 3)
    want = -a
    assert cuda.verify(negated, a, np.zeros_like(a), expected={"out": want})
    want[1, 2] = 7
    found = cuda.verify(negated, a, np.zeros_like(a), expected={"out": want})
    assert found.sentence.startswith("out[1, 2] is -5 and should be 7, as thread (1, 2, 0)")
    x = np.array([[np.nan, 1.0]], np.float32)
    assert cuda.verify(negated, x, np.zeros_like(x), expected={"out": -x})
    assert not cuda.verify(negated, x, np.zeros_like(x), expected={"out": -x * np.float32(1.001)})
    assert cuda.verify(negated, x, np.zeros_like(x), expected={"out": -x * np.float32(1.001)}, rtol=0.01)


def test_an_index_out_of_range_comes_first():
    @cuda.kernel
    def no_guard(a, out):
        i = cuda.grid(1)
        out[i] = a[i] + 10

    found = cuda.verify(no_guard[1, 10], A, np.zeros(8), expected={"out": A + 10})
    assert found.sentence.startswith("IndexError: index 8 is out of range for axis 0 of a with shape (8,)")


def test_a_result_that_is_right_by_chance():
    @cuda.kernel
    def total(a, out):
        part = cuda.shared.array(8, np.float64)
        t = cuda.threadIdx.x
        part[t] = a[t]
        if t == 7:
            out[0] = part[0] + part[1]

    found = cuda.verify(total[1, 8], A, np.zeros(1), expected={"out": [1.0]})
    assert found.sentence.startswith("the result is right by chance only: line ")
    assert "put cuda.syncthreads() between the two lines" in found.sentence
    wrong = cuda.verify(total[1, 8], A, np.zeros(1), expected={"out": [2.0]})
    assert wrong.sentence.startswith("out[0] is 1.0 and should be 2.0, as thread (7, 0, 0) writes it")
    assert "cuda.syncthreads()" in wrong.sentence


def test_the_last_of_several_writers():
    @cuda.kernel
    def all_to_one(a, out):
        out[0] = a[cuda.grid(1)]

    found = cuda.verify(all_to_one[1, 8], A, np.zeros(1), expected={"out": [28.0]})
    assert "(the last of 8 threads that do), having read a[7]: line" in found.sentence


def test_how_often_global_memory_may_be_read():
    @cuda.kernel
    def squares(a, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = a[i] * a[i]

    call = (squares[1, 8], A, np.zeros(8))
    assert cuda.verify(*call, expected={"out": A * A}, most_reads=2)
    found = cuda.verify(*call, expected={"out": A * A}, most_reads=1)
    assert found.sentence == (
        "the result is right, but thread (0, 0, 0) of block (0, 0, 0) reads global memory 2 times, and 1 is enough"
    )


def test_refusals():
    with pytest.raises(TypeError, match=r"verify takes a kernel, or kernel\[grid, block\], not function"):
        cuda.verify(plus_ten.py_func, A, A, expected={})
    with pytest.raises(TypeError, match="expected is a dict of parameters and arrays"):
        cuda.verify(plus_ten[1, 8], A, np.zeros(8), expected=A)
    with pytest.raises(ValueError, match="the kernel has no parameter 'result': it has a, out"):
        cuda.verify(plus_ten[1, 8], A, np.zeros(8), expected={"result": A})
    with pytest.raises(ValueError, match=r"out is \(8,\) and is expected to be \(7,\)"):
        cuda.verify(plus_ten[1, 8], A, np.zeros(8), expected={"out": A[1:]})
