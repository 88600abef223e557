"""The CUDA text's integers and checks, run on the host (host_cuda): random programs against CPython, and numbers at the edges
of 32 bits where the text computes in fewer bits than Python's integers have."""

import os
import sys
from pathlib import Path

import host_cuda
import numpy as np
import pytest
import xcuda.core as cuda

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from fuzz import check as fuzz_check
from fuzz.programs import Maker
from fuzz.syntax import Rejected

SEED = os.environ.get("XCUDA_FUZZ_SEED", "host")
PARTS, EACH = 4, int(os.environ.get("XCUDA_HOST_EACH", "3"))


@pytest.fixture(autouse=True, scope="module")
def _tools():
    from fake_cuda import need_nvrtc

    need_nvrtc()
    host_cuda.need_compiler()


def run_program(k):
    """Why program k of the seed's CUDA text does not do what CPython does, or None."""
    for attempt in range(40):
        program = Maker(f"{SEED}/{k}/{attempt}").program()
        try:
            start, want, ends = fuzz_check.expected(program)
        except (Rejected, RecursionError):
            continue
        break
    else:
        return None
    if "syncthreads" in program.text:
        return None  # a thread at a time can't meet others
    kernel = cuda.kernel(fuzz_check.make(program.text), fma=False)

    def launch(arguments, threads):
        return host_cuda.launch(kernel, 2 if program.guarded else 1, threads, *arguments.values())

    got = {name: fuzz_check.copied(v) for name, v in start.items()}
    try:
        fault = launch(got, program.threads)
    except cuda.KernelSyntaxError:
        return None  # what may be refused is test_fuzz's subject
    if bool(fault) != any(ends):
        return f"fault {fault}, wanted {set(ends)}\n{program.text}"
    good = [i for i, end in enumerate(ends) if end is None]
    if fault and not good:
        return None
    if fault:
        got, want = (fuzz_check.chosen(program, a, good) for a in (start, want))
        launch(got, len(good))
    found = fuzz_check.differences(program, got, want)
    return f"{found}\n{program.text}" if found else None


@pytest.mark.parametrize("part", range(PARTS))
def test_programs_give_what_python_gives(part):
    for k in range(part * EACH, (part + 1) * EACH):
        assert not (found := run_program(k)), f"program {k} of seed {SEED}: {found}"


EDGES = [
    0,
    1,
    -1,
    2,
    3,
    -7,
    2**31 - 1,
    2**31,
    -(2**31),
    -(2**31) - 1,
    2**32 - 1,
    2**32,
    2**40,
    2**62,
    -(2**63),
]


@cuda.kernel(checked=False)
def arithmetic(out, low, a, p):
    i = cuda.grid(1)
    if i < a.size:
        x = a[i]
        out[0, i] = (x & 0xFFFF) * 3 - (x >> 40)
        out[1, i] = (x % 1000) // 7 + p
        out[2, i] = (x & 0xFFFFFFFF) % 65537
        out[3, i] = min(max(x, -5), 5) * p
        out[4, i] = x if x < p else p - x
        out[5, i] = (x & 31) << 26
        out[6, i] = (x & 63) << 26
        out[7, i] = abs((x & 255) - 128) - (i - p) // 3
        out[8, i] = -(i - 100) % 7 + (p - i) % 5
        total = x
        for k in range(3):
            total = total * 5 + k
        low[i] = total


@pytest.mark.parametrize("p", [0, 9, -9, 2**31 - 2**16, 2**31 - 1, 2**31, -(2**31), 2**40])
def test_numbers_at_the_edges_of_32_bits(p):
    a = np.array(EDGES)
    out, want = np.zeros((9, a.size), np.int64), np.zeros((9, a.size), np.int64)
    low = np.zeros(a.size, np.int32)
    host_cuda.launch(arithmetic, 1, 32, out, low, a, p)
    total = []
    for i, x in enumerate(map(int, a)):
        want[:, i] = [
            wrapped(v)
            for v in (
                (x & 0xFFFF) * 3 - (x >> 40),
                (x % 1000) // 7 + p,
                (x & 0xFFFFFFFF) % 65537,
                min(max(x, -5), 5) * p,
                x if x < p else p - x,
                (x & 31) << 26,
                (x & 63) << 26,
                abs((x & 255) - 128) - (i - p) // 3,
                -(i - 100) % 7 + (p - i) % 5,
            )
        ]
        total.append(wrapped(((x * 5) * 5 + 1) * 5 + 2, 32))
    np.testing.assert_array_equal(out, want)
    np.testing.assert_array_equal(low, total)


