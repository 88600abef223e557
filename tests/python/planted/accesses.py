"""Faults of single accesses to global memory."""

import numpy as np
import xcuda.core as cuda

from planted.pair import Pair, numbers, zeros


@cuda.kernel
def scaled_down_columns(dst, src):
    i, j = cuda.grid(2)
    if i < dst.shape[0] and j < dst.shape[1]:
        dst[i, j] = src[i, j] * 2.0  # here


@cuda.kernel
def scaled_along_rows(dst, src):
    j, i = cuda.grid(2)
    if i < dst.shape[0] and j < dst.shape[1]:
        dst[i, j] = src[i, j] * 2.0


@cuda.kernel
def every_eighth(dst, src):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        dst[i] = src[i * 8]  # here


@cuda.kernel
def every_one(dst, src):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        dst[i] = src[i]


@cuda.kernel
def gathered(dst, src, index):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        dst[i] = src[index[i]]  # here


@cuda.kernel
def interleaved_fields(dst, points):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        dst[i] = points[4 * i + 1] + 1.0  # here


@cuda.kernel
def separate_fields(dst, points):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        dst[i] = points[dst.shape[0] + i] + 1.0


@cuda.kernel
def written_transposed(dst, src):
    j, i = cuda.grid(2)
    if i < src.shape[0] and j < src.shape[1]:
        dst[j, i] = src[i, j]  # here


@cuda.kernel
def written_straight(dst, src):
    j, i = cuda.grid(2)
    if i < src.shape[0] and j < src.shape[1]:
        dst[i, j] = src[i, j]


@cuda.kernel
def a_row_a_thread(dst, src):
    i = cuda.grid(1)
    if i < src.shape[0]:
        top = src[i, 0]
        for k in range(1, src.shape[1]):
            top = max(top, src[i, k])  # here
        dst[i] = top


@cuda.kernel
def a_column_a_thread(dst, src):
    i = cuda.grid(1)
    if i < src.shape[1]:
        top = src[0, i]
        for k in range(1, src.shape[0]):
            top = max(top, src[k, i])
        dst[i] = top


@cuda.kernel
def a_piece_a_thread(dst, src, each):
    i = cuda.grid(1)
    for k in range(each):
        at = i * each + k
        if at < dst.shape[0]:
            dst[at] = src[at] + 1.0  # here


@cuda.kernel
def in_steps_of_the_grid(dst, src):
    for at in range(cuda.grid(1), dst.shape[0], cuda.gridsize(1)):
        dst[at] = src[at] + 1.0


@cuda.kernel
def sum_kept_in_memory(dst, src):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        for k in range(16):
            dst[i] += src[i + k * dst.shape[0]]  # here


@cuda.kernel
def sum_kept_in_register(dst, src):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        total = dst[i]
        for k in range(16):
            total += src[i + k * dst.shape[0]]
        dst[i] = total


@cuda.kernel
def set_and_summed(out, src):
    j, i = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = 0
        for k in range(src.shape[0]):
            for l in range(2):
                out[i, j] += src[k, i, j] * l  # here


@cuda.kernel
def summed_and_set(out, src):
    j, i = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        total = 0
        for k in range(src.shape[0]):
            for l in range(2):
                total += src[k, i, j] * l
        out[i, j] = total


@cuda.kernel
def factor_in_the_loop(dst, src, factors):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        t = 0.0
        for k in range(8):
            t += src[i + k * dst.shape[0]] * factors[i]  # here
        dst[i] = t


@cuda.kernel
def factor_before_the_loop(dst, src, factors):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        t = 0.0
        factor = factors[i]
        for k in range(8):
            t += src[i + k * dst.shape[0]] * factor
        dst[i] = t


@cuda.kernel
def limit_read_while_counting(dst, limits):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        n = 0
        while n * n < limits[i]:  # here
            n += 1
        dst[i] = n


@cuda.kernel
def limit_read_once(dst, limits):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        n = 0
        limit = limits[i]
        while n * n < limit:
            n += 1
        dst[i] = n


@cuda.kernel
def unguarded(dst, src):
    i = cuda.grid(1)
    dst[i] = src[i] + 1.0  # here


@cuda.kernel
def guarded(dst, src):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        dst[i] = src[i] + 1.0


@cuda.kernel
def neighbour_beyond_the_end(dst, src):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        dst[i] = 1.0
        dst[i] = src[i] + src[i + 1]  # here


@cuda.kernel
def neighbour_within(dst, src):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        dst[i] = 1.0
        if i + 1 < src.shape[0]:
            dst[i] = src[i] + src[i + 1]


@cuda.kernel
def product_from_global_memory(C, A, B):
    j, i = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        t = 0.0
        for k in range(A.shape[1]):
            t += A[i, k] * B[k, j]  # here
        C[i, j] = t


