"""Two threads, one element, a write, and nothing between: on global and on shared memory."""

import numpy as np
import xcuda.core as cuda
from planted.pair import Pair, numbers, zeros


@cuda.kernel
def neighbour_too_early(dst, src):
    part = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    part[t] = src[cuda.grid(1)]
    dst[cuda.grid(1)] = part[63 - t]  # here


@cuda.kernel
def neighbour_after_barrier(dst, src):
    part = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    part[t] = src[cuda.grid(1)]
    cuda.syncthreads()
    dst[cuda.grid(1)] = part[63 - t]


@cuda.kernel
def own_element_needs_none(dst, src):
    part = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    part[t] = src[cuda.grid(1)]
    part[t] = part[t] * 2
    dst[cuda.grid(1)] = part[t]


@cuda.kernel
def tile_overwritten_early(out, a, b):
    sa = cuda.shared.array((8, 8), np.float32)
    j, i = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    t = 0.0
    for m in range(a.shape[1] // 8):
        sa[y, x] = a[i, m * 8 + x]
        cuda.syncthreads()
        for k in range(8):
            t += sa[y, k] * b[m * 8 + k, j]  # here
    out[i, j] = t


@cuda.kernel
def tile_kept_until_read(out, a, b):
    sa = cuda.shared.array((8, 8), np.float32)
    j, i = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    t = 0.0
    for m in range(a.shape[1] // 8):
        sa[y, x] = a[i, m * 8 + x]
        cuda.syncthreads()
        for k in range(8):
            t += sa[y, k] * b[m * 8 + k, j]
        cuda.syncthreads()
    out[i, j] = t


@cuda.kernel
def tree_without_barrier(dst, src):
    part = cuda.shared.array(64, np.int64)
    t = cuda.threadIdx.x
    part[t] = src[cuda.grid(1)]
    cuda.syncthreads()
    step = 32
    while step > 0:
        if t < step:
            part[t] += part[t + step]  # here
        step //= 2
    if t == 0:
        dst[cuda.blockIdx.x] = part[0]


@cuda.kernel
def tree_with_barrier(dst, src):
    part = cuda.shared.array(64, np.int64)
    t = cuda.threadIdx.x
    part[t] = src[cuda.grid(1)]
    cuda.syncthreads()
    step = 32
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        dst[cuda.blockIdx.x] = part[0]


@cuda.kernel
def histogram_added_plainly(bins, src):
    i = cuda.grid(1)
    if i < src.shape[0]:
        bins[src[i]] += 1  # here


@cuda.kernel
def histogram_added_atomically(bins, src):
    i = cuda.grid(1)
    if i < src.shape[0]:
        cuda.atomic.add(bins, src[i], 1)


@cuda.kernel
def sum_of_all(total, src):
    i = cuda.grid(1)
    if i < src.shape[0]:
        total[0] = total[0] + src[i]  # here


@cuda.kernel
def sum_of_all_atomic(total, src):
    i = cuda.grid(1)
    if i < src.shape[0]:
        cuda.atomic.add(total, 0, src[i])


@cuda.kernel
def shared_counter_plain(out, src):
    count = cuda.shared.array(1, np.int32)
    t = cuda.threadIdx.x
    if t == 0:
        count[0] = 0
    cuda.syncthreads()
    if src[cuda.grid(1)] > 2:
        count[0] += 1  # here
    cuda.syncthreads()
    if t == 0:
        out[cuda.blockIdx.x] = count[0]


@cuda.kernel
def shared_counter_atomic(out, src):
    count = cuda.shared.array(1, np.int32)
    t = cuda.threadIdx.x
    if t == 0:
        count[0] = 0
    cuda.syncthreads()
    if src[cuda.grid(1)] > 2:
        cuda.atomic.add(count, 0, 1)
    cuda.syncthreads()
    if t == 0:
        out[cuda.blockIdx.x] = count[0]


@cuda.kernel
def shifted_in_place(a):
    i = cuda.grid(1)
    if i + 1 < a.shape[0]:
        a[i] = a[i + 1] + 1  # here


@cuda.kernel
def own_in_place(a):
    i = cuda.grid(1)
    if i < a.shape[0]:
        a[i] = a[i] + 1


@cuda.kernel
def scattered(dst, where):
    i = cuda.grid(1)
    if i < where.shape[0]:
        dst[where[i]] = i  # here


@cuda.kernel
def last_block_unfenced(partial, done, total, src):
    last = cuda.shared.array(1, np.int32)
    t = cuda.threadIdx.x
    if t == 0:
        partial[cuda.blockIdx.x] = src[cuda.blockIdx.x]
        last[0] = cuda.atomic.add(done, 0, 1)
    cuda.syncthreads()
    if last[0] == cuda.gridDim.x - 1 and t == 0:
        s = 0
        for b in range(cuda.gridDim.x):
            s += partial[b]  # here
        total[0] = s


@cuda.kernel
def last_block_fenced(partial, done, total, src):
    last = cuda.shared.array(1, np.int32)
    t = cuda.threadIdx.x
    if t == 0:
        partial[cuda.blockIdx.x] = src[cuda.blockIdx.x]
        cuda.threadfence()
        last[0] = cuda.atomic.add(done, 0, 1)
    cuda.syncthreads()
    if last[0] == cuda.gridDim.x - 1 and t == 0:
        s = 0
        for b in range(cuda.gridDim.x):
            s += partial[b]
        total[0] = s


@cuda.kernel
def reads_another_block(dst, src):
    i = cuda.grid(1)
    n = dst.shape[0]
    dst[i] = src[i] + 1
    cuda.syncthreads()
    if dst[(i + 64) % n] > 1000:  # here
        dst[i] = 0


@cuda.kernel
def reads_its_own_block(dst, src):
    i = cuda.grid(1)
    first = cuda.blockIdx.x * 64
    dst[i] = src[i] + 1
    cuda.syncthreads()
    high = dst[first + (i + 1) % 64] > 1000
    cuda.syncthreads()
    if high:
        dst[i] = 0


@cuda.kernel
def whole_grid_meets(dst, src):
    i = cuda.grid(1)
    n = dst.shape[0]
    dst[i] = src[i] + 1
    cuda.cg.this_grid().sync()
    src[i] = dst[(i + 64) % n]


@cuda.kernel
def added(out, a, b):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = a[i] + b[i]  # here


@cuda.kernel
def blurred_from_itself(image):
    j, i = cuda.grid(2)
    if 0 < i < image.shape[0] - 1 and 0 < j < image.shape[1] - 1:
        image[i, j] = image[i - 1, j] + image[i + 1, j]  # here


@cuda.kernel
def blurred_from_another(out, image):
    j, i = cuda.grid(2)
    if 0 < i < image.shape[0] - 1 and 0 < j < image.shape[1] - 1:
        out[i, j] = image[i - 1, j] + image[i + 1, j]


@cuda.kernel
def all_set_one_flag(found, src):
    i = cuda.grid(1)
    if i < src.shape[0] and src[i] > 2:
        found[0] = 1


@cuda.kernel
def largest_plainly(best, src):
    i = cuda.grid(1)
    if i < src.shape[0]:
        if src[i] > best[0]:
            best[0] = src[i]  # here


@cuda.kernel
def largest_atomically(best, src):
    i = cuda.grid(1)
    if i < src.shape[0]:
        cuda.atomic.max(best, 0, src[i])


@cuda.kernel
def written_after_atomics(bins, src):
    i = cuda.grid(1)
    if i < src.shape[0]:
        cuda.atomic.add(bins, src[i], 1)
    if i < bins.shape[0]:
        bins[i] = bins[i] * 2  # here


@cuda.kernel
def atomics_then_a_barrier(bins, src):
    mine = cuda.shared.array(5, np.int64)
    t = cuda.threadIdx.x
    if t < 5:
        mine[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(mine, src[cuda.grid(1)], 1)
    cuda.syncthreads()
    if t < 5:
        cuda.atomic.add(bins, t, mine[t] * 2)


def lines(n, m=None, dtype=np.float32):
    return lambda: (zeros(n, dtype=dtype), numbers(m or n, dtype=dtype))


def of_one_array():
    x = numbers(129)
    return x[1:], x[:-1], numbers(128)


def of_two_arrays():
    x = numbers(128)
    return x, x, numbers(128)  # out is a: each thread its own element


def counts():
    return zeros(5, dtype=np.int64), numbers(256, dtype=np.int64)


def positions(repeated):
    def make():
        where = np.random.default_rng(1).permutation(256)
        if repeated:
            where[200] = where[3]
        return zeros(256, dtype=np.int64), where

    return make


def partial_sums():
    whole = np.int64
    return zeros(8, dtype=whole), zeros(1, dtype=np.int32), zeros(1, dtype=whole), numbers(8, dtype=whole)


FOUR = ((4,), (64,))
PAIRS = {
    "neighbour": Pair(neighbour_too_early, neighbour_after_barrier, lines(256), FOUR, "race"),
    "own element": Pair(neighbour_too_early, own_element_needs_none, lines(256), FOUR, "race"),
    "second barrier": Pair(
        tile_overwritten_early,
        tile_kept_until_read,
        lambda: (zeros(16, 16), numbers(16, 16), numbers(16, 16)),
        ((2, 2), (8, 8)),
        "race",
    ),
    "tree": Pair(tree_without_barrier, tree_with_barrier, lines(4, 256, np.int64), FOUR, "race"),
    "histogram": Pair(histogram_added_plainly, histogram_added_atomically, counts, None, "race"),
    "sum": Pair(sum_of_all, sum_of_all_atomic, lines(1, 256), FOUR, "race"),
    "shared counter": Pair(
        shared_counter_plain,
        shared_counter_atomic,
        lambda: (zeros(4, dtype=np.int32), numbers(256)),
        FOUR,
        "race",
    ),
    "in place": Pair(shifted_in_place, own_in_place, lambda: (numbers(300),), None, "race"),
    "scatter": Pair(scattered, scattered, positions(True), None, "race", twin_arguments=positions(False)),
    "last block": Pair(last_block_unfenced, last_block_fenced, partial_sums, ((8,), (32,)), "race"),
    "another block": Pair(reads_another_block, reads_its_own_block, lines(256), FOUR, "race"),
    "whole grid": Pair(reads_another_block, whole_grid_meets, lines(256), FOUR, "race"),
    "overlapping arguments": Pair(added, added, of_one_array, FOUR, "overlap", twin_arguments=of_two_arrays),
    "stencil": Pair(
        blurred_from_itself,
        blurred_from_another,
        lambda: (numbers(20, 20),),
        None,
        "race",
        twin_arguments=lambda: (zeros(20, 20), numbers(20, 20)),
    ),
    "largest": Pair(largest_plainly, largest_atomically, lines(1, 256), FOUR, "race"),
    "flag": Pair(largest_plainly, all_set_one_flag, lines(1, 256), FOUR, "race"),
    "beside atomics": Pair(written_after_atomics, atomics_then_a_barrier, counts, FOUR, "race"),
}
