"""Launching kernels: shapes, arguments of every kind, captured names, results against NumPy."""

import math

import numpy as np
import pytest
import xcuda.core as cuda
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp


@cuda.kernel
def matrix_multiply(A, B, C):
    i, j = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        temp = 0.0
        for k in range(A.shape[1]):
            temp += A[i, k] * B[k, j]
        C[i, j] = temp


@cuda.kernel
def add_one(a, out):
    """Adds one."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = a[i] + 1


@cuda.kernel
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.shape[0]:
        y[i] = a * x[i] + y[i]


def both_ways(array):
    return [array, cuda.to_device(array)]


def host(array):
    return array.copy_to_host() if isinstance(array, cuda.DeviceArray) else array


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize("shape", ["explicit", "automatic"])
@pytest.mark.parametrize("where", ["host", "device"])
def test_the_articles_matrix_multiply(dtype, shape, where):
    rng = np.random.default_rng(1)
    A = rng.integers(-4, 5, (45, 33)).astype(dtype)
    B = rng.integers(-4, 5, (33, 70)).astype(dtype)
    C = np.zeros((45, 70), dtype)
    expected = A @ B
    if where == "device":
        A, B, C = map(cuda.to_device, (A, B, C))
    if shape == "explicit":
        matrix_multiply[(3, 5), (16, 16)](A, B, C)
    else:
        matrix_multiply(A, B, C)
    np.testing.assert_allclose(host(C), expected, rtol=1e-6)


@pytest.mark.parametrize("n", [1, 2, 15, 16, 17, 255, 256, 257, 1000, 100_003])
@pytest.mark.parametrize("block", [1, 7, 32, 256, 1024])
def test_every_length_and_block(n, block):
    a, out = np.arange(n, dtype=np.float32), np.full(n + 3, -1, np.float32)
    add_one[math.ceil(n / block), block](a, out[:n])
    np.testing.assert_array_equal(out, np.concatenate([a + 1, [-1, -1, -1]]))


@pytest.mark.parametrize(
    "dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]
)
def test_dtypes(dtype):
    a = np.array([0, 1, 2, 100, 126], dtype)
    for given_array in both_ways(a):
        out = np.zeros_like(a)
        add_one(given_array, out)
        np.testing.assert_array_equal(out, a + 1)


def test_bool_arrays():
    @cuda.kernel
    def negate(a, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = not a[i]

    a = np.array([True, False, True])
    out = np.zeros_like(a)
    negate(a, out)
    assert out.tolist() == [False, True, False]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_layouts(data):
    """Transposed, reversed, strided, broadcast and offset views, on the host and on the device."""
    shape = data.draw(hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=9))
    base = np.arange(4 * shape[0] * shape[1], dtype=np.float32).reshape(2 * shape[0], 2 * shape[1])
    steps = [data.draw(st.sampled_from([1, 2, -1, -2])) for _ in shape]
    view = base[:: steps[0], :: steps[1]][: shape[0], : shape[1]]
    transposed = data.draw(st.booleans())
    out_base = np.zeros((2 * shape[0], 2 * shape[1]), np.float32)
    out = out_base[:: data.draw(st.sampled_from([1, 2, -1, -2])), ::2][: shape[0], : shape[1]]
    if transposed:
        view, out = view.T, out.T
    expected = view * 2 + 0.5

    scale_2d(view, out)
    np.testing.assert_array_equal(out, expected)
    assert np.count_nonzero(out_base) <= out.size

    there = cuda.to_device(base)[:: steps[0], :: steps[1]][: shape[0], : shape[1]]
    there = there.T if transposed else there
    result = cuda.zeros(expected.shape, np.float32)
    scale_2d(there, result)
    np.testing.assert_array_equal(result.copy_to_host(), expected)


@cuda.kernel
def scale_2d(a, out):
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = a[i, j] * 2 + 0.5


def test_broadcast_input():
    a = np.broadcast_to(np.arange(3, dtype=np.float32), (4, 3))
    out = np.zeros((4, 3), np.float32)
    scale_2d(a, out)
    np.testing.assert_array_equal(out, a * 2 + 0.5)


def test_zero_dimensional_arrays():
    @cuda.kernel
    def copy(a, out):
        out[()] = a[()] + 1

    out = np.zeros((), np.int32)
    copy[1, 1](np.array(41, np.int32), out)
    assert out == 42


def test_more_dimensions():
    @cuda.kernel
    def add(a, out):
        i, j, k = cuda.grid(3)
        if i < out.shape[0] and j < out.shape[1] and k < out.shape[2]:
            for m in range(a.shape[3]):
                out[i, j, k] += a[i, j, k, m]

    a = np.random.default_rng(0).random((3, 5, 7, 2))
    for arrays in [(a, np.zeros(a.shape[:3])), (a[::-1, :, ::2], np.zeros((3, 5, 4)))]:
        add(*arrays)
        np.testing.assert_allclose(arrays[1], arrays[0].sum(3))


def test_scalars_weak_and_strong():
    x = np.arange(4, dtype=np.float32)
    for a in [2, 2.5, True, np.float32(2.5), np.int32(3), np.uint8(7), np.bool_(True)]:
        y = np.ones(4, np.float32)
        saxpy(a, x, y)
        np.testing.assert_array_equal(y, (np.float32(a) * x + 1).astype(np.float32))
    y = np.ones(4)
    saxpy(0.1, np.ones(4), y)
    assert (y == 1.1).all()


def test_scalars_keep_every_bit():
    @cuda.kernel
    def store(value, out):
        out[0] = value

    for value, dtype in [
        (-1, np.int64),
        (2**63 - 1, np.int64),
        (-(2**63), np.int64),
        (2**64 - 1, np.uint64),
        (np.uint64(2**64 - 1), np.uint64),
        (np.int8(-128), np.int8),
        (np.int16(-5), np.int64),
        (math.pi, np.float64),
        (np.float32(0.1), np.float32),
        (-0.0, np.float64),
    ]:
        out = np.zeros(1, dtype)
        store[1, 1](value, out)
        assert out[0] == value and np.signbit(float(out[0])) == np.signbit(float(value))


def test_keywords_defaults_and_signature():
    @cuda.kernel
    def scaled(a, out, factor=3, *, shift=1):
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i] = a[i] * factor + shift

    a, out = np.arange(4), np.zeros(4, int)
    scaled(a, out=out)
    assert out.tolist() == [1, 4, 7, 10]
    scaled[1, 4](out=out, a=a, shift=0, factor=2)
    assert out.tolist() == [0, 2, 4, 6]
    with pytest.raises(TypeError, match=r"scaled\(a, out, factor, shift\) was called without 'out'"):
        scaled(a)
    with pytest.raises(TypeError, match="takes 4 arguments; 5 were given"):
        scaled(a, out, 1, 2, 3)
    with pytest.raises(TypeError, match="has no parameter 'scale'"):
        scaled(a, out, scale=2)
    with pytest.raises(TypeError, match="was given 'a' twice"):
        scaled(a, out, a=a)
    assert list(scaled.__signature__.parameters) == ["a", "out", "factor", "shift"]


def test_zero_sizes_are_no_ops():
    a = np.zeros(0, np.float32)
    add_one(a, a)
    add_one[1, 32](a, a)
    add_one[0, 32](np.ones(3), np.ones(3))
    matrix_multiply(np.zeros((0, 3)), np.zeros((3, 2)), np.zeros((0, 2)))
    add_one(cuda.zeros(0), cuda.zeros(0))


def test_in_place_and_overlapping():
    a = np.arange(1000, dtype=np.float32)
    expected = a + 1
    add_one(a, a)
    np.testing.assert_array_equal(a, expected)
    base = np.arange(64, dtype=np.float32)
    expected = base.copy()
    expected[32:] = base[:32] + 1
    add_one(base[:32], base[32:])
    np.testing.assert_array_equal(base, expected)


def test_other_byte_orders_and_unaligned_memory_work_through_a_copy():
    swapped = np.arange(5, dtype=">f4")
    out = np.zeros(5, ">f4")
    add_one(swapped, out)
    assert out.dtype == np.dtype(">f4") and out.tolist() == [1, 2, 3, 4, 5]
    raw = np.zeros(5 * 4 + 1, np.uint8)
    unaligned = raw[1:].view(np.float32)
    add_one(np.arange(5, dtype=np.float32), unaligned)
    assert unaligned.tolist() == [1, 2, 3, 4, 5]
    records = np.zeros(5, [("a", "i1"), ("b", "f4")])
    add_one(np.arange(5, dtype=np.float32), records["b"])
    assert records["b"].tolist() == [1, 2, 3, 4, 5] and not records["a"].any()


def test_everything_that_looks_like_an_array():
    import array
    import ctypes

    out = array.array("f", [0] * 4)
    add_one(array.array("f", [1, 2, 3, 4]), out)
    assert out.tolist() == [2, 3, 4, 5]
    out = (ctypes.c_double * 3)()
    add_one(np.ones(3), out)
    assert list(out) == [2, 2, 2]
    out = bytearray(3)
    add_one(memoryview(b"abc"), out)
    assert bytes(out) == b"bcd"
    add_one(b"xyz", out)
    assert bytes(out) == b"yz{"
    with pytest.raises(ValueError, match="is read-only"):
        add_one(out, b"abc")

    class HasArray:
        def __array__(self, dtype=None, copy=None):
            return np.arange(3.0)

    class HasDlpack:
        def __init__(self, held):
            self.held = held

        def __dlpack__(self, **wanted):
            return self.held.__dlpack__(**wanted)

        def __dlpack_device__(self):
            return self.held.__dlpack_device__()

    out = np.zeros(3)
    add_one(HasArray(), out)
    assert out.tolist() == [1, 2, 3]
    out = np.zeros((3, 2))[:, 1]
    add_one(HasDlpack(np.arange(6.0)[::2]), HasDlpack(out))
    assert out.tolist() == [1, 3, 5]
    with pytest.raises(
        ValueError, match=r"'out' can't be written: it can only be read \(through __array__\)"
    ):
        add_one(np.zeros(3), HasArray())


FACTOR = 2


def plus(x):
    return x + 10


@cuda.kernel
def uses_globals(a, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = plus(a[i]) * FACTOR


def test_changed_globals_and_helpers_are_seen_at_the_next_launch(monkeypatch):
    a, out = np.arange(3), np.zeros(3, int)
    uses_globals(a, out)
    assert out.tolist() == [20, 22, 24]
    monkeypatch.setitem(globals(), "FACTOR", 5)
    uses_globals(a, out)
    assert out.tolist() == [50, 55, 60]

    def plus(x):
        return x + 1

    monkeypatch.setitem(globals(), "plus", plus)
    uses_globals(a, out)
    assert out.tolist() == [5, 10, 15]
    monkeypatch.undo()
    uses_globals(a, out)
    assert out.tolist() == [20, 22, 24]


def test_closures():
    def make(n):
        @cuda.kernel
        def k(out):
            out[0] = n

        def change(to):
            nonlocal n
            n = to

        return k, change

    (one, change), (two, _) = make(1), make(2)
    out = np.zeros(1, int)
    one[1, 1](out)
    assert out[0] == 1
    two[1, 1](out)
    assert out[0] == 2
    change(7)
    one[1, 1](out)
    assert out[0] == 7


def test_shapes_may_change_between_launches():
    for n in [3, 100, 1, 0, 50]:
        a = np.arange(n, dtype=np.float32)
        out = np.zeros(n, np.float32)
        add_one(a, out)
        np.testing.assert_array_equal(out, a + 1)
    add_one(np.arange(4.0), np.zeros(4))
    assert len(add_one.specialisations) >= 2


def test_shared_memory_and_barriers():
    @cuda.kernel
    def reverse(a, out):
        tile = cuda.shared.array(64, cuda.float32)
        t = cuda.threadIdx.x
        tile[t] = a[t]
        cuda.syncthreads()
        out[t] = tile[cuda.blockDim.x - 1 - t]

    for n in [64, 32, 7]:
        a, out = np.arange(n, dtype=np.float32), np.zeros(n, np.float32)
        reverse[1, n](a, out)
        np.testing.assert_array_equal(out, a[::-1])


def test_dynamic_shared_memory():
    @cuda.kernel
    def reverse(a, out):
        tile = cuda.shared.array(0, cuda.float64)
        t = cuda.threadIdx.x
        tile[t] = a[t]
        cuda.syncthreads()
        out[t] = tile[cuda.blockDim.x - 1 - t]

    a, out = np.arange(50.0), np.zeros(50)
    reverse[1, 50, 0, 50 * 8](a, out)
    np.testing.assert_array_equal(out, a[::-1])


def test_options_unchecked_and_signatures():
    @cuda.kernel(checked=False)
    def fast(a, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i] = a[i] + 1

    out = np.zeros(3)
    fast(np.zeros(3), out)
    assert out.tolist() == [1, 1, 1]

    @cuda.jit("void(float32[:], float32[::1])")
    def eager(a, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i] = a[i]

    assert eager.specialisations[0]["signature"] == "(float32[::], float32[::1])"
    with pytest.raises(TypeError, match="has no option 'chekced'"):
        cuda.kernel(chekced=True)
    with pytest.raises(TypeError, match="a kernel can't have '\\*args'"):

        @cuda.kernel
        def k(*args):
            pass

    with pytest.raises(TypeError, match='"flaot32" is no argument type'):
        add_one.compile("flaot32")


def test_looking_at_a_kernel():
    @cuda.kernel
    def k(a, out):
        """Copies."""
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i] = a[i]

    assert repr(k) == "<kernel k(a, out), not compiled yet>"
    assert (
        k.__name__ == "k" and k.__doc__ == "Copies." and k.last_launch is None and k.__wrapped__ is k.py_func
    )
    with pytest.raises(ValueError, match="has not been compiled yet"):
        k.inspect_source()
    with pytest.raises(AttributeError):
        k.nothing
    k[2, 64](np.zeros(100), np.zeros(100))
    assert repr(k) == "<kernel k(a, out), 1 compiled version>"
    assert k.last_launch["grid"] == (2, 1, 1) and k.last_launch["block"] == (64, 1, 1)
    assert "out" in k.inspect_source() and "float64" in k.inspect_ir()
    shown = k.getdoc()
    for part in [
        "Copies.",
        "Compiled versions",
        "(float64[::1], float64[::1]) on ",
        "grid 2, block 64 (as asked)",
    ]:
        assert part in shown
    assert {"compile", "async_call", "specialisations", "inspect_source"} <= set(dir(k))
    assert repr(k[2, (4, 5)]) == "k[(2, 1, 1), (4, 5, 1)]"


def test_ipython_shows_signature_versions_and_last_launch():
    Inspector = pytest.importorskip("IPython.core.oinspect", reason="IPython is not installed here").Inspector

    add_one(np.zeros(3), np.zeros(3))
    shown = Inspector(theme_name="nocolor").info(add_one, "add_one")
    assert "Last launch" in shown["docstring"] and shown["definition"] == "add_one(a, out)"


def test_a_test_of_the_place_in_the_block_bounds_no_grid():
    @cuda.kernel
    def leaders(x):
        i = cuda.grid(1)
        if i < x.size and cuda.threadIdx.x == 0:
            x[i] = 1

    @cuda.kernel
    def halves(x):
        i = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
        if cuda.threadIdx.x < cuda.blockDim.x // 2:
            if i < x.size:
                x[i] = 1

    @cuda.kernel
    def one_block(x):
        if cuda.threadIdx.x < x.size:
            x[cuda.threadIdx.x] = 1

    x = np.zeros(4000, np.int32)
    leaders(x)
    assert x.nonzero()[0].tolist() == list(range(0, 4000, leaders.last_launch["block"][0]))
    x[:] = 0
    halves(x)
    width = halves.last_launch["block"][0]
    assert (x == (np.arange(4000) % width < width // 2)).all()
    x = np.zeros(20, np.int32)
    one_block(x)
    assert (x == 1).all()