@cuda.kernel
def product_by_tiles(C, A, B):
    sA = cuda.shared.array((16, 16), np.float32)
    sB = cuda.shared.array((16, 16), np.float32)
    j, i = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    t = 0.0
    for m in range(0, A.shape[1], 16):
        sA[y, x] = A[i, m + x] if i < A.shape[0] and m + x < A.shape[1] else 0
        sB[y, x] = B[m + y, j] if m + y < B.shape[0] and j < B.shape[1] else 0
        cuda.syncthreads()
        for k in range(16):
            t += sA[y, k] * sB[k, x]
        cuda.syncthreads()
    if i < C.shape[0] and j < C.shape[1]:
        C[i, j] = t


@cuda.kernel
def nearest_from_global_memory(dst, src):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        best = np.float32(1e9)
        for k in range(src.shape[0]):
            best = min(best, abs(src[k] - i))  # here
        dst[i] = best


@cuda.kernel
def nearest_by_pieces(dst, src):
    piece = cuda.shared.array(128, np.float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    best = np.float32(1e9)
    for start in range(0, src.shape[0], 128):
        piece[t] = src[start + t] if start + t < src.shape[0] else 0
        cuda.syncthreads()
        if i < dst.shape[0]:
            for k in range(min(128, src.shape[0] - start)):
                best = min(best, abs(piece[k] - i))
        cuda.syncthreads()
    if i < dst.shape[0]:
        dst[i] = best


def two(n, m):
    return lambda: (zeros(n, m), numbers(n, m))


def lines(n, m=None):
    return lambda: (zeros(n), numbers(m or n))


def products():
    return zeros(60, 52), numbers(60, 70), numbers(70, 52)


PAIRS = {
    "rows by columns": Pair(
        scaled_down_columns,
        scaled_along_rows,
        two(256, 192),
        ((8, 24), (32, 8)),
        "strided-access",
        twin_launch=((6, 32), (32, 8)),
    ),
    "every eighth": Pair(
        every_eighth, every_one, lines(1024, 8192), ((8,), (128,)), "strided-access", same=False
    ),
    "gathered": Pair(
        gathered,
        every_one,
        lambda: (zeros(1024), numbers(1024), np.random.default_rng(1).permutation(1024)),
        None,
        "strided-access",
        twin_arguments=lines(1024),
        same=False,
    ),
    "fields side by side": Pair(
        interleaved_fields, separate_fields, lines(1024, 4096), None, "strided-access", same=False
    ),
    "written transposed": Pair(
        written_transposed,
        written_straight,
        lambda: (zeros(96, 128), numbers(128, 96)),
        ((3, 16), (32, 8)),
        "strided-access",
        twin_arguments=two(128, 96),
        same=False,
    ),
    "a row a thread": Pair(
        a_row_a_thread,
        a_column_a_thread,
        lambda: (zeros(256), numbers(256, 20)),
        ((2,), (128,)),
        "strided-access",
        twin_arguments=lambda: (zeros(256), numbers(20, 256)),
        same=False,
        also=("strided-access",),
    ),
    "a piece a thread": Pair(
        a_piece_a_thread,
        in_steps_of_the_grid,
        lambda: (zeros(2048), numbers(2048), 8),
        ((2,), (128,)),
        "strided-access",
        twin_arguments=lines(2048),
    ),
    "sum in memory": Pair(
        sum_kept_in_memory, sum_kept_in_register, lines(1024, 16384), None, "accumulation-in-memory"
    ),
    "set, then summed": Pair(
        set_and_summed,
        summed_and_set,
        lambda: (zeros(32, 64), numbers(3, 32, 64)),
        ((2, 4), (32, 8)),
        "accumulation-in-memory",
    ),
    "factor in the loop": Pair(
        factor_in_the_loop,
        factor_before_the_loop,
        lambda: (zeros(512), numbers(4096), numbers(512)),
        None,
        "loop-invariant-load",
    ),
    "limit of a while": Pair(
        limit_read_while_counting,
        limit_read_once,
        lambda: (zeros(512), np.full(512, 30.0, np.float32)),
        None,
        "loop-invariant-load",
    ),
    "no guard": Pair(unguarded, guarded, lines(1000), ((4,), (256,)), "out-of-range"),
    "a neighbour too many": Pair(
        neighbour_beyond_the_end, neighbour_within, lines(1000), None, "out-of-range"
    ),
    "product": Pair(
        product_from_global_memory,
        product_by_tiles,
        products,
        ((4, 4), (16, 16)),
        "repeated-reads",
    ),
    "walk over a list": Pair(
        nearest_from_global_memory,
        nearest_by_pieces,
        lines(500, 700),
        ((4,), (128,)),
        "repeated-reads",
    ),
}
