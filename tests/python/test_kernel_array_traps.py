"""Arrays as they come: aliased, without dimensions or elements, broadcast, big-endian, unaligned, read-only, huge."""

import mmap
import re

import numpy as np
import pytest
from frontend_source import compiles, make, run
from hypothesis import given, settings
from hypothesis import strategies as st
from xcuda import core

RNG = np.random.default_rng(8)
DTYPES = ["int8", "int16", "int32", "int64", "uint16", "uint64", "float16", "float32", "float64"]


def plus(a, o):
    i = core.grid(1)
    if i < a.shape[0]:
        o[i] = a[i] + 1


def unaligned(n, dtype, at=1, step=0):
    """An array whose elements lie at odd bytes, `step` bytes apart (0: next to each other)."""
    itemsize = np.dtype(dtype).itemsize
    step = step or itemsize
    memory = RNG.integers(0, 60, n * step + at + itemsize, np.uint8)
    a = np.ndarray(n, dtype, memory, at, (step,))
    a[...] = RNG.integers(0, 60, n)
    return a


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("step", [0, 11, 23])
def test_unaligned_arrays(dtype, step):
    a, o = unaligned(300, dtype, step=step), unaligned(300, dtype, at=3, step=step)
    memory = o.base.copy()
    core.kernel(plus)[3, 128](a, o)
    np.testing.assert_array_equal(o, a + np.dtype(dtype).type(1))
    np.ndarray(300, dtype, memory, 3, o.strides)[...] = o
    np.testing.assert_array_equal(o.base, memory)  # and nothing between
    core.kernel(plus)[3, 128](a[::-2], o[1::2])
    np.testing.assert_array_equal(o[1::2], a[::-2] + np.dtype(dtype).type(1))


def test_unaligned_memory_is_shared():
    def f(a, b):
        for i in range(1, a.shape[0]):
            a[i] += b[i - 1]

    a = unaligned(20, "int32")
    want = np.cumsum(a)
    run(f, a, a)
    assert a.tolist() == want.tolist()


def test_unaligned_cuda_text():
    def f(a, o):
        i, j = core.grid(2)
        if i < a.shape[0] and j < a.shape[1]:
            a[i, j] += o[j]

    a = unaligned(60, "float32").reshape(6, 10)
    k = core.kernel(f)
    k[(1, 1), (8, 16)](a, unaligned(10, "float64"))
    assert "xc_put" in k.inspect_source()
    compiles(k, (a, unaligned(10, "float64")))


def test_no_byte_of_a_converted_half_is_stored_as_one():
    """ptxas (CUDA 13.0) stores a byte of a register that cvt.rn.f16 wrote as uint8 of its value."""
    kernel = core.kernel(plus)
    arrays = unaligned(9, "float16"), unaligned(9, "float16")
    compiles(kernel, arrays)
    ptx = kernel.inspect_asm(arrays, target="sm_90")
    halves = set(re.findall(r"cvt\.rn\.f16\.f(?:32|64)\s+(%\w+)", ptx))
    stored = set(re.findall(r"st\.\S*8\s+\[[^]]+\],\s*(%\w+)", ptx))
    assert halves and stored and not halves & stored


def test_in_and_out_are_one():
    def shift(a, o):
        for i in range(1, a.shape[0]):
            o[i] = a[i - 1] + 1

    a = np.zeros(50, int)
    run(shift, a, a)
    assert a.tolist() == list(range(50))
    a = np.zeros(51, int)
    run(shift, a[:-1], a[1:])
    want = np.zeros(51, int)
    shift(want[:-1], want[1:])
    np.testing.assert_array_equal(a, want)


def test_no_dimensions():
    def f(a, o):
        o[...] = a[...] * 2
        o[...] += 1

    for dtype in DTYPES:
        a, o = np.array(21, dtype), np.array(0, dtype)
        run(f, a, o)
        assert o == 43
    o = np.array(0.0)
    run(make("def f(o):\n    o[()] = 5\n"), o)
    assert o == 5


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 4)])
def test_no_elements(shape):
    ndim = len(shape)
    index = ", ".join("ijk"[:ndim])
    guard = " and ".join(f"{c} < a.shape[{d}]" for d, c in enumerate("ijk"[:ndim]))
    f = make(
        f"def f(a, o):\n    {index} = cuda.grid({ndim})\n    if {guard}:\n        o[{index}] = a[{index}]\n"
    )
    a = np.zeros(shape)
    core.kernel(f)[(1,) * ndim, (4,) * ndim](a, a.copy())
    core.kernel(f)(a, a.copy())
    g = make(
        "def f(a, o):\n    n = 0\n    for row in a:\n        n += 1\n    o[0] = n\n    o[1] = a.size\n    o[2] = len(a)\n"
    )
    o = np.zeros(3, int)
    run(g, a, o)
    assert o.tolist() == [shape[0], 0, shape[0]]
    with pytest.raises(IndexError):
        run(make(f"def f(a, o):\n    o[0] = a[{', '.join('0' * ndim)}]\n"), a, o)


