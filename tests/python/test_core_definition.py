"""What a kernel's definition alone shows to be wrong is said at once, with its line; what may be meant is not."""

import warnings

import numpy as np
import pytest
import xcuda.core as cuda
from planted import PAIRS
from xcuda.core.definition import KernelWarning


def told(function):
    """(line in the function, sentence) of each warning at its decoration."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cuda.kernel(function)
    first = function.__code__.co_firstlineno
    assert all(w.category is KernelWarning and w.filename == __file__ for w in caught)
    return [(w.lineno - first, str(w.message)) for w in caught]


def unused(x, y, _z):
    x[0] = 1


def never_read(x):
    scratch = cuda.shared.array(32, np.float32)
    scratch[cuda.threadIdx.x] = x[cuda.threadIdx.x]


def parted(x):
    t = cuda.threadIdx.x
    if t < 16:
        x[t] = 0
        cuda.syncthreads()
    elif cuda.threadIdx.y == 0:
        cuda.syncthreads()


def test_an_argument_that_nothing_uses():
    assert told(unused) == [
        (0, "unused: the argument y is never used: take it out, or begin its name with _")
    ]


def test_of_an_unfinished_kernel_nothing_is_said():
    def unfinished(x, y):
        scratch = cuda.shared.array(32, np.float32)
        scratch[cuda.threadIdx.x] = x[0]
        ...

    assert told(unfinished) == []


def test_a_shared_array_that_nothing_reads():
    ((line, text),) = told(never_read)
    assert line == 1 and "the shared array scratch is never read" in text


def test_a_barrier_that_part_of_the_block_comes_to():
    found = told(parted)
    assert {line for line, _ in found} == {4, 6}
    assert "under the condition of line" in found[0][1] and "take it out of the `if`" in found[0][1]


def summed_in_place(x):
    part = cuda.shared.array(32, np.float32)
    part[cuda.threadIdx.x] += x[0]  # read, too


def handed_on(x):
    part = cuda.shared.array(32, np.float32)
    fill(part)
    x[0] = 1


def fill(array):
    array[0] = 1


def guarded_rows(x, n):
    t = cuda.threadIdx.x
    if n > 3:  # the same for all
        cuda.syncthreads()
    if x[0] > 0:
        cuda.syncthreads()
    if t < 32:
        x[t] = 0
    cuda.syncthreads()


def warps_apart(x):
    warp = cuda.threadIdx.x // 32
    if warp == 0:
        cuda.syncwarp()
    x[0] = warp


def stub(x, y):
    pass


def stub_of_dots(x, *, y=2): ...


def documented_stub(x, y):
    """Adds, one day."""
    ...


STUBS = [stub, stub_of_dots, documented_stub]


@pytest.mark.parametrize("function", [summed_in_place, handed_on, guarded_rows, warps_apart, *STUBS])
def test_what_may_be_meant_is_left_in_peace(function):
    assert told(function) == []


def test_clean_twins_are_left_in_peace():
    with warnings.catch_warnings():
        warnings.simplefilter("error", KernelWarning)
        for pair in PAIRS.values():
            cuda.kernel(pair.clean.py_func)


def test_it_is_a_warning_of_its_own_kind():
    assert issubclass(cuda.KernelWarning, UserWarning)
