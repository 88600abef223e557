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


def summed(x, total):
    i = cuda.grid(1)
    if i < x.size:
        total[0] += x[i]


def counted(x, bins):
    i = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    if i >= x.size:
        return
    at = int(x[i] * 10)
    bins[at] = bins[at] + 1


def counted_in_a_block(x, bins):
    own = cuda.shared.array(8, np.int32)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        own[x[i]] -= 2
    bins[cuda.threadIdx.x] = own[cuda.threadIdx.x]


def scaled_all(x, out, n):
    i = cuda.grid(1)
    for k in range(n):
        if x[i] > 0:
            out[k, 0] *= x[i]


@pytest.mark.parametrize(
    "function, line, said",
    [
        (summed, 3, "threads that meet at total[0] lose updates"),
        (summed, 3, "write cuda.atomic.add(total, 0, x[i])"),
        (counted, 5, "write cuda.atomic.add(bins, at, 1)"),
        (counted_in_a_block, 3, "write cuda.atomic.sub(own, x[i], 2)"),
        (scaled_all, 4, "give each thread an element of its own"),
    ],
)
def test_updates_that_threads_lose(function, line, said):
    ((found, text),) = told(function)
    assert found == line and said in text


def own_element(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += x[i]
        y[i // 2 + 1] = y[i // 2 + 1] + 1


def own_row(x, columns, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i, columns[i]] += x[i]


def one_thread(x, total):
    for i in range(x.size):
        total[0] += x[i]


def first_thread(x, total):
    t = cuda.threadIdx.x
    if t == 0:
        total[0] += x[0]
    if t != 0:
        return
    total[0] += x[1]


def in_a_list(x, total):
    if not (cuda.grid(1) < 1 and x[0] > 0):
        return
    total[0] += x[0]


def own_memory(x, y):
    local = cuda.local.array(4, np.int64)
    i = cuda.grid(1)
    local[0] = 0
    local[0] += x[i]
    y[i] = local[0]


def with_a_lock(x, total, lock):
    i = cuda.grid(1)
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    total[0] += x[i]
    cuda.atomic.exch(lock, 0, 0)


def with_atomics(x, bins):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(bins, x[i], 1)


@pytest.mark.parametrize(
    "function",
    [own_element, own_row, one_thread, first_thread, in_a_list, own_memory, with_a_lock, with_atomics],
)
def test_updates_that_no_thread_loses(function):
    assert told(function) == []


def in_a_number(x, total):
    i = cuda.grid(1)
    if i < x.size:
        total += x[i]


def in_a_number_written_out(x, total):
    i = cuda.grid(1)
    total = total + x[i]


def counted_down(x, n):
    i = cuda.grid(1)
    while n > 0:
        x[i] += n
        n -= 1


def test_a_number_that_is_only_changed():
    for function, line in ((in_a_number, 3), (in_a_number_written_out, 2)):
        ((found, text),) = told(function)
        assert found == line and "total is changed and never used" in text
        assert "cuda.atomic.add(total, 0, ...)" in text
    assert told(counted_down) == []


def test_several_unused_arguments_are_one_sentence():
    def idle(x, y, z):
        x[0] = 1

    ((_, text),) = told(idle)
    assert text.startswith("idle: the arguments y and z are never used")
