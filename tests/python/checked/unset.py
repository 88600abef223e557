"""Elements that are read before anything was written to them."""

import numpy as np
import xcuda.core as cuda
from planted.pair import Pair, numbers, zeros


@cuda.kernel
def half_filled(dst, src):
    part = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    if t < 32:
        part[t] = src[cuda.grid(1)]
    cuda.syncthreads()
    dst[cuda.grid(1)] = part[t]  # here


@cuda.kernel
def filled(dst, src):
    part = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    part[t] = src[cuda.grid(1)]
    cuda.syncthreads()
    dst[cuda.grid(1)] = part[t]


@cuda.kernel
def bins_not_cleared(out, src):
    mine = cuda.shared.array(8, np.int32)
    t = cuda.threadIdx.x
    cuda.atomic.add(mine, t % 8, 1)  # here
    cuda.syncthreads()
    if t < 8:
        cuda.atomic.add(out, t, mine[t])


@cuda.kernel
def bins_cleared(out, src):
    mine = cuda.shared.array(8, np.int32)
    t = cuda.threadIdx.x
    if t < 8:
        mine[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(mine, t % 8, 1)
    cuda.syncthreads()
    if t < 8:
        cuda.atomic.add(out, t, mine[t])


@cuda.kernel
def local_sum_of_nothing(dst, src):
    mine = cuda.local.array(4, np.float32)
    i = cuda.grid(1)
    for k in range(3):
        mine[k] = src[i] + k
    s = 0.0
    for k in range(4):
        s += mine[k]  # here
    dst[i] = s


@cuda.kernel
def local_sum(dst, src):
    mine = cuda.local.array(4, np.float32)
    i = cuda.grid(1)
    for k in range(4):
        mine[k] = src[i] + k
    s = 0.0
    for k in range(4):
        s += mine[k]
    dst[i] = s


@cuda.kernel
def adds_to(out, src):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] += src[i]  # here


def lines(n, dtype=np.float32):
    return lambda: (zeros(n, dtype=dtype), numbers(n, dtype=dtype))


FOUR = ((4,), (64,))
PAIRS = {
    "half filled": Pair(half_filled, filled, lines(256), FOUR, "uninitialised-read"),
    "shared bins": Pair(
        bins_not_cleared,
        bins_cleared,
        lambda: (zeros(8, dtype=np.int32), zeros(1)),
        FOUR,
        "uninitialised-read",
    ),
    "local": Pair(local_sum_of_nothing, local_sum, lines(256), FOUR, "uninitialised-read"),
    "device array": Pair(
        adds_to,
        adds_to,
        lambda: (cuda.device_array(200, np.float32), numbers(200)),
        None,
        "uninitialised-read",
        twin_arguments=lambda: (cuda.zeros(200, np.float32), numbers(200)),
    ),
    "device bytes": Pair(
        adds_to,
        adds_to,
        lambda: (cuda.device_array(200, np.uint8), numbers(200, dtype=np.uint8)),
        None,
        "uninitialised-read",
        twin_arguments=lambda: (cuda.zeros(200, np.uint8), numbers(200, dtype=np.uint8)),
    ),
}
