"""Faults of control flow: threads of a warp that part, barriers that not all come to."""

import numpy as np
import xcuda.core as cuda

from planted.pair import Pair, numbers, zeros


@cuda.kernel
def odd_and_even(dst, src):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        if i % 2 == 0:  # here
            dst[i] = src[i] + 1.0
        else:
            dst[i] = src[i] * 3.0


@cuda.kernel
def whole_warps(dst, src):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        if (i // 32) % 2 == 0:
            dst[i] = src[i] + 1.0
        else:
            dst[i] = src[i] * 3.0


@cuda.kernel
def parts_by_value(dst, src):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        t = src[i]
        if src[i] > 2:  # here
            t += np.sin(t)
        else:
            t += np.cos(t)
        dst[i] = t


@cuda.kernel
def chooses_by_value(dst, src):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        t = src[i]
        t += np.sin(t) if src[i] > 2 else np.cos(t)
        dst[i] = t


@cuda.kernel
def triangle(dst, src):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        t = src[i]
        for k in range(i % 32 + 1):  # here
            t += 1.0
        dst[i] = t


@cuda.kernel
def rectangle(dst, src):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        t = src[i]
        for k in range(16):
            t += 1.0
        dst[i] = t


@cuda.kernel
def until_each_is_done(dst, src):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        n = 0
        left = (i * 7) % 32
        while left > 0:  # here
            left -= 1
            n += 2
        dst[i] = src[i] + n


@cuda.kernel
def until_all_are_done(dst, src):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        n = 0
        left = (i // 32) % 32
        while left > 0:
            left -= 1
            n += 2
        dst[i] = src[i] + n


@cuda.kernel
def half_the_block_meets(dst, src):
    part = cuda.shared.array(256, np.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = src[i]
    if t < 128:
        part[t] = src[i] + 1.0
        cuda.syncthreads()  # here
        dst[i] = part[t] * 2.0


@cuda.kernel
def the_block_meets(dst, src):
    part = cuda.shared.array(256, np.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = src[i]
    if t < 128:
        part[t] = src[i] + 1.0
    cuda.syncthreads()
    if t < 128:
        dst[i] = part[t] * 2.0


@cuda.kernel
def two_barriers_for_two_halves(dst, src):
    part = cuda.shared.array(256, np.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = src[i]
    if t < 128:
        cuda.syncthreads()
    else:
        cuda.syncthreads()  # here
    dst[i] = part[255 - t]


@cuda.kernel
def one_barrier_for_two_halves(dst, src):
    part = cuda.shared.array(256, np.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = src[i]
    cuda.syncthreads()
    dst[i] = part[255 - t]


@cuda.kernel
def left_before_the_barrier(dst, src):
    part = cuda.shared.array(256, np.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if i >= src.shape[0]:
        return
    part[t] = src[i]
    cuda.syncthreads()  # here
    dst[i] = part[0]


@cuda.kernel
def guarded_round_the_barrier(dst, src):
    part = cuda.shared.array(256, np.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if i < src.shape[0]:
        part[t] = src[i]
    cuda.syncthreads()
    if i < src.shape[0]:
        dst[i] = part[0]


def lines(n, m=None):
    return lambda: (zeros(n), numbers(m or n))


PAIRS = {
    "odd and even": Pair(odd_and_even, whole_warps, lines(1024), None, "divergent-branch", same=False),
    "by value": Pair(parts_by_value, chooses_by_value, lines(1024), None, "divergent-branch"),
    "triangle": Pair(triangle, rectangle, lines(1024), None, "uneven-loop", same=False),
    "until each is done": Pair(
        until_each_is_done, until_all_are_done, lines(1024), None, "uneven-loop", same=False
    ),
    "half a block meets": Pair(
        half_the_block_meets, the_block_meets, lines(1024), ((4,), (256,)), "divergent-barrier"
    ),
    "two barriers": Pair(
        two_barriers_for_two_halves,
        one_barrier_for_two_halves,
        lines(1024),
        ((4,), (256,)),
        "divergent-barrier",
        same=False,
    ),
    "left before": Pair(
        left_before_the_barrier, guarded_round_the_barrier, lines(200), ((1,), (256,)), "divergent-barrier"
    ),
}
