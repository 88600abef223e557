"""Loops that a block's threads share, and guards beside other statements, in kernels with barriers: against NumPy."""

import numpy as np
import pytest
from xcuda import core as cuda

TPB = 64
ON_CPU = cuda.Device().kind == "cpu"
RNG = np.random.default_rng(5)


def tree(part, t):
    step = TPB // 2
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2


@cuda.kernel
def row_sums(out, a):
    part = cuda.shared.array(TPB, np.float64)
    t = cuda.threadIdx.x
    total = 0.0
    for j in range(t, a.shape[1], TPB):
        total += a[cuda.blockIdx.x, j]
    part[t] = total
    cuda.syncthreads()
    tree(part, t)
    if t == 0:
        out[cuda.blockIdx.x] = part[0]


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 127, 128, 1000])
def test_a_row_for_a_block(n):
    a = RNG.random((5, n))
    out = np.full(5, -1.0)
    row_sums[5, TPB](out, a)
    np.testing.assert_allclose(out, a.sum(1), rtol=1e-12)
    if ON_CPU:
        assert "round" in row_sums.specialisations[-1]["text"]


@cuda.kernel
def whole_sum(out, x, first, last):
    part = cuda.shared.array(TPB, np.float64)
    t = cuda.threadIdx.x
    total = 0.0
    for i in range(first + cuda.grid(1), last, cuda.gridsize(1)):
        total += x[i]
    part[t] = total
    cuda.syncthreads()
    tree(part, t)
    if t == 0:
        cuda.atomic.add(out, 0, part[0])


@pytest.mark.parametrize("blocks", [1, 3])
@pytest.mark.parametrize(
    "first,last", [(0, 1000), (7, 1000), (0, 10), (900, 1000), (50, 50), (60, 10), (0, 193)]
)
def test_a_part_of_an_array_for_the_grid(blocks, first, last):
    x = RNG.random(1000)
    out = np.zeros(1)
    whole_sum[blocks, TPB](out, x, first, last)
    np.testing.assert_allclose(out[0], x[first:last].sum(), rtol=1e-12)


@cuda.kernel
def steps_wider_than_the_block(out, x):
    seen = cuda.shared.array(TPB, np.int64)
    t = cuda.threadIdx.x
    count = 0
    last = -1
    for i in range(t, x.size, 100):
        if x[i] > 0.5:
            count += 1
            last = i
    seen[t] = count
    cuda.syncthreads()
    out[t] = seen[TPB - 1 - t] * 10000 + last


def test_branches_and_values_carried_from_turn_to_turn():
    x = RNG.random(1234)
    out = np.zeros(TPB, np.int64)
    steps_wider_than_the_block[1, TPB](out, x)
    hits = [[i for i in range(t, 1234, 100) if x[i] > 0.5] for t in range(TPB)]
    want = [len(hits[TPB - 1 - t]) * 10000 + (hits[t][-1] if hits[t] else -1) for t in range(TPB)]
    np.testing.assert_array_equal(out, want)


@cuda.kernel
def steps_narrower_than_the_block(out, x):
    seen = cuda.shared.array(TPB, np.float64)
    t = cuda.threadIdx.x
    total = 0.0
    for i in range(t, x.size, 10):
        total += x[i]
    seen[t] = total
    cuda.syncthreads()
    out[t] = seen[t]


def test_threads_that_take_different_numbers_of_turns():
    x = RNG.random(200)
    out = np.zeros(TPB)
    steps_narrower_than_the_block[1, TPB](out, x)
    np.testing.assert_allclose(out, [x[t::10].sum() for t in range(TPB)], rtol=1e-12)


@cuda.kernel
def left_early(out, x):
    seen = cuda.shared.array(TPB, np.int64)
    t = cuda.threadIdx.x
    found = -1
    for i in range(t, x.size, TPB):
        if x[i] > 0.9:
            found = i
            break
        if x[i] > 0.7:
            continue
        found = -2
    seen[t] = found
    cuda.syncthreads()
    out[t] = seen[t]


def test_jumps():
    x = RNG.random(1000)
    out = np.zeros(TPB, np.int64)
    left_early[1, TPB](out, x)

    def found(t):
        last = -1
        for i in range(t, 1000, TPB):
            if x[i] > 0.9:
                return i
            if x[i] <= 0.7:
                last = -2
        return last

    np.testing.assert_array_equal(out, [found(t) for t in range(TPB)])


@cuda.kernel
def scan(out, x):
    s = cuda.shared.array(TPB, np.float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    step = 1
    while step < TPB:
        value = s[t]
        if t >= step:
            value += s[t - step]
        cuda.syncthreads()
        s[t] = value
        cuda.syncthreads()
        step *= 2
    if i < x.size:
        out[i] = s[t]
    if t == TPB - 1:
        out[x.size + cuda.blockIdx.x] = s[t]


@pytest.mark.parametrize("n", [1, 64, 100, 192])
def test_a_guard_between_other_statements(n):
    x = RNG.random(n)
    blocks = -(-n // TPB)
    out = np.zeros(n + blocks)
    scan[blocks, TPB](out, x)
    padded = np.zeros(blocks * TPB)
    padded[:n] = x
    sums = padded.reshape(blocks, TPB).cumsum(1)
    np.testing.assert_allclose(out[:n], sums.reshape(-1)[:n], rtol=1e-12)
    np.testing.assert_allclose(out[n:], sums[:, -1], rtol=1e-12)


@cuda.kernel
def one_of_each(out, k):
    s = cuda.shared.array((4, 8), np.int64)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    s[y, x] = 10 * y + x
    if x == k:
        s[y, x] = -1
    if y == 1 and x == 2:
        s[y, x] = -2
    if 7 == x:
        s[y, x] = -3
    cuda.syncthreads()
    out[y, x] = s[3 - y, 7 - x]


@pytest.mark.parametrize("k", [-1, 0, 5, 7, 8])
def test_guards_of_equality(k):
    out = np.zeros((4, 8), np.int64)
    one_of_each[1, (8, 4)](out, k)
    s = 10 * np.arange(4)[:, None] + np.arange(8)
    if 0 <= k < 8:
        s[:, k] = -1
    s[1, 2] = -2
    s[:, 7] = -3
    np.testing.assert_array_equal(out, s[::-1, ::-1])


def test_equality_bounds_a_kernel_without_barriers():
    @cuda.kernel
    def put(out, k, v):
        i = cuda.grid(1)
        if i == k:
            out[i] = v

    for k in (-1, 0, 3, 9, 20):
        out = np.zeros(10)
        put[2, 8](out, k, 5.0)
        want = np.zeros(10)
        if 0 <= k < 10:
            want[k] = 5
        np.testing.assert_array_equal(out, want)


def test_a_fault_in_the_last_turn_names_its_thread():
    @cuda.kernel
    def beyond(out, x):
        s = cuda.shared.array(TPB, np.float64)
        t = cuda.threadIdx.x
        s[t] = 0.0
        cuda.syncthreads()
        for i in range(t, x.size, TPB):
            out[i] = x[i]
        cuda.syncthreads()

    with pytest.raises(IndexError, match=r"index 70 .*") as caught:
        beyond[1, TPB](np.zeros(70), np.ones(71))
        cuda.synchronize()
    assert "thread (6, 0, 0)" in str(caught.value)