def wrapped(value, bits=64):
    """A Python integer as one of so many bits has it."""
    value &= 2**bits - 1
    return value - 2**bits if value >> (bits - 1) else value


@cuda.kernel
def strided(out, first, last, step):
    n = 0
    for i in range(first, last, step):
        n += 1
        out[1] = i
        if n == 20:
            break
    out[0] = n


@cuda.kernel
def strided_up(out, first, last, step):
    n = 0
    by = max(step, 1)
    for i in range(max(first, 0), last, by):
        n += 1
        out[1] = i
    out[0] = n


@pytest.mark.parametrize(
    ("first", "last", "step"),
    [
        (0, 10, 3),
        (10, -3, -4),
        (5, 5, 1),
        (2**31 - 2**16 - 10, 2**31 - 2**16, 3),
        (2**31 - 5, 2**31 + 5, 2),
        (0, 100, 2**31 - 1),
        (0, 2**31 - 2**16, 2**31 - 2**16 - 1),
        (0, 100, 2**40),
        (2**40, 100, 7),
        (7, 2**62, 2**60),
        (-5, 5, 2),
    ],
)
def test_loops_turn_as_range_does(first, last, step):
    turns = list(range(first, last, step))
    out = np.full(2, -1)
    host_cuda.launch(strided, 1, 1, out, first, last, step)
    assert out.tolist() == [min(len(turns), 20), turns[:20][-1] if turns else -1]
    up = list(range(max(first, 0), last, max(step, 1)))
    if len(up) < 10**6:
        out[:] = -1
        host_cuda.launch(strided_up, 1, 1, out, first, last, step)
        assert out.tolist() == [len(up), up[-1] if up else -1]


@cuda.kernel
def grid_stride(out, a):
    total = 0
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        total += a[i]
    out[cuda.grid(1)] = total


def test_a_grid_stride_loop_meets_every_element_once():
    a = np.arange(100_000)
    out = np.zeros(6, np.int64)
    host_cuda.launch(grid_stride, 2, 3, out, a)
    np.testing.assert_array_equal(out, [a[i::6].sum() for i in range(6)])


@cuda.kernel
def neighbours(out, a):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[(i - 1) % a.size] * 10000 + a[(i + 1) % a.size] + a[(i - 2) % a.size] * 100


@pytest.mark.parametrize("n", [1, 2, 3, 17])
def test_neighbours_on_a_ring(n):
    a = np.arange(n)
    out = np.zeros(n, np.int64)
    host_cuda.launch(neighbours, 1, 20, out, a)
    np.testing.assert_array_equal(out, np.roll(a, 1) * 10000 + np.roll(a, -1) + np.roll(a, 2) * 100)


@cuda.kernel
def stack(out, pushes):
    held = cuda.local.array(4, np.int64)
    depth = 0
    for k in range(pushes.size):
        if pushes[k] > 0:
            held[depth] = pushes[k]
            depth += 1
        elif depth != 0:
            depth -= 1
            out[k] = held[depth]


def test_a_stack_overflows_where_it_is_full():
    for pushes, fault in (([1, 2, -1, 3, 4, 5, -1, -1, -1, -1, -1], 0), ([1, 1, 1, 1, 1], 1)):
        out = np.zeros(len(pushes), np.int64)
        assert host_cuda.launch(stack, 1, 1, out, np.array(pushes)) == fault
        if not fault:
            assert out.tolist() == [0, 0, 2, 0, 0, 0, 5, 4, 3, 1, 0]
