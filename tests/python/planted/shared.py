"""Faults of shared memory and of what a block's threads do together."""

import numpy as np
import xcuda.core as cuda

from planted.pair import Pair, numbers, zeros


@cuda.kernel
def transposed_through_one_bank(dst, src):
    tile = cuda.shared.array((32, 32), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = src[cuda.blockIdx.y * 32 + y, cuda.blockIdx.x * 32 + x]
    cuda.syncthreads()
    dst[cuda.blockIdx.x * 32 + y, cuda.blockIdx.y * 32 + x] = tile[x, y]  # here


@cuda.kernel
def transposed_through_all_banks(dst, src):
    tile = cuda.shared.array((32, 33), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = src[cuda.blockIdx.y * 32 + y, cuda.blockIdx.x * 32 + x]
    cuda.syncthreads()
    dst[cuda.blockIdx.x * 32 + y, cuda.blockIdx.y * 32 + x] = tile[x, y]


@cuda.kernel
def reversed_in_steps(dst, src):
    part = cuda.shared.array(1024, np.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t * 4] = src[i]  # here
    cuda.syncthreads()
    dst[i] = part[t * 4] + 1.0


@cuda.kernel
def reversed_side_by_side(dst, src):
    part = cuda.shared.array(256, np.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = src[i]
    cuda.syncthreads()
    dst[i] = part[t] + 1.0


@cuda.kernel
def doubles_in_one_bank(dst, src):
    tile = cuda.shared.array((16, 16), np.float64)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = src[y, x]
    cuda.syncthreads()
    dst[y, x] = tile[x, y]  # here


@cuda.kernel
def doubles_in_all_banks(dst, src):
    tile = cuda.shared.array((16, 17), np.float64)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = src[y, x]
    cuda.syncthreads()
    dst[y, x] = tile[x, y]


@cuda.kernel
def neighbours_unsafe(dst, src):
    part = cuda.shared.array(256, np.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = src[i]
    dst[i] = part[(t + 1) % 256]  # here


@cuda.kernel
def neighbours_safe(dst, src):
    part = cuda.shared.array(256, np.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = src[i]
    cuda.syncthreads()
    dst[i] = part[(t + 1) % 256]


@cuda.kernel
def tiles_without_second_barrier(C, A, B):
    sA = cuda.shared.array((16, 16), np.float32)
    sB = cuda.shared.array((16, 16), np.float32)
    j, i = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    t = 0.0
    for m in range(A.shape[1] // 16):
        sA[y, x] = A[i, m * 16 + x]
        sB[y, x] = B[m * 16 + y, j]
        cuda.syncthreads()
        for k in range(16):
            t += sA[y, k] * sB[k, x]  # here
    C[i, j] = t


@cuda.kernel
def tiles_with_both_barriers(C, A, B):
    sA = cuda.shared.array((16, 16), np.float32)
    sB = cuda.shared.array((16, 16), np.float32)
    j, i = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    t = 0.0
    for m in range(A.shape[1] // 16):
        sA[y, x] = A[i, m * 16 + x]
        sB[y, x] = B[m * 16 + y, j]
        cuda.syncthreads()
        for k in range(16):
            t += sA[y, k] * sB[k, x]
        cuda.syncthreads()
    C[i, j] = t


@cuda.kernel
def tree_without_barrier(dst, src):
    part = cuda.shared.array(128, np.float32)
    t = cuda.threadIdx.x
    part[t] = src[cuda.grid(1)]
    cuda.syncthreads()
    step = 64
    while step > 0:
        if t < step:
            part[t] += part[t + step]  # here
        step //= 2
    if t == 0:
        dst[cuda.blockIdx.x] = part[0]


@cuda.kernel
def tree_with_barrier(dst, src):
    part = cuda.shared.array(128, np.float32)
    t = cuda.threadIdx.x
    part[t] = src[cuda.grid(1)]
    cuda.syncthreads()
    step = 64
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        dst[cuda.blockIdx.x] = part[0]


@cuda.kernel
def shifted_in_place(a):
    i = cuda.grid(1)
    if i + 1 < a.shape[0]:
        a[i] = a[i + 1] + 1.0  # here


@cuda.kernel
def own_in_place(a):
    i = cuda.grid(1)
    if i < a.shape[0]:
        a[i] = a[i] + 1.0


@cuda.kernel
def last_one_wins(best, src):
    i = cuda.grid(1)
    if i < src.shape[0]:
        best[0] = src[i]  # here


@cuda.kernel
def all_set_one_flag(best, src):
    i = cuda.grid(1)
    if i < src.shape[0] and src[i] >= 0:
        best[0] = 1


@cuda.kernel
def one_counter(total, src):
    i = cuda.grid(1)
    if i < src.shape[0]:
        cuda.atomic.add(total, 0, src[i])  # here


@cuda.kernel
def block_counter(total, src):
    part = cuda.shared.array(256, np.float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    part[t] = src[i] if i < src.shape[0] else np.float32(0)
    cuda.syncthreads()
    step = 128
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        cuda.atomic.add(total, 0, part[0])


@cuda.kernel
def few_bins(bins, src):
    i = cuda.grid(1)
    if i < src.shape[0]:
        cuda.atomic.add(bins, src[i], 1)  # here


@cuda.kernel
def few_bins_a_block(bins, src):
    mine = cuda.shared.array(5, np.int64)
    t = cuda.threadIdx.x
    if t < 5:
        mine[t] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < src.shape[0]:
        cuda.atomic.add(mine, src[i], 1)
    cuda.syncthreads()
    if t < 5:
        cuda.atomic.add(bins, t, mine[t])


@cuda.kernel
def scratch_never_read(dst, src):
    scratch = cuda.shared.array(64, np.float32)  # here
    i = cuda.grid(1)
    scratch[cuda.threadIdx.x % 64] = 1.0
    if i < dst.shape[0]:
        dst[i] = src[i]


@cuda.kernel
def scratch_taken_out(dst, src):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        dst[i] = src[i]


def lines(n, m=None):
    return lambda: (zeros(n), numbers(m or n))


def products():
    return zeros(64, 64), numbers(64, 64), numbers(64, 64)


PAIRS = {
    "transpose, one bank": Pair(
        transposed_through_one_bank,
        transposed_through_all_banks,
        lambda: (zeros(64, 64), numbers(64, 64)),
        ((2, 2), (32, 32)),
        "bank-conflict",
    ),
    "steps of four words": Pair(
        reversed_in_steps,
        reversed_side_by_side,
        lines(1024),
        ((4,), (256,)),
        "bank-conflict",
        also=("bank-conflict",),
    ),
    "float64 in one bank": Pair(
        doubles_in_one_bank,
        doubles_in_all_banks,
        lambda: (zeros(16, 16, dtype=np.float64), numbers(16, 16, dtype=np.float64)),
        ((1, 1), (16, 16)),
        "bank-conflict",
    ),
    "no barrier": Pair(neighbours_unsafe, neighbours_safe, lines(1024), ((4,), (256,)), "race"),
    "no second barrier": Pair(
        tiles_without_second_barrier, tiles_with_both_barriers, products, ((4, 4), (16, 16)), "race"
    ),
    "no barrier in a tree": Pair(
        tree_without_barrier, tree_with_barrier, lines(8, 1024), ((8,), (128,)), "race"
    ),
    "in place": Pair(shifted_in_place, own_in_place, lambda: (numbers(1024),), None, "race", same=False),
    "last one wins": Pair(last_one_wins, all_set_one_flag, lines(1, 1024), None, "race", same=False),
    "one counter": Pair(one_counter, block_counter, lines(1, 1024), ((4,), (256,)), "contended-atomics"),
    "few bins": Pair(
        few_bins,
        few_bins_a_block,
        lambda: (zeros(5, dtype=np.int64), numbers(1024, dtype=np.int64)),
        ((4,), (256,)),
        "contended-atomics",
    ),
    "never read": Pair(
        scratch_never_read, scratch_taken_out, lines(1024), ((4,), (256,)), "unused", also=("race",)
    ),
}
