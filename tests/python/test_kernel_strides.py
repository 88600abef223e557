"""Grid-stride loops: each element once whatever the grid, where turns depend on one another too; faults name the thread."""

import numpy as np
import pytest
from xcuda import core as cuda

SHAPES = [(1, 1), (1, 32), (3, 64), (40, 256)]
ON_CPU = cuda.Device().kind == "cpu"


def how(kernel):
    return kernel.specialisations[-1]["text"]


def is_taken(kernel):
    """True where the kernel's text has no loop with the grid's stride left."""
    return "xc_step" not in how(kernel)


@pytest.mark.parametrize("grid,block", SHAPES)
@pytest.mark.parametrize("n", [0, 1, 31, 1000])
def test_every_element_once(grid, block, n):
    @cuda.kernel
    def twice(y, x):
        start = cuda.grid(1)
        stride = cuda.gridsize(1)
        for i in range(start, y.size, stride):
            y[i] = y[i] + 2 * x[i]

    x = np.arange(n, dtype=np.float32)
    y = np.ones(n, np.float32)
    twice[grid, block](y, x)
    np.testing.assert_array_equal(y, 1 + 2 * x)
    if ON_CPU and n:
        assert is_taken(twice)


@pytest.mark.parametrize("grid,block", [((1, 1), (1, 1)), ((2, 3), (8, 4))])
def test_two_axes(grid, block):
    @cuda.kernel
    def table(out, x, y):
        j0, i0 = cuda.grid(2)
        sj, si = cuda.gridsize(2)
        for i in range(i0, out.shape[0], si):
            for j in range(j0, out.shape[1], sj):
                out[i, j] = x[i] * y[j] if i != j else 0.0

    x, y = np.arange(37.0), np.arange(50.0)
    out = np.full((37, 50), -1.0)
    table[grid, block](out, x, y)
    want = np.outer(x, y)
    np.fill_diagonal(want, 0)
    np.testing.assert_array_equal(out, want)
    if ON_CPU:
        assert is_taken(table)


def test_atomics():
    @cuda.kernel
    def count(bins, values):
        for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
            cuda.atomic.add(bins, values[i] % 7, 1)

    values = np.arange(1000)
    bins = np.zeros(7, np.int32)
    count[2, 32](bins, values)
    np.testing.assert_array_equal(bins, np.bincount(values % 7))
    if ON_CPU:
        assert is_taken(count)


def carried_number(out, x):
    last = -1.0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] = last
        last = x[i]


def carried_element(out, x):
    stride = cuda.gridsize(1)
    for i in range(cuda.grid(1), x.size, stride):
        out[i] = out[i - stride] + x[i] if i >= stride else x[i]


def last_of_few(out, x):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i % cuda.gridsize(1)] = x[i]


def whose(out, x):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] = cuda.grid(1)


def until(out, x):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        if x[i] > 100:
            break
        out[i] = x[i]


def until_returned(out, x):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        if x[i] > 100:
            return
        out[i] = x[i]


def but_some(out, x):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        if x[i] > 100:
            continue
        out[i] = x[i]


def after_it(out, x):
    total = 0.0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        total += x[i]
    out[cuda.grid(1)] = total


def kept_on_a_stack(out, x):
    stack = cuda.local.array(1, np.float64)
    stack[0] = 0.0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        stack[0] += x[i]
        out[i] = stack[0]


def moving_stop(out, x):
    n = x.size
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        n = 5
        out[i] = x[i] + n


def sometimes_assigned(out, x):
    v = -1.0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        if x[i] > 60:
            v = x[i]
        out[i] = v


def expected(f, out, x, threads):
    """What plain Python makes of it, thread by thread."""
    for t in range(threads):
        here = type("Here", (), {"grid": lambda n, t=t: t, "gridsize": lambda n: threads, "local": Local})
        space = {**f.__globals__, "cuda": here}
        type(f)(f.__code__, space)(out, x)
    return out


class Local:
    array = staticmethod(np.zeros)


@pytest.mark.parametrize("grid,block", [(1, 1), (1, 7), (3, 16)])
@pytest.mark.parametrize(
    "f",
    [
        carried_number, carried_element, last_of_few, whose, until, until_returned, but_some, after_it,
        kept_on_a_stack, moving_stop, sometimes_assigned,
    ],
)  # fmt: skip
def test_turns_that_depend_on_one_another(f, grid, block):
    x = np.random.default_rng(3).permutation(150).astype(np.float64)
    out = np.zeros(150)
    cuda.kernel(f)[grid, block](out, x)
    np.testing.assert_array_equal(out, expected(f, np.zeros(150), x, grid * block))


@pytest.mark.parametrize("axis_length", [100, 40])
def test_a_fault_names_the_thread_that_would_meet_it(axis_length):
    @cuda.kernel
    def beyond(out, x):
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            out[i] = x[i]

    out, x = np.zeros(axis_length), np.ones(101)
    with pytest.raises(IndexError) as caught:
        beyond[2, 16](out, x)
        cuda.synchronize()
    told = str(caught.value)
    assert f"index {axis_length}" in told or not ON_CPU
    first = axis_length % 32
    if ON_CPU and axis_length == 100:  # one element only lies outside
        assert f"thread ({first % 16}, 0, 0) of block ({first // 16}, 0, 0)" in told
