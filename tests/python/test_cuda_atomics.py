"""Atomics on every type, in global, shared and local memory, against the same done one after another."""

import numpy as np
import pytest
from xcuda import core as cuda

INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
REALS = [np.float16, np.float32, np.float64]
N = 200


@cuda.kernel
def add(a, x):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(a, i % 3, x[i])


@cuda.kernel
def sub(a, x):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.sub(a, i % 3, x[i])


@cuda.kernel
def greatest(a, x):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.max(a, i % 3, x[i])


@cuda.kernel
def least(a, x):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.min(a, i % 3, x[i])


@cuda.kernel
def nan_greatest(a, x):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.nanmax(a, i % 3, x[i])


@cuda.kernel
def nan_least(a, x):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.nanmin(a, i % 3, x[i])


@cuda.kernel
def both(a, x):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.and_(a, i % 3, x[i])


@cuda.kernel
def either(a, x):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.or_(a, i % 3, x[i])


@cuda.kernel
def one_of(a, x):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.xor(a, i % 3, x[i])


FOLDS = [
    (add, np.add),
    (sub, np.subtract),
    (greatest, np.maximum),
    (least, np.minimum),
    (nan_greatest, np.fmax),
    (nan_least, np.fmin),
    (both, np.bitwise_and),
    (either, np.bitwise_or),
    (one_of, np.bitwise_xor),
]


def values(dtype, n=N):
    rng = np.random.default_rng(7)
    if np.issubdtype(dtype, np.integer):
        return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, n, dtype)
    return rng.integers(-8, 8, n).astype(dtype)  # exact in any order


@pytest.mark.parametrize("dtype", [*INTEGERS, *REALS])
@pytest.mark.parametrize(("kernel", "fold"), FOLDS, ids=[f.__name__ for _, f in FOLDS])
def test_folds(kernel, fold, dtype):
    if fold.__name__.startswith("bitwise") and not np.issubdtype(dtype, np.integer):
        return
    x = values(dtype)
    a = x[:5].copy()
    want = a.copy()
    with np.errstate(over="ignore"):
        for i in range(N):
            want[i % 3] = fold(want[i % 3], x[i])
    kernel[4, 64](a, x)
    np.testing.assert_array_equal(a, want)


@pytest.mark.parametrize("dtype", REALS)
def test_nan(dtype):
    nan = dtype(np.nan)
    x = np.array([1, nan, 5, nan, 2, 7], dtype)
    for kernel, cell, want in [
        (greatest, [0, 0, 0], [1, 2, 7]),
        (greatest, [nan, 0, 9], [nan, 2, 9]),
        (least, [nan, 8, 9], [nan, 2, 5]),
        (nan_greatest, [nan, nan, 0], [1, 2, 7]),
        (nan_least, [nan, nan, nan], [1, 2, 5]),
    ]:
        a = np.array(cell, dtype)
        kernel[1, 6](a, x)
        np.testing.assert_array_equal(a, np.array(want, dtype))


@cuda.kernel
def tickets(a, old):
    i = cuda.grid(1)
    if i < old.size:
        old[i] = cuda.atomic.add(a, 0, 1)


@pytest.mark.parametrize(
    "dtype", [np.int8, np.int16, np.uint8, np.int32, np.uint64, np.float16, np.float32, np.float64]
)
def test_the_old_value_comes_back(dtype):
    a, old = np.zeros(4, dtype), np.zeros(100, dtype)
    tickets[5, 20](a, old)
    np.testing.assert_array_equal(np.sort(old), np.arange(100).astype(dtype))
    np.testing.assert_array_equal(a, np.array([100, 0, 0, 0], dtype))


@cuda.kernel
def wraps(up, down, old, limit):
    i = cuda.grid(1)
    old[i] = cuda.atomic.inc(up, 0, limit)
    cuda.atomic.dec(down, 0, limit)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64])
def test_inc_and_dec(dtype):
    up, down, old = np.zeros(1, dtype), np.zeros(1, dtype), np.zeros(32, dtype)
    wraps[2, 16](up, down, old, dtype(6))
    assert up[0] == 32 % 7
    assert down[0] == (7 - 32 % 7) % 7
    np.testing.assert_array_equal(np.sort(old), np.sort(np.arange(32) % 7))


@cuda.kernel
def swap(a, got):
    i = cuda.grid(1)
    got[i] = cuda.atomic.exch(a, 1, i + 1)


