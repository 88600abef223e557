"""Barriers, shared and local arrays inside helpers: they are written into the kernel, and behave as if they stood there."""

import numpy as np
import pytest
from frontend_source import make
from xcuda import core

BLOCK_SUM = """
def block_sum(value):
    part = cuda.shared.array(128, np.float64)
    x = cuda.threadIdx.x
    part[x] = value
    cuda.syncthreads()
    step = 64
    while step > 0:
        if x < step:
            part[x] += part[x + step]
        cuda.syncthreads()
        step //= 2
    total = part[0]
    cuda.syncthreads()
    return total
"""


def test_a_block_sum_in_a_helper():
    f = make(
        BLOCK_SUM + "def f(a, o):\n    i = cuda.grid(1)\n    v = a[i] if i < a.size else 0.0\n"
        "    total = block_sum(v)\n    squares = block_sum(v * v)\n"
        "    if cuda.threadIdx.x == 0:\n        o[cuda.blockIdx.x, 0] = total\n        o[cuda.blockIdx.x, 1] = squares\n",
        name="f",
    )
    for n in (1, 127, 128, 129, 5000):
        a = np.random.default_rng(n).normal(size=n)
        blocks = -(-n // 128)
        o = np.zeros((blocks, 2))
        core.kernel(f)[blocks, 128](a, o)
        padded = np.zeros(blocks * 128)
        padded[:n] = a
        want = np.stack([padded.reshape(blocks, 128).sum(1), (padded**2).reshape(blocks, 128).sum(1)], 1)
        np.testing.assert_allclose(o, want, rtol=1e-10, atol=1e-10)


def test_a_barrier_two_helpers_deep():
    f = make(
        "def wait():\n    cuda.syncthreads()\n"
        "def swap(t, x):\n    wait()\n    v = t[31 - x]\n    wait()\n    t[x] = v\n"
        "def f(a):\n    t = cuda.shared.array(32, np.int64)\n    x = cuda.threadIdx.x\n    b = cuda.blockIdx.x\n"
        "    row = a[b]\n    t[x] = row[x]\n    for k in range(3):\n        swap(t, x)\n    wait()\n    row[x] = t[x]\n",
        name="f",
    )
    a = np.arange(160).reshape(5, 32)
    want = a[:, ::-1].copy()
    core.kernel(f)[5, 32](a)
    np.testing.assert_array_equal(a, want)


def test_a_tile_loader_that_takes_views():
    text = """
    T = 8
    def load(tile, source):
        y, x = cuda.threadIdx.y, cuda.threadIdx.x
        tile[y, x] = source[y, x]
        cuda.syncthreads()
    def f(A, B, C):
        sa = cuda.shared.array((T, T), np.float32)
        sb = cuda.shared.array((T, T), np.float32)
        y, x = cuda.threadIdx.y, cuda.threadIdx.x
        r, c = cuda.blockIdx.y * T, cuda.blockIdx.x * T
        total = np.float32(0)
        for k in range(0, A.shape[1], T):
            load(sa, A[r:r + T, k:k + T])
            load(sb, B[k:k + T, c:c + T])
            for i in range(T):
                total += sa[y, i] * sb[i, x]
            cuda.syncthreads()
        C[r + y, c + x] = total
    """
    A, B = (np.random.default_rng(s).normal(size=(24, 24)).astype(np.float32) for s in (1, 2))
    C = np.zeros((24, 24), np.float32)
    core.kernel(make(text, name="f"))[(3, 3), (8, 8)](A, B, C)
    np.testing.assert_allclose(C, A @ B, rtol=1e-4, atol=1e-4)


def test_local_arrays_in_helpers():
    f = make(
        "def middle(a, b, c):\n    t = cuda.local.array(3, np.float64)\n    t[0], t[1], t[2] = a, b, c\n"
        "    for i in range(2):\n        for k in range(2 - i):\n            if t[k] > t[k + 1]:\n"
        "                t[k], t[k + 1] = t[k + 1], t[k]\n    return t[1]\n"
        "def f(a, o):\n    i = cuda.grid(1)\n    if 0 < i < len(a) - 1:\n        o[i] = middle(a[i - 1], a[i], a[i + 1])\n",
        name="f",
    )
    a, o = np.random.default_rng(4).normal(size=1003), np.zeros(1003)
    core.kernel(f)[8, 128](a, o)
    np.testing.assert_array_equal(o[1:-1], np.median(np.stack([a[:-2], a[1:-1], a[2:]]), axis=0))


def test_a_large_kernel_still_takes_its_barriers_in():
    """Helpers beyond the size where calls stay calls: one with a barrier is written in all the same."""
    lines = "".join(f"    t[x] += {k}\n    step(t, x)\n" for k in range(120))
    f = make(
        "def step(t, x):\n    cuda.syncthreads()\n    v = t[(x + 1) % 16]\n    cuda.syncthreads()\n    t[x] = v\n"
        f"def f(a):\n    t = cuda.shared.array(16, np.int64)\n    x = cuda.threadIdx.x\n    t[x] = a[x]\n{lines}    a[x] = t[x]\n",
        name="f",
    )
    a = np.arange(16)
    want = np.roll(a, -120) + sum(range(120))
    core.kernel(f)[1, 16](a)
    np.testing.assert_array_equal(a, want)


def test_too_much_shared_memory_in_helpers_is_said():
    f = make(
        "def h(i):\n    t = cuda.shared.array(40000, np.float64)\n    t[i] = 1\n    cuda.syncthreads()\n    return t[i]\n"
        "def f(o):\n    o[0] = h(0) + h(1)\n",
        name="f",
    )
    with pytest.raises(ValueError, match="shared memory"):
        core.kernel(f)[1, 1](np.zeros(1))


def test_a_helper_that_stays_a_function_takes_a_contiguous_matrix():
    """Its strides are passed along, though the kernel that was compiled for contiguous arrays has no names for them."""
    f = make(
        "def search(t, s):\n    while True:\n        s[0] += 1\n        if t[1, s[0]] > 0.5:\n            return t[0, s[0]]\n"
        "def outer(t, s):\n    return search(t, s)\n"
        "def f(t, o):\n    i = cuda.grid(1)\n    if i < len(o):\n        s = cuda.local.array(1, np.int64)\n        s[0] = -1\n"
        "        o[i] = outer(t, s)\n",
        name="f",
    )
    t, o = np.arange(12.0).reshape(2, 6) / 10, np.zeros(3)
    t[1] = [0, 0, 0, 1, 1, 1]
    for checked in (True, False):
        core.kernel(f, checked=checked)[1, 32](t, o)
        np.testing.assert_array_equal(o, t[0, 3])


def test_loops_that_data_ends_may_nest_deep():
    """The model of a launch's work stops where data decides: it would follow each of these loops a thousand rounds."""
    lines = "".join("    " * (k + 1) + "while True:\n" for k in range(7))
    pad = "    " * 8
    leave = "".join(
        "    " * (k + 1) + "if a[0] > 0:\n" + "    " * (k + 2) + "break\n" for k in range(7, 0, -1)
    )
    f = make(f"def f(a):\n{lines}{pad}a[0] += 1\n{leave}", name="f")
    a = np.zeros(1)
    core.kernel(f)[1, 1](a)
    assert a[0] == 1
