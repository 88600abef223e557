"""Kernels with barriers, shared memory and atomics, against NumPy: uniform control, divergent control, odd blocks."""

import re

import numpy as np
import pytest
from xcuda import core as cuda

RNG = np.random.default_rng(11)
TILE = 8


def data(*shape, dtype=np.float32):
    return (RNG.uniform(-4, 4, shape) * (10 if np.issubdtype(dtype, np.integer) else 1)).astype(dtype)


@cuda.kernel
def block_sum(out, x):
    s = cuda.shared.array(64, cuda.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = x[i] if i < x.size else 0.0
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if t < half:
            s[t] += s[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


@pytest.mark.parametrize("n", [1, 63, 64, 65, 1000])
@pytest.mark.parametrize("block", [64, 32, 4, 2, 1])
def test_block_reduction(n, block):
    x = data(n)
    blocks = -(-n // block)
    out = np.zeros(blocks, np.float32)
    block_sum[blocks, block](out, x)
    padded = np.zeros(blocks * block, np.float32)
    padded[:n] = x
    np.testing.assert_allclose(out, padded.reshape(blocks, block).sum(1), rtol=1e-5, atol=1e-5)


@cuda.kernel
def tiled(C, A, B):
    a = cuda.shared.array((TILE, TILE), cuda.float32)
    b = cuda.shared.array((TILE, TILE), cuda.float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    j, i = cuda.grid(2)
    acc = 0.0
    for t in range((A.shape[1] + TILE - 1) // TILE):
        a[ty, tx] = A[i, t * TILE + tx] if i < A.shape[0] and t * TILE + tx < A.shape[1] else 0.0
        b[ty, tx] = B[t * TILE + ty, j] if t * TILE + ty < B.shape[0] and j < B.shape[1] else 0.0
        cuda.syncthreads()
        for k in range(TILE):
            acc += a[ty, k] * b[k, tx]
        cuda.syncthreads()
    if i < C.shape[0] and j < C.shape[1]:
        C[i, j] = acc


@cuda.kernel
def tiled_numba_axes(C, A, B):
    """As numba's own example has it: x is the row, the contiguous axis is y."""
    a = cuda.shared.array(shape=(TILE, TILE), dtype=cuda.float32)
    b = cuda.shared.array(shape=(TILE, TILE), dtype=cuda.float32)
    x, y = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    steps = cuda.gridDim.x
    acc = 0.0
    for i in range(steps):
        a[tx, ty] = 0
        b[tx, ty] = 0
        if x < A.shape[0] and (ty + i * TILE) < A.shape[1]:
            a[tx, ty] = A[x, ty + i * TILE]
        if y < B.shape[1] and (tx + i * TILE) < B.shape[0]:
            b[tx, ty] = B[tx + i * TILE, y]
        cuda.syncthreads()
        for j in range(TILE):
            acc += a[tx, j] * b[j, ty]
        cuda.syncthreads()
    if x < C.shape[0] and y < C.shape[1]:
        C[x, y] = acc


@pytest.mark.parametrize("shape", [(8, 8, 8), (16, 24, 32), (33, 20, 47), (5, 3, 7)])
@pytest.mark.parametrize("kernel", [tiled, tiled_numba_axes], ids=["tiled", "numba_axes"])
def test_tiled_matrix_product(shape, kernel):
    n, k, m = shape
    a, b = data(n, k), data(k, m)
    c = np.zeros((n, m), np.float32)
    side = -(-max(shape) // TILE)
    kernel[(side, side), (TILE, TILE)](c, a, b)
    np.testing.assert_allclose(c, a @ b, rtol=2e-5, atol=2e-5)


@cuda.kernel
def inclusive_scan(out, x):
    s = cuda.shared.array(32, cuda.float64)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    step = 1
    while step < cuda.blockDim.x:
        v = s[t]
        if t >= step:
            v += s[t - step]
        cuda.syncthreads()
        s[t] = v
        cuda.syncthreads()
        step *= 2
    out[t] = s[t]


@pytest.mark.parametrize("n", [32, 16, 7, 1])
def test_scan_keeps_values_across_barriers(n):
    x = data(n, dtype=np.float64)
    out = np.zeros(n)
    inclusive_scan[1, n](out, x)
    np.testing.assert_allclose(out, np.cumsum(x), rtol=1e-12)


@cuda.kernel
def reverse_in_block(x):
    s = cuda.shared.array(0, cuda.int32)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    x[cuda.grid(1)] = s[cuda.blockDim.x - 1 - t]


def test_dynamic_shared_memory():
    x = np.arange(64, dtype=np.int32)
    reverse_in_block[4, 16, 0, 16 * 4](x)
    np.testing.assert_array_equal(x, np.arange(64).reshape(4, 16)[:, ::-1].ravel())


@cuda.kernel
def barrier_after_return(out, x, n):
    s = cuda.shared.array(32, cuda.float32)
    t = cuda.threadIdx.x
    if t >= n:
        return
    s[t] = x[t]
    cuda.syncthreads()
    out[t] = s[n - 1 - t]


def test_returned_threads_count_as_arrived():
    x = data(32)
    out = np.zeros(32, np.float32)
    barrier_after_return[1, 32](out, x, 20)
    np.testing.assert_array_equal(out[:20], x[:20][::-1])
    np.testing.assert_array_equal(out[20:], 0)


@cuda.kernel
def until_settled(x, rounds):
    """The number of rounds depends on the data: a barrier under control that no analysis can prove uniform."""
    changed = cuda.shared.array(1, cuda.int32)
    t = cuda.threadIdx.x
    n = 0
    while True:
        if t == 0:
            changed[0] = 0
        cuda.syncthreads()
        left = x[t - 1] if t > 0 else x[t]
        cuda.syncthreads()
        if left > x[t]:
            x[t] = left
            changed[0] = 1
        cuda.syncthreads()
        n += 1
        if changed[0] == 0:
            break
        cuda.syncthreads()
    if t == 0:
        rounds[0] = n


def test_barriers_under_control_that_data_decides():
    x = data(24)
    expected = np.maximum.accumulate(x)
    rounds = np.zeros(1, np.int32)
    until_settled[1, 24](x, rounds)
    np.testing.assert_array_equal(x, expected)
    assert 1 <= rounds[0] <= 24


@cuda.kernel
def uniform_loop_in_branch(out, x, flag):
    s = cuda.shared.array(16, cuda.float32)
    t = cuda.threadIdx.x
    v = x[t]
    if flag > 0:
        for k in range(3):
            s[t] = v
            cuda.syncthreads()
            v = s[(t + 1) % 16]
            cuda.syncthreads()
    else:
        v = -v
    out[t] = v


@pytest.mark.parametrize("flag", [0, 1])
def test_barriers_in_a_uniform_branch(flag):
    x = data(16)
    out = np.zeros(16, np.float32)
    uniform_loop_in_branch[1, 16](out, x, flag)
    np.testing.assert_array_equal(out, np.roll(x, -3) if flag else -x)


@cuda.kernel
def histogram(bins, image):
    i, j = cuda.grid(2)
    if i < image.shape[0] and j < image.shape[1]:
        cuda.atomic.add(bins, image[i, j], 1)


@cuda.kernel
def histogram_shared(bins, image):
    local = cuda.shared.array(256, cuda.int32)
    t = cuda.threadIdx.x
    for k in range(t, 256, cuda.blockDim.x):
        local[k] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), image.size, cuda.gridsize(1)):
        cuda.atomic.add(local, image[i], 1)
    cuda.syncthreads()
    for k in range(t, 256, cuda.blockDim.x):
        cuda.atomic.add(bins, k, local[k])


def test_histograms():
    image = RNG.integers(0, 256, (61, 83)).astype(np.uint8)
    expected = np.bincount(image.ravel(), minlength=256)
    bins = np.zeros(256, np.int32)
    histogram[(8, 11), (8, 8)](bins, image)
    np.testing.assert_array_equal(bins, expected)
    bins[:] = 0
    histogram_shared[5, 64](bins, image.ravel())
    np.testing.assert_array_equal(bins, expected)


@cuda.kernel
def extremes(out, x):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.max(out, 0, x[i])
        cuda.atomic.min(out, 1, x[i])


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint32, np.float32, np.float64])
def test_atomic_extremes(dtype):
    x = np.abs(data(1000, dtype=dtype))
    out = np.array([0, 100], dtype)
    extremes[8, 128](out, x)
    np.testing.assert_array_equal(out, [x.max(), min(100, x.min())])


@cuda.kernel
def tickets(counter, seen):
    i = cuda.grid(1)
    if i < seen.size:
        seen[cuda.atomic.add(counter, 0, 1)] = i


def test_atomics_give_the_old_value():
    counter, seen = np.zeros(1, np.int64), np.full(500, -1, np.int64)
    tickets[4, 128](counter, seen)
    assert counter[0] == 500
    np.testing.assert_array_equal(np.sort(seen), np.arange(500))


@cuda.kernel
def claim(slots, winners):
    i = cuda.grid(1)
    if i < winners.size and cuda.atomic.cas(slots, i % slots.size, -1, i) == -1:
        winners[i] = 1


def test_compare_and_swap_has_one_winner():
    slots, winners = np.full(10, -1, np.int32), np.zeros(300, np.int32)
    claim[3, 100](slots, winners)
    assert winners.sum() == 10
    np.testing.assert_array_equal(np.sort(slots), np.sort(np.flatnonzero(winners)))


@cuda.kernel
def local_table(out, x):
    table = cuda.local.array(4, cuda.float32)
    i = cuda.grid(1)
    if i < x.size:
        for k in range(4):
            table[k] = x[i] * k
        s = 0.0
        for k in range(4):
            s += table[3 - k] * (k + 1)
        out[i] = s


def test_local_arrays_are_each_threads_own():
    x = data(50)
    out = np.zeros(50, np.float32)
    local_table[2, 32](out, x)
    np.testing.assert_allclose(out, x * (3 * 1 + 2 * 2 + 1 * 3), rtol=1e-5)


@cuda.kernel
def blur_shared(out, x):
    s = cuda.shared.array((18, 18), cuda.float32)
    j, i = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    for dy in range(ty, 18, 16):
        for dx in range(tx, 18, 16):
            r = min(max(cuda.blockIdx.y * 16 + dy - 1, 0), x.shape[0] - 1)
            c = min(max(cuda.blockIdx.x * 16 + dx - 1, 0), x.shape[1] - 1)
            s[dy, dx] = x[r, c]
    cuda.syncthreads()
    if i < x.shape[0] and j < x.shape[1]:
        t = 0.0
        for dy in range(3):
            for dx in range(3):
                t += s[ty + dy, tx + dx]
        out[i, j] = t / 9


def test_halo_in_shared_memory():
    x = data(37, 53)
    out = np.zeros_like(x)
    blur_shared[(4, 3), (16, 16)](out, x)
    p = np.pad(x, 1, mode="edge")
    expected = sum(p[a : a + 37, b : b + 53] for a in range(3) for b in range(3)) / 9
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-5)


def test_shared_index_out_of_range_names_the_array():
    @cuda.kernel
    def over(x):
        s = cuda.shared.array(8, cuda.float32)
        s[cuda.threadIdx.x + 4] = 1
        cuda.syncthreads()
        x[cuda.threadIdx.x] = s[cuda.threadIdx.x]

    x = np.zeros(8, np.float32)
    with pytest.raises(
        IndexError, match=r"index \d+ is out of range for axis 0 of s with shape \(8,\)"
    ) as told:
        over[1, 8](x)
    index, thread = map(int, re.search(r"index (\d+) .*thread \((\d), 0, 0\)", str(told.value)).groups())
    assert thread in range(4, 8) and index == thread + 4  # whichever of the four a GPU's warp has first
    np.testing.assert_array_equal(x, 0)


def guarded_by_select(out, x, m):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] if i < m else 0


def guarded_by_branch(out, x, m):
    i = cuda.grid(1)
    v = 0.0
    if i < m:
        v = x[i]
    if i < out.size:
        out[i] = v


def guarded_far_away(out, x, m):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i * 1000000] if i < 1 else 0


def guarded_by_and(out, x, m):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = i < m and x[i * 100000] >= 0


@pytest.mark.parametrize("f", [guarded_by_select, guarded_by_branch, guarded_far_away, guarded_by_and])
@pytest.mark.parametrize("checked", [True, False])
def test_no_lane_reads_what_its_thread_does_not_ask_for(f, checked):
    """A vector that computed both sides would read megabytes behind the array: unchecked too."""
    x = data(1)
    out = np.full(1 << 20, -1, np.float32)
    cuda.kernel(f, checked=checked)[(1 << 20) // 256, 256](out, x, 1)
    cuda.synchronize()
    assert out[0] == (1 if f is guarded_by_and and x[0] >= 0 else 0 if f is guarded_by_and else x[0])
    assert not out[1:].any()