@pytest.mark.parametrize("dtype", [*INTEGERS, *REALS])
def test_exchange(dtype):
    a, got = np.zeros(3, dtype), np.zeros(40, dtype)
    swap[1, 40](a, got)
    np.testing.assert_array_equal(np.sort(np.append(got, a[1])), np.arange(41).astype(dtype))
    assert a[0] == a[2] == 0


@cuda.kernel
def claim(a, won):
    i = cuda.grid(1)
    if cuda.atomic.cas(a, (1, i % 4), 0, i + 1) == 0:
        won[i] = 1


@cuda.kernel
def claim_first(a, won):
    i = cuda.grid(1)
    if cuda.atomic.compare_and_swap(a, 0, i + 1) == 0:
        won[i] = 1


@pytest.mark.parametrize("dtype", [*INTEGERS, *REALS])
def test_compare_and_swap(dtype):
    a, won = np.zeros((2, 4), dtype), np.zeros(32, np.int32)
    claim[2, 16](a, won)
    assert won.sum() == 4
    np.testing.assert_array_equal(np.sort(a[1]), np.sort(np.flatnonzero(won) + 1).astype(dtype))
    assert not a[0].any()
    a, won = np.zeros(1, dtype), np.zeros(32, np.int32)
    claim_first[2, 16](a, won)
    assert won.sum() == 1 and a[0] == np.flatnonzero(won)[0] + 1


@cuda.kernel
def shared_histogram(out, x):
    counts = cuda.shared.array((2, 4), np.int32)
    t = cuda.threadIdx.x
    if t < 8:
        counts[t // 4, t % 4] = 0
    cuda.syncthreads()
    v = x[cuda.grid(1)]
    cuda.atomic.add(counts, (v // 4, v % 4), 1)
    cuda.syncthreads()
    if t < 8:
        cuda.atomic.add(out, t, counts[t // 4, t % 4])


def test_in_shared_memory():
    x = np.random.default_rng(1).integers(0, 8, 256)
    out = np.zeros(8, np.int32)
    shared_histogram[4, 64](out, x)
    np.testing.assert_array_equal(out, np.bincount(x, minlength=8))


def bump(cells, i):
    """A helper with the atomic."""
    return cuda.atomic.add(cells, i, 2)


@cuda.kernel
def local_cells(out, old):
    i = cuda.grid(1)
    mine = cuda.local.array(4, np.float32)
    for k in range(4):
        mine[k] = k
    for k in range(i + 1):
        old[i] = bump(mine, k % 4)
    cuda.atomic.max(mine, 0, 5)
    cuda.atomic.cas(mine, 1, 1, 9)
    for k in range(4):
        out[i, k] = mine[k]


def test_in_local_memory_and_a_helper():
    out, old = np.zeros((3, 4), np.float32), np.zeros(3, np.float32)
    local_cells[1, 3](out, old)
    np.testing.assert_array_equal(out, [[5, 9, 2, 3], [5, 3, 2, 3], [5, 3, 4, 3]])
    np.testing.assert_array_equal(old, [0, 1, 2])


@cuda.kernel
def into_view(a, x):
    i = cuda.grid(1)
    column = a[:, 1]
    cuda.atomic.add(column, -1 - i % 2, x[i])


def test_on_a_view_from_the_end():
    a = np.zeros((3, 2))
    into_view[1, 10](a, np.arange(10.0))
    np.testing.assert_array_equal(a, [[0, 0], [0, 25], [0, 20]])


@cuda.kernel
def outside(a, x):
    cuda.atomic.add(a, x.size, x[0])


def test_an_index_out_of_range():
    a = np.zeros(4, np.int16)
    with pytest.raises(IndexError, match="index 7 is out of range for axis 0 of a with shape"):
        outside[1, 1](a, np.ones(7, np.int16))
    assert not a.any()


def test_refusals():
    for dtype, kernel, words in [
        (np.float32, both, "cuda.atomic.and_ does not work on float32; use an integer type"),
        (np.bool_, add, "cuda.atomic.add does not work on bool"),
        (np.int32, wraps, "cuda.atomic.inc does not work on int32; use uint8, uint16, uint32 or uint64"),
    ]:
        a = np.zeros(4, dtype)
        arguments = (a, a, a, dtype(1)) if kernel is wraps else (a, a)
        with pytest.raises(cuda.KernelSyntaxError, match=words):
            kernel[1, 1](*arguments)
