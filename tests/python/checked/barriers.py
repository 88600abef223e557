"""Barriers that some threads of a block do not come to, or not as often; indices that leave their arrays."""

import numpy as np
import xcuda.core as cuda
from planted.pair import Pair, numbers, zeros


@cuda.kernel
def left_before(dst, src):
    part = cuda.shared.array(64, np.float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if i >= src.shape[0]:
        return
    part[t] = src[i]
    cuda.syncthreads()  # here
    dst[i] = part[t] + 1


@cuda.kernel
def stays_for_it(dst, src):
    part = cuda.shared.array(64, np.float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if i < src.shape[0]:
        part[t] = src[i]
    cuda.syncthreads()
    if i < src.shape[0]:
        dst[i] = part[t] + 1


@cuda.kernel
def under_a_condition(dst, src):
    i = cuda.grid(1)
    if src[i] > 2:
        cuda.syncthreads()  # here
        dst[i] = 1


@cuda.kernel
def under_the_block_s_condition(dst, src):
    i = cuda.grid(1)
    if src[cuda.blockIdx.x] > 2:
        cuda.syncthreads()
        dst[i] = 1


@cuda.kernel
def turns_of_one_s_own(dst, src):
    i = cuda.grid(1)
    for k in range(src[i]):
        cuda.syncthreads()  # here
        dst[i] += k


@cuda.kernel
def turns_of_all(dst, src):
    i = cuda.grid(1)
    for k in range(src[0] + 1):
        cuda.syncthreads()
        dst[i] += k


@cuda.kernel
def two_barriers(dst, src):
    i, t = cuda.grid(1), cuda.threadIdx.x
    if t % 2 == 0:
        dst[i] = 1
        cuda.syncthreads()
    else:
        dst[i] = src[i]
        cuda.syncthreads()  # here


@cuda.kernel
def one_barrier(dst, src):
    i, t = cuda.grid(1), cuda.threadIdx.x
    if t % 2 == 0:
        dst[i] = 1
    else:
        dst[i] = src[i]
    cuda.syncthreads()


@cuda.kernel
def where_votes_are_right(dst, src):
    i, t = cuda.grid(1), cuda.threadIdx.x
    five = cuda.syncthreads_count(t < 5)
    every, some, none = (
        cuda.syncthreads_and(t < 64),
        cuda.syncthreads_or(t == 40),
        cuda.syncthreads_or(t > 63),
    )
    if five == 5 and every and some and not none and not cuda.syncthreads_and(t != 40):
        dst[0] = src[i]  # here


@cuda.kernel
def where_votes_are_wrong(dst, src):
    i, t = cuda.grid(1), cuda.threadIdx.x
    five = cuda.syncthreads_count(t < 5)
    every, some, none = (
        cuda.syncthreads_and(t < 64),
        cuda.syncthreads_or(t == 40),
        cuda.syncthreads_or(t > 63),
    )
    if five != 5 or not every or not some or none or cuda.syncthreads_and(t != 40):
        dst[0] = src[i]


@cuda.kernel(checked=False)
def unguarded(dst, src):
    i = cuda.grid(1)
    dst[i] = src[i]  # here


@cuda.kernel(checked=False)
def guarded(dst, src):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        dst[i] = src[i]


@cuda.kernel(checked=False)
def shared_too_short(dst, src):
    part = cuda.shared.array(32, np.float32)
    t = cuda.threadIdx.x
    part[t] = src[cuda.grid(1)]  # here
    cuda.syncthreads()
    dst[cuda.grid(1)] = part[t]


@cuda.kernel(checked=False)
def shared_long_enough(dst, src):
    part = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    part[t] = src[cuda.grid(1)]
    cuda.syncthreads()
    dst[cuda.grid(1)] = part[t]


def element(x, i):
    return x[i + 1]  # here


@cuda.kernel(checked=False)
def helper_beyond(dst, src):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        dst[i] = element(src, i)


@cuda.kernel(checked=False)
def helper_within(dst, src):
    i = cuda.grid(1)
    if i + 1 < dst.shape[0]:
        dst[i] = element(src, i)


def lines(n, dtype=np.float32):
    return lambda: (zeros(n, dtype=dtype), numbers(n, dtype=dtype))


FOUR = ((4,), (64,))
PAIRS = {
    "left before": Pair(left_before, stays_for_it, lines(200), FOUR, "divergent-barrier"),
    "condition": Pair(under_a_condition, under_the_block_s_condition, lines(256), FOUR, "divergent-barrier"),
    "turns": Pair(turns_of_one_s_own, turns_of_all, lines(256, np.int64), FOUR, "divergent-barrier"),
    "two of them": Pair(two_barriers, one_barrier, lines(256), FOUR, "divergent-barrier"),
    "votes": Pair(where_votes_are_right, where_votes_are_wrong, lines(256), FOUR, "race"),
    "unguarded": Pair(unguarded, guarded, lines(200), FOUR, "out-of-range"),
    "shared too short": Pair(shared_too_short, shared_long_enough, lines(256), FOUR, "out-of-range"),
    "in a helper": Pair(helper_beyond, helper_within, lines(256), FOUR, "out-of-range", mark=None),
}
