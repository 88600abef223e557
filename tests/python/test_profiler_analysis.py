"""profiler.analyze: kernels with a planted fault, each found at its line, and clean twins, in which none is found."""

import numpy as np
import pytest
import xcuda.core as cuda
from xcuda import profiler

TPB = 256


def rows(n=256, m=192):
    return np.ones((n, m), np.float32)


# -- the kernels: (faulty, clean, arguments, launch shape or None, rule, what the faulty line holds) ----------------


@cuda.kernel
def copy_down_columns(dst, src):
    i, j = cuda.grid(2)
    if i < dst.shape[0] and j < dst.shape[1]:
        dst[i, j] = src[i, j] * 2.0  # far apart


@cuda.kernel
def copy_along_rows(dst, src):
    j, i = cuda.grid(2)
    if i < dst.shape[0] and j < dst.shape[1]:
        dst[i, j] = src[i, j] * 2.0


@cuda.kernel
def every_eighth(dst, src):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        dst[i] = src[i * 8]  # far apart


@cuda.kernel
def every_one(dst, src):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        dst[i] = src[i]


@cuda.kernel
def gathered(dst, src, index):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        dst[i] = src[index[i]]  # far apart


@cuda.kernel
def transpose_conflicting(dst, src):
    tile = cuda.shared.array((32, 32), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = src[cuda.blockIdx.y * 32 + y, cuda.blockIdx.x * 32 + x]
    cuda.syncthreads()
    dst[cuda.blockIdx.x * 32 + y, cuda.blockIdx.y * 32 + x] = tile[x, y]  # one bank


@cuda.kernel
def transpose_padded(dst, src):
    tile = cuda.shared.array((32, 33), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = src[cuda.blockIdx.y * 32 + y, cuda.blockIdx.x * 32 + x]
    cuda.syncthreads()
    dst[cuda.blockIdx.x * 32 + y, cuda.blockIdx.y * 32 + x] = tile[x, y]


@cuda.kernel
def odd_and_even(dst, src):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        if i % 2 == 0:  # they part
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
def triangle(dst, src):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        t = src[i]
        for k in range(i % 32 + 1):  # uneven
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
def matmul_naive(C, A, B):
    j, i = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        t = 0.0
        for k in range(A.shape[1]):
            t += A[i, k] * B[k, j]  # again and again
        C[i, j] = t


@cuda.kernel
def matmul_tiled(C, A, B):
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
def matmul_without_second_barrier(C, A, B):
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
            t += sA[y, k] * sB[k, x]  # while others write the next tile
    C[i, j] = t


@cuda.kernel
def sum_in_memory(dst, src):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        for k in range(src.shape[0]):
            dst[i] += src[k]  # in memory


@cuda.kernel
def sum_in_register(dst, src):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        dst[i] = src[i] + 1.0


@cuda.kernel
def same_element(dst, src, factors):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        t = 0.0
        for k in range(8):
            t += src[i + k * dst.shape[0]] * factors[i]  # the same each time
        dst[i] = t


@cuda.kernel
def same_element_before(dst, src, factors):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        t = 0.0
        factor = factors[i]
        for k in range(8):
            t += src[i + k * dst.shape[0]] * factor
        dst[i] = t


@cuda.kernel
def one_counter(total, src):
    i = cuda.grid(1)
    if i < src.shape[0]:
        cuda.atomic.add(total, 0, src[i])  # all on one


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
def neighbours_unsafe(dst, src):
    part = cuda.shared.array(256, np.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = src[i]
    dst[i] = part[(t + 1) % 256]  # no barrier


@cuda.kernel
def neighbours_safe(dst, src):
    part = cuda.shared.array(256, np.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = src[i]
    cuda.syncthreads()
    dst[i] = part[(t + 1) % 256]


@cuda.kernel
def shifted_in_place(a):
    i = cuda.grid(1)
    if i + 1 < a.shape[0]:
        a[i] = a[i + 1] + 1.0  # a neighbour's


@cuda.kernel
def own_in_place(a):
    i = cuda.grid(1)
    if i < a.shape[0]:
        a[i] = a[i] + 1.0


@cuda.kernel
def all_set_one_flag(flag, a):
    i = cuda.grid(1)
    if i < a.shape[0] and a[i] > 0:
        flag[0] = 1


@cuda.kernel
def unguarded(dst, src):
    i = cuda.grid(1)
    dst[i] = src[i]  # beyond


@cuda.kernel
def integers_divided(dst, n):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        dst[i] = dst[i] * (i / n)  # float64


@cuda.kernel
def singles_divided(dst, n):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        dst[i] = dst[i] * (np.float32(i) / np.float32(n))


@cuda.kernel
def wraps_by_division(dst, n):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        k = i
        for turn in range(8):
            k = (k + 7) % n  # divides
        dst[i] = k


@cuda.kernel
def wraps_by_constant(dst, n):
    i = cuda.grid(1)
    if i < dst.shape[0]:
        k = i + n
        for turn in range(8):
            k = (k + 7) % 64
        dst[i] = k


@cuda.kernel
def with_idle_argument(dst, src, weights):  # weights
    i = cuda.grid(1)
    if i < dst.shape[0]:
        dst[i] = src[i]


@cuda.kernel
def with_idle_shared(dst, src):
    scratch = cuda.shared.array(64, np.float32)  # never read
    i = cuda.grid(1)
    scratch[cuda.threadIdx.x % 64] = 1.0
    if i < dst.shape[0]:
        dst[i] = src[i]


def line(n=1024, dtype=np.float32):
    return np.ones(n, dtype)


PLANTED = {
    "columns": (copy_down_columns, (rows(), rows()), ((8, 24), (32, 8)), "strided-access", "# far apart"),
    "stride": (every_eighth, (line(128), line()), ((1,), (128,)), "strided-access", "# far apart"),
    "gather": (
        gathered,
        (line(), line(), np.random.default_rng(1).permutation(1024)),
        None,
        "strided-access",
        "# far apart",
    ),
    "banks": (
        transpose_conflicting,
        (rows(64, 64), rows(64, 64)),
        ((2, 2), (32, 32)),
        "bank-conflict",
        "# one bank",
    ),
    "parity": (odd_and_even, (line(), line()), None, "divergent-branch", "# they part"),
    "triangle": (triangle, (line(), line()), None, "uneven-loop", "# uneven"),
    "reuse": (
        matmul_naive,
        (rows(64, 64), rows(64, 64), rows(64, 64)),
        ((4, 4), (16, 16)),
        "repeated-reads",
        "# again",
    ),
    "late write": (
        matmul_without_second_barrier,
        (rows(64, 64), rows(64, 64), rows(64, 64)),
        ((4, 4), (16, 16)),
        "race",
        "# while",
    ),
    "no barrier": (neighbours_unsafe, (line(), line()), ((4,), (256,)), "race", "# no barrier"),
    "in place": (shifted_in_place, (line(),), None, "race", "# a neighbour's"),
    "memory sum": (
        sum_in_memory,
        (line(), line(8)),
        None,
        "accumulation-in-memory",
        "# in memory",
    ),
    "invariant": (
        same_element,
        (line(128), line(), line(128)),
        None,
        "loop-invariant-load",
        "# the same",
    ),
    "atomics": (one_counter, (line(1), line()), None, "contended-atomics", "# all on one"),
    "guard": (unguarded, (line(1000), line(1000)), ((4,), (256,)), "out-of-range", "# beyond"),
    "float64": (integers_divided, (line(), np.int64(3)), None, "float64-arithmetic", "# float64"),
    "division": (wraps_by_division, (line(dtype=np.int64), 60), None, "integer-division", "# divides"),
    "argument": (with_idle_argument, (line(), line(), line()), None, "unused", "# weights"),
    "shared": (with_idle_shared, (line(), line()), None, "unused", "# never read"),
}

CLEAN = {
    "rows": (copy_along_rows, (rows(), rows()), ((6, 32), (32, 8))),
    "columns, shape ours": (copy_down_columns, (rows(), rows()), None),
    "one": (every_one, (line(128), line(128)), ((1,), (128,))),
    "padded": (transpose_padded, (rows(64, 64), rows(64, 64)), ((2, 2), (32, 32))),
    "warps": (whole_warps, (line(), line()), None),
    "rectangle": (rectangle, (line(), line()), None),
    "tiled": (matmul_tiled, (rows(64, 64), rows(64, 64), rows(64, 64)), ((4, 4), (16, 16))),
    "barrier": (neighbours_safe, (line(), line()), ((4,), (256,))),
    "own": (own_in_place, (line(),), None),
    "flag": (all_set_one_flag, (np.zeros(1, np.int32), line()), None),
    "register": (sum_in_register, (line(), line()), None),
    "before": (same_element_before, (line(128), line(), line(128)), None),
    "block": (block_counter, (line(1), line()), ((4,), (256,))),
    "guarded": (every_one, (line(1000), line(1000)), ((4,), (256,))),
    "singles": (singles_divided, (line(), np.int64(3)), None),
    "constant": (wraps_by_constant, (line(dtype=np.int64), 60), None),
}


def analyzed(kernel, arguments, shape):
    return profiler.analyze(kernel[shape] if shape else kernel, *arguments)


def line_with(kernel, mark):
    import inspect

    text, first = inspect.getsourcelines(kernel.py_func)
    return next(first + i for i, each in enumerate(text) if mark in each)


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_found_at_its_line(name):
    kernel, arguments, shape, rule, mark = PLANTED[name]
    found = analyzed(kernel, arguments, shape)
    lines = [f.line for f in found.of(rule)]
    wanted = line_with(kernel, mark)
    if rule == "unused" and name == "argument":
        assert lines and "weights" in found.of(rule)[0].evidence
    else:
        assert wanted in lines, found
    for finding in found:
        assert finding.evidence and finding.advice


@pytest.mark.parametrize("name", CLEAN)
def test_a_clean_twin_is_left_in_peace(name):
    kernel, arguments, shape = CLEAN[name]
    found = analyzed(kernel, arguments, shape)
    assert len(found) == 0, found
    assert found.complete and found.records > 0


def test_each_rule_has_a_planted_fault():
    assert {rule for _, _, _, rule, _ in PLANTED.values()} == set(profiler.rules())


def test_figures_in_the_evidence_are_the_patterns_own():
    found = analyzed(*PLANTED["columns"][:3])
    (read, write) = found.of("strided-access")
    assert "192 elements apart" in read.evidence
    assert "takes 32 transactions of 32 bytes where 4 would do" in write.evidence
    assert read.gain == 8
    (bank,) = analyzed(*PLANTED["banks"][:3]).of("bank-conflict")
    assert "32 deep" in bank.evidence
    assert "(32, 33)" in bank.advice
    (uneven,) = analyzed(*PLANTED["triangle"][:3]).of("uneven-loop")
    assert uneven.gain == pytest.approx(
        32 / 16.5
    )  # turns 1 to 32: the warp does 32, its threads 16.5 on average


def test_the_callers_arrays_stay_as_they_are():
    a = line()
    profiler.analyze(own_in_place, a)
    assert (a == 1).all()
    on_device = cuda.to_device(line())
    profiler.analyze(own_in_place, on_device)
    assert (on_device.copy_to_host() == 1).all()


def test_types_stand_for_arguments():
    found = profiler.analyze(every_eighth[8, 128], "float32[:]", "float32[:]")
    (beyond,) = found.of("out-of-range")  # 1,003 elements, and an index of eight times that
    assert "src" in beyond.evidence
    assert len(profiler.analyze(every_one, "float64[:]", "float64[:]")) == 0


def test_what_is_no_kernel_is_refused():
    with pytest.raises(TypeError, match="analyze takes a kernel"):
        profiler.analyze(len, 1)


def test_a_kernel_that_prints_is_analyzed():
    @cuda.kernel
    def talks(a):
        i = cuda.grid(1)
        if i < a.size:
            a[i] = i
            if i == 3:
                print("three", i)

    assert len(profiler.analyze(talks, line())) == 0


def test_a_kernel_whose_blocks_meet_is_analyzed():
    @cuda.kernel
    def meets(a, b):
        i = cuda.grid(1)
        if i < a.size:
            a[i] = i
        cuda.cg.this_grid().sync()
        if i < b.size:
            b[i] = a[b.size - 1 - i]

    found = profiler.analyze(meets[4, 32], line(128), line(128))
    assert len(found) == 0 and found.blocks == 3 and found.records > 0


def test_a_fault_met_on_the_way_is_a_finding():
    @cuda.kernel
    def divides(a, n):
        i = cuda.grid(1)
        if i < a.shape[0]:
            a[i] = i // n

    (found,) = profiler.analyze(divides, line(dtype=np.int64), 0)
    assert found.rule == "out-of-range"
    assert "ZeroDivisionError" in found.evidence


def test_the_listing_reads_well():
    text = repr(analyzed(*PLANTED["no barrier"][:3]))
    assert text.startswith("neighbours_unsafe, grid (4, 1, 1), block (256, 1, 1): ")
    assert "with no barrier between" in text
    assert "cuda.syncthreads()" in text
    assert "nothing to change" in repr(analyzed(*CLEAN["own"]))
