"""Faults of a kernel's head and of its launch."""

import numpy as np
import xcuda.core as cuda

from planted.pair import Pair, numbers, zeros


@cuda.kernel
def with_idle_argument(dst, src, weights):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        dst[i] = src[i]


@cuda.kernel
def with_all_arguments(dst, src, weights):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        dst[i] = src[i] + weights[i]


@cuda.kernel
def copied(dst, src):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        dst[i] = src[i]


@cuda.kernel
def much_shared(dst, src):
    part = cuda.shared.array(11264, np.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = src[i]
    cuda.syncthreads()
    dst[i] = part[127 - t]


@cuda.kernel
def little_shared(dst, src):
    part = cuda.shared.array(128, np.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = src[i]
    cuda.syncthreads()
    dst[i] = part[127 - t]


@cuda.kernel(max_registers=16)
def many_values_few_registers(dst, src):
    i = cuda.grid(1)
    n = dst.shape[0]
    if i < n:
        a, b, c, d = src[i], src[i + n], src[i + 2 * n], src[i + 3 * n]
        e, f, g, h = src[i + 4 * n], src[i + 5 * n], src[i + 6 * n], src[i + 7 * n]
        p, q, r, s = src[i + 8 * n], src[i + 9 * n], src[i + 10 * n], src[i + 11 * n]
        u, v, w, x = src[i + 12 * n], src[i + 13 * n], src[i + 14 * n], src[i + 15 * n]
        for k in range(n // 64):
            a, b, c, d = b * c, c * d, d * e, e * f
            e, f, g, h = f * g, g * h, h * p, p * q
            p, q, r, s = q * r, r * s, s * u, u * v
            u, v, w, x = v * w, w * x, x * a, a * b
        dst[i] = (a + b + c + d) * (e + f + g + h) * (p + q + r + s) * (u + v + w + x)


@cuda.kernel
def many_values(dst, src):
    i = cuda.grid(1)
    n = dst.shape[0]
    if i < n:
        a, b, c, d = src[i], src[i + n], src[i + 2 * n], src[i + 3 * n]
        e, f, g, h = src[i + 4 * n], src[i + 5 * n], src[i + 6 * n], src[i + 7 * n]
        p, q, r, s = src[i + 8 * n], src[i + 9 * n], src[i + 10 * n], src[i + 11 * n]
        u, v, w, x = src[i + 12 * n], src[i + 13 * n], src[i + 14 * n], src[i + 15 * n]
        for k in range(n // 64):
            a, b, c, d = b * c, c * d, d * e, e * f
            e, f, g, h = f * g, g * h, h * p, p * q
            p, q, r, s = q * r, r * s, s * u, u * v
            u, v, w, x = v * w, w * x, x * a, a * b
        dst[i] = (a + b + c + d) * (e + f + g + h) * (p + q + r + s) * (u + v + w + x)


def lines(n, m=None):
    return lambda: (zeros(n), numbers(m or n))


def three(n):
    return lambda: (zeros(n), numbers(n), numbers(n))


MANY = 132 * 2048

PAIRS = {
    "idle argument": Pair(
        with_idle_argument, with_all_arguments, three(1024), None, "unused", None, same=False
    ),
    "part of a warp": Pair(
        copied, copied, lines(1000), ((10,), (100,)), "part-warp", None, twin_launch=((8,), (128,))
    ),
    "one thread a block": Pair(
        copied, copied, lines(64), ((64,), (1,)), "part-warp", None, twin_launch=((1,), (64,))
    ),
    "small blocks": Pair(
        copied,
        copied,
        lines(MANY),
        ((MANY // 32,), (32,)),
        "low-occupancy",
        None,
        twin_launch=((MANY // 256,), (256,)),
    ),
    "much shared memory": Pair(
        much_shared,
        little_shared,
        lines(MANY),
        ((MANY // 128,), (128,)),
        "low-occupancy",
        None,
    ),
    "few registers": Pair(
        many_values_few_registers, many_values, lines(1024, 16 * 1024), None, "register-spills", None
    ),
    "few blocks": Pair(
        copied,
        copied,
        lines(8192),
        ((8,), (1024,)),
        "small-grid",
        None,
        twin_launch=((256,), (32,)),
        multiprocessors=132,
    ),
    "a nearly empty wave": Pair(
        copied,
        copied,
        lines(132 * 2048 + 1024),
        ((133 * 2 - 1,), (1024,)),
        "small-grid",
        None,
        twin_launch=((264,), (1024,)),
        twin_arguments=lines(264 * 1024),
        multiprocessors=132,
        same=False,
    ),
}