def test_broadcast_inputs_and_outputs():
    a = np.broadcast_to(np.arange(4.0), (3, 4))
    o = np.zeros((3, 4))
    f = make(
        "def f(a, o):\n    i, j = cuda.grid(2)\n    if i < o.shape[0] and j < o.shape[1]:\n        o[i, j] = a[i, j] * 2\n"
    )
    core.kernel(f)[(1, 1), (8, 8)](a, o)
    np.testing.assert_array_equal(o, a * 2)
    with pytest.raises(ValueError, match="'o' is read-only"):
        core.kernel(f)[(1, 1), (8, 8)](o, np.broadcast_to(np.zeros(4), (3, 4)))


@pytest.mark.parametrize("dtype", ["i2", "i4", "i8", "u4", "f2", "f4", "f8"])
def test_big_endian(dtype):
    a, o = np.arange(50).astype(">" + dtype), np.zeros(50, ">" + dtype)
    core.kernel(plus)[1, 64](a, o)
    np.testing.assert_array_equal(o, a + 1)
    core.kernel(plus)[1, 64](a, o.astype("<" + dtype))


@pytest.mark.parametrize("order", ["C", "F"])
def test_orders_and_negative_strides(order):
    text = (
        "def f(a, o):\n    i, j = cuda.grid(2)\n    if i < a.shape[0] and j < a.shape[1]:\n"
        "        o[i, j] = a[i, j] - a[-1 - i, -1 - j]\n"
    )
    a = np.asarray(RNG.normal(size=(13, 37)), order=order)
    for u in (a, a[::-1], a[:, ::-1], a[::-2, ::-3], a.T, a.T[::-1]):
        o = np.zeros_like(u)
        core.kernel(make(text))[(5, 3), (8, 16)](u, o)
        np.testing.assert_array_equal(o, u - u[::-1, ::-1])


def test_read_only_inputs():
    a, o = np.arange(5.0), np.zeros(5)
    a.flags.writeable = False
    core.kernel(plus)[1, 8](a, o)
    assert o.tolist() == [1, 2, 3, 4, 5]
    core.kernel(plus)[1, 8](memoryview(bytes(range(5))), o)
    assert o.tolist() == [1, 2, 3, 4, 5]
    with pytest.raises(ValueError, match="'o' is read-only"):
        core.kernel(plus)[1, 8](o, a)


@pytest.fixture(scope="module")
def huge():
    """More than 2^31 elements of which only the touched pages take memory."""
    if core.Device().kind != "cpu":
        pytest.skip("a host array of 2 GiB would be copied to the device")
    try:
        memory = mmap.mmap(
            -1,
            2**31 + 2**20,
            flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0x4000),
        )
    except OSError as error:
        pytest.skip(f"no address space for 2 GiB: {error}")
    return np.frombuffer(memory, np.uint8)


def test_indices_above_31_bits(huge):
    n = huge.shape[0]

    def f(a, at, o):
        i = core.grid(1)
        if i < at.shape[0]:
            a[at[i]] = i + 1
            o[i] = a[at[i]] + a[at[i] - a.shape[0]]

    def g(a, first):
        i = core.grid(1) + first
        if i < a.shape[0]:
            a[i] += 1

    def h(m, j):
        i = core.grid(1)
        if i < m.shape[0]:
            m[i, j] = 7

    at = np.array([0, 5, 2**31 - 1, 2**31, 2**31 + 1, n - 1])
    o = np.zeros(6, int)
    core.kernel(f)[1, 8](huge, at, o)
    assert o.tolist() == [2, 4, 6, 8, 10, 12]
    assert huge[at].tolist() == [1, 2, 3, 4, 5, 6]
    core.kernel(g)[1, 32](huge, 2**31 - 16)
    assert huge[2**31 - 1] == 4 and huge[2**31] == 5 and huge[2**31 - 3] == 1
    with pytest.raises(IndexError, match=str(n)):
        core.kernel(f)[1, 1](huge, np.array([n]), o)
    m = huge[: 2**31].reshape(4, 2**29)
    core.kernel(h)[1, 4](m, 2**29 - 1)
    assert m[:, -1].tolist() == [7] * 4
    core.kernel(h)[1, 4](huge[::-1][: 2**31].reshape(4, 2**29), 3)
    assert [huge[n - 1 - k * 2**29 - 3] for k in range(4)] == [7] * 4


