"""What lanes of a warp may rely on: that a shuffle or syncwarp() orders them, and nothing else does."""

import numpy as np
import xcuda.core as cuda
from planted.pair import Pair, numbers, zeros


@cuda.kernel
def warp_tree_unsynced(dst, src):
    part = cuda.shared.array(32, np.float32)
    t = cuda.threadIdx.x
    part[t] = src[cuda.grid(1)]
    cuda.syncwarp()
    step = 16
    while step > 0:
        if t < step:
            part[t] += part[t + step]  # here
        step //= 2
    if t == 0:
        dst[cuda.blockIdx.x] = part[0]


@cuda.kernel
def warp_tree_synced(dst, src):
    part = cuda.shared.array(32, np.float32)
    t = cuda.threadIdx.x
    part[t] = src[cuda.grid(1)]
    cuda.syncwarp()
    step = 16
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        cuda.syncwarp()
        step //= 2
    if t == 0:
        dst[cuda.blockIdx.x] = part[0]


@cuda.kernel
def across_warps(dst, src):
    part = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    part[t] = src[cuda.grid(1)]
    cuda.syncwarp()
    dst[cuda.grid(1)] = part[(t + 32) % 64]  # here


@cuda.kernel
def inside_warps(dst, src):
    part = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    part[t] = src[cuda.grid(1)]
    cuda.syncwarp()
    dst[cuda.grid(1)] = part[t // 32 * 32 + (t + 1) % 32]


@cuda.kernel
def half_a_warp_synced(dst, src):
    part = cuda.shared.array(32, np.float32)
    t = cuda.threadIdx.x
    part[t] = src[cuda.grid(1)]
    if t < 16:
        cuda.syncwarp(0x0000FFFF)
    else:
        cuda.syncwarp(0xFFFF0000)
    dst[cuda.grid(1)] = part[31 - t]  # here


@cuda.kernel
def halves_apart(dst, src):
    part = cuda.shared.array(32, np.float32)
    t = cuda.threadIdx.x
    part[t] = src[cuda.grid(1)]
    if t < 16:
        cuda.syncwarp(0x0000FFFF)
    else:
        cuda.syncwarp(0xFFFF0000)
    dst[cuda.grid(1)] = part[t // 16 * 16 + (t + 3) % 16]


@cuda.kernel
def shuffled_sum(dst, src):
    t = cuda.threadIdx.x
    v = src[cuda.grid(1)]
    for step in (16, 8, 4, 2, 1):
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, step)
    if t == 0:
        dst[cuda.blockIdx.x] = v


def lines(n, m=None):
    return lambda: (zeros(n), numbers(m or n))


PAIRS = {
    "tree": Pair(warp_tree_unsynced, warp_tree_synced, lines(4, 128), ((4,), (32,)), "race"),
    "shuffles": Pair(warp_tree_unsynced, shuffled_sum, lines(4, 128), ((4,), (32,)), "race"),
    "two warps": Pair(across_warps, inside_warps, lines(128), ((2,), (64,)), "race"),
    "half a warp": Pair(half_a_warp_synced, halves_apart, lines(64), ((2,), (32,)), "race"),
}
