"""The values that a fault names, told by the CUDA device as by the CPU device: the kernels' CUDA text computes over the fake
driver's memory, and what was read from arrays comes back by copies of the elements.
"""

from __future__ import annotations

import contextlib
import linecache

import host_cuda
import host_gpu
import numpy as np
import pytest
import test_fault_values
from fake_cuda import driver, need_nvrtc, on_fake
from test_fault_values import BEYOND, beyond, summed_beyond, told
from xcuda import _runtime
from xcuda import core as cuda

THE_SAME = (
    "two_names_that_were_read_from_memory",
    "a_divisor_of_two_names_that_were_read_from_memory",
    "what_a_helper_read_from_memory",
    "what_the_kernel_writes_is_not_read_again",
    "arrays_that_others_may_have_changed_since_are_not_read",
)


@contextlib.contextmanager
def computing():
    """Within it launches compute: by the text of the version that was launched."""
    need_nvrtc()
    host_cuda.need_compiler()
    launched = []

    def text_of(entry):
        kernel = launched[-1]
        return [s for s in kernel.specialisations if s["entry"] == entry][-1]

    before = _runtime.set_launch_hook(lambda callee, _: launched.append(getattr(callee, "kernel", callee)))
    try:
        with host_gpu.computing(text_of):
            yield
    finally:
        _runtime.set_launch_hook(before)


@pytest.mark.parametrize("name", THE_SAME)
@on_fake()
def test_a_gpu_tells_the_same(name):
    with computing():
        getattr(test_fault_values, "test_" + name)()
    assert driver.get("launches") > 0


@on_fake()
def test_in_a_stream_and_of_a_bound_launch():
    with computing():
        test_fault_values.test_they_are_told_in_a_stream_and_of_a_bound_launch_too()


COPIES = "cuMemcpyDtoHAsync"


@on_fake()
def test_a_copy_that_fails_leaves_the_names_out_and_tells_the_fault():
    with computing():
        values = beyond()
        before = driver.get("calls:" + COPIES)
        assert told(summed_beyond[1, 8], *values) == BEYOND
        assert driver.get("calls:" + COPIES) - before == 3  # the result, and two elements
        driver.fail(COPIES, 1, after=1, times=2)
        assert told(summed_beyond[1, 8], *values) == "i = 5"
        assert told(summed_beyond[1, 8], *values) == BEYOND


@on_fake()
def test_the_launch_that_faulted_is_told_where_the_gpu_is_lost_after_it():
    with computing():
        driver.fail(COPIES, 700, after=1)
        assert told(summed_beyond[1, 8], *beyond()) == "i = 5"


def written(lines):
    """A kernel of these lines."""
    source = "def many(out, x):\n    i = cuda.grid(1)\n" + "".join(f"    {line}\n" for line in lines)
    names = {"cuda": cuda}
    linecache.cache["<many>"] = (len(source), None, source.splitlines(True), "<many>")
    exec(compile(source, "<many>", "exec"), names)
    return cuda.kernel(names["many"])


@on_fake()
def test_what_one_message_costs_is_bounded():
    read = [f"a{k} = x[i + {k}]" for k in range(40)] + [f"out[{' + '.join(f'a{k}' for k in range(40))}] = 1"]
    # Each stands twice in the next: 2 ** 31 ways to the first.
    folded = ["a0 = x[i]"] + [f"a{k} = a{k - 1} + a{k - 1}" for k in range(1, 31)] + ["out[a30] = a0"]
    with computing():
        values = np.zeros(3), np.ones(40, np.int64)
        before = driver.get("calls:" + COPIES)
        text = told(written(read)[1, 1], *values)
        assert text.count(" = 1") == 6 == text.count(" = ")
        assert driver.get("calls:" + COPIES) - before == 1 + 16
        assert told(written(folded)[1, 1], *values) == f"a30 = {2**30}, a0 = 1"