def test_more_than_32_bits_of_elements(huge):
    """Strides of 0 make 2^33 elements of few bytes: lengths are 64-bit numbers."""
    a = np.broadcast_to(np.arange(4, dtype=np.uint8)[:, None], (4, 2**31))

    def f(a, o):
        i = core.grid(1)
        if i < 4:
            o[i] = a[i, a.shape[1] - 1] + a[i, -1] + a.size // 2**31

    o = np.zeros(4, int)
    core.kernel(f)[1, 4](a, o)
    assert o.tolist() == [4, 6, 8, 10]


def test_wide_arrays_keep_64_bits_on_cuda():
    def f(a, o):
        i = core.grid(1)
        if i < o.shape[0]:
            o[i] = a[i]

    k = core.kernel(f)
    wide = np.broadcast_to(np.zeros((), np.float32), (2**31 + 5,))
    strided = np.ndarray(2**20, np.float32, np.zeros(1, np.float32), 0, (0,))
    for a in (wide, strided):
        compiles(k, (a, np.zeros(3, np.float32)))


layouts = st.tuples(
    st.lists(st.integers(0, 5), min_size=1, max_size=4), st.randoms(use_true_random=False), st.booleans()
)


@settings(max_examples=30, deadline=None)
@given(layouts, st.sampled_from(["int16", "float32", "float64"]), st.integers(0, 3))
def test_any_layout(layout, dtype, shift):
    """Axes in any order, negative and long strides, any place in memory."""
    shape, random, packed = layout
    ndim, itemsize = len(shape), np.dtype(dtype).itemsize
    big = [n + random.randint(0, 2) for n in shape]
    size = int(np.prod(big)) * (itemsize + (0 if packed else 3))
    memory = RNG.integers(0, 9, size + 8, np.uint8)
    strides, step = [0] * ndim, itemsize + (0 if packed else 3)
    for axis in random.sample(range(ndim), ndim):
        strides[axis] = step
        step *= big[axis]
    a = np.ndarray(big, dtype, memory, shift, strides)
    a[...] = RNG.integers(0, 99, big)
    view = a[tuple(slice(0, n) if random.random() < 0.6 else slice(None, None, -1) for n in shape)]
    names = [f"i{d}" for d in range(ndim)]
    text = "def f(a, o):\n"
    for d, name in enumerate(names):
        text += "    " * (d + 1) + f"for {name} in range(a.shape[{d}]):\n"
    pad = "    " * (ndim + 1)
    text += f"{pad}o[{', '.join(names)}] = a[{', '.join(names)}]\n{pad}a[{', '.join(names)}] += 1\n"
    before, o = view.copy(), np.zeros(view.shape, dtype)
    run(make(text), view, o)
    np.testing.assert_array_equal(o, before)
    np.testing.assert_array_equal(view, before + np.dtype(dtype).type(1))


BEYOND = [2**64 - 1, 2**63, 2**63 + 2]


@pytest.mark.parametrize("text", ["a[k]", "A[k, 0]", "A[1][k]", "(5, 6, 7)[k]", "a[~np.uint64(0)]"])
@pytest.mark.parametrize("k", BEYOND)
def test_an_index_beyond_int64_counts_from_no_end(text, k):
    """Found by the fuzzer: a uint64 of 2**64 - 1 was taken for -1."""
    f = make(f"def f(a, A, ks, o):\n    k = ks[0]\n    o[0] = {text}\n")
    a, ks, o = np.arange(6), np.array([k], np.uint64), np.zeros(1, np.int64)
    with pytest.raises(IndexError):
        run(f, a, np.arange(6).reshape(2, 3), ks, o)


@pytest.mark.parametrize("slice_text", ["k:", ":k", "1:k", "k::-1", "::k", "k:k", "-2:k:2"])
@pytest.mark.parametrize("k", [*BEYOND, 2, 0])
def test_a_slice_to_beyond_int64(slice_text, k):
    f = make(
        f"def f(a, ks, o):\n    k = ks[0]\n    o[0] = 9\n    for x in a[{slice_text}]:\n        o[0] = o[0] * 7 + x\n"
    )
    a, ks = np.arange(6), np.array([k], np.uint64)
    got, want = np.zeros(1, np.int64), np.zeros(1, np.int64)
    try:
        f(a, [int(ks[0])], want)  # NumPy's own slices take no number beyond int64
    except ValueError:
        with pytest.raises(ValueError, match="step cannot be zero"):
            run(f, a, ks, got)
        return
    run(f, a, ks, got)
    assert got[0] == want[0]
