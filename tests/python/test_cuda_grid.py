"""cuda.cg.this_grid().sync(): all threads of the grid meet, with the right results on both devices."""

import numpy as np
import pytest
from xcuda import core as cuda


@cuda.kernel
def neighbours(out, x):
    """Writes what a thread of another block wrote before."""
    g = cuda.cg.this_grid()
    i = cuda.grid(1)
    n = x.size
    x[i] = i * i
    g.sync()
    out[i] = x[(i + n // 2) % n]
    g.sync()
    x[i] = out[(i + 1) % n]


@pytest.mark.parametrize(("grid", "block"), [(1, 1), (1, 64), (5, 32), (16, 64)])
def test_all_blocks_meet(grid, block):
    n = grid * block
    x, out = np.zeros(n, np.int64), np.zeros(n, np.int64)
    neighbours[grid, block](out, x)
    want = np.roll(np.arange(n) ** 2, -(n // 2))
    np.testing.assert_array_equal(out, want)
    np.testing.assert_array_equal(x, np.roll(want, -1))


@cuda.kernel
def heat(a, b, steps):
    grid = cuda.cg.this_grid()
    i, j = cuda.grid(2)
    for _ in range(steps):
        if 0 < i < a.shape[0] - 1 and 0 < j < a.shape[1] - 1:
            b[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])
        grid.sync()
        if 0 < i < a.shape[0] - 1 and 0 < j < a.shape[1] - 1:
            a[i, j] = b[i, j]
        grid.sync()


def test_steps_in_a_loop_of_a_two_dimensional_grid():
    a = np.zeros((24, 20))
    a[0] = 1
    b, want = a.copy(), a.copy()
    heat[(3, 3), (8, 8)](a, b, 10)
    for _ in range(10):
        want[1:-1, 1:-1] = 0.25 * (want[:-2, 1:-1] + want[2:, 1:-1] + want[1:-1, :-2] + want[1:-1, 2:])
    np.testing.assert_allclose(a, want)


@cuda.kernel
def block_totals(out, total):
    """Each block's shared memory is its own while all are under way."""
    s = cuda.shared.array(1, np.int64)
    t = cuda.threadIdx.x
    if t == 0:
        s[0] = cuda.blockIdx.x
    cuda.cg.this_grid().sync()
    cuda.atomic.add(s, 0, 1)
    cuda.syncthreads()
    out[cuda.grid(1)] = s[0]
    cuda.atomic.add(total, 0, 1)
    cuda.cg.this_grid().sync()
    out[cuda.grid(1)] += 1000 * total[0]


def test_shared_memory_of_each_block():
    out, total = np.zeros(4 * 16, np.int64), np.zeros(1, np.int64)
    block_totals[4, 16](out, total)
    np.testing.assert_array_equal(
        out.reshape(4, 16), 1000 * 64 + 16 + np.arange(4)[:, None] + np.zeros((1, 16))
    )


def test_too_many_blocks_are_refused():
    n = 1 << 22
    x = cuda.device_array(n, np.int64)
    with pytest.raises(
        ValueError, match=r"can't meet in grid.sync\(\).* at most \d+ such blocks can be resident"
    ):
        neighbours[n // 64, 64](x, x)
        cuda.synchronize()


@cuda.kernel
def fails(x):
    i = cuda.grid(1)
    if i == 3:
        x[i + x.size] = 1
    cuda.cg.this_grid().sync()
    x[i] = 1


def test_a_fault_ends_the_launch():
    with pytest.raises(IndexError):
        fails[2, 1](np.zeros(2))
        fails[4, 1](np.zeros(4))
        cuda.synchronize()


def test_refusals():
    @cuda.kernel
    def other(x):
        cuda.cg.this_grid().size()

    with pytest.raises(cuda.KernelSyntaxError, match="the grid in a kernel has no 'size'; it has sync()"):
        other[1, 1](np.zeros(1))
