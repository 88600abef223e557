"""Kernels of every structure the compiler treats its own way, on odd sizes, against plain Python thread by thread."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from xcuda import core as cuda


def by_hand(function, grid, block, *args):
    """Runs a barrier-free kernel as Python, one thread after the other."""
    grid, block = (np.atleast_1d(s).tolist() for s in (grid, block))
    grid, block = grid + [1] * (3 - len(grid)), block + [1] * (3 - len(block))
    names = dict(function.__globals__)
    here = SimpleNamespace(float32=np.float32, float64=np.float64)
    names["cuda"] = here
    here.blockDim, here.gridDim = (SimpleNamespace(x=s[0], y=s[1], z=s[2]) for s in (block, grid))
    copy = type(function)(
        function.__code__, names, function.__name__, function.__defaults__, function.__closure__
    )
    for b in np.ndindex(*reversed(grid)):
        for t in np.ndindex(*reversed(block)):
            bx, by, bz = reversed(b)
            tx, ty, tz = reversed(t)
            here.threadIdx, here.blockIdx = (
                SimpleNamespace(x=tx, y=ty, z=tz),
                SimpleNamespace(x=bx, y=by, z=bz),
            )
            index = (bx * block[0] + tx, by * block[1] + ty, bz * block[2] + tz)
            here.grid = lambda n: index[0] if n == 1 else index[:n]
            total = tuple(g * b for g, b in zip(grid, block))
            here.gridsize = lambda n: total[0] if n == 1 else total[:n]
            copy(*args)


def check(function, grid, block, *args, rtol=1e-5, **options):
    expected = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    with np.errstate(all="ignore"):
        by_hand(function, grid, block, *expected)
    cuda.kernel(function, **options)[grid, block](*args)
    for got, want in zip(args, expected):
        if isinstance(got, np.ndarray):
            np.testing.assert_allclose(got, want, rtol=rtol, atol=1e-6, err_msg=function.__name__)


RNG = np.random.default_rng(7)


def data(*shape, dtype=np.float32):
    values = RNG.uniform(-4, 4, shape)
    return (values * 20).astype(dtype) if np.issubdtype(dtype, np.integer) else values.astype(dtype)


def saxpy(y, x, a):
    i = cuda.grid(1)
    if i < x.shape[0]:
        y[i] = a * x[i] + y[i]


@pytest.mark.parametrize("n", [0, 1, 7, 16, 17, 31, 100, 1000, 70000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.uint8, np.int64])
def test_elementwise_any_length(n, dtype):
    y, x = data(n, dtype=dtype), data(n, dtype=dtype)
    expected = (dtype(3) * x + y).astype(dtype)
    cuda.kernel(saxpy)[max(1, -(-n // 128)), 128](y, x, dtype(3))
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)


def early_return(y, x):
    i = cuda.grid(1)
    if i >= x.size:
        return
    y[i] = x[i] * 2


def two_returns(y, x):
    i = cuda.grid(1)
    if i >= x.size:
        return
    if x[i] < 0:
        y[i] = -1
        return
    y[i] = x[i]


def return_in_loop(y, x):
    i = cuda.grid(1)
    if i >= x.size:
        return
    for k in range(10):
        if x[i] < k - 4:
            y[i] = k
            return
    y[i] = 99


def divergent_stores(y, x):
    i = cuda.grid(1)
    if i < x.size:
        if x[i] > 0:
            y[i] = x[i] * 2
        elif x[i] > -2:
            y[i] = 1
        else:
            y[i] -= x[i]


def divergent_values(y, x):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        w = 0.0
        if v > 1:
            w = v * 3
            if v > 2:
                w = w + 1
        else:
            v = v - 1
        y[i] = v + w


def conditional(y, x):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i] if x[i] > 0 else -x[i] if x[i] > -1 else 5


def loop_of_own_length(y, x):
    i = cuda.grid(1)
    if i < x.size:
        s = 0.0
        for k in range(i % 7):
            s += x[i] * k
        y[i] = s


def data_dependent_while(y, x):
    i = cuda.grid(1)
    if i < x.size:
        v = abs(x[i])
        n = 0
        while v > 0.5:
            v = v / 2
            n += 1
        y[i] = n


def uniform_while(y, x):
    i = cuda.grid(1)
    if i < x.size:
        s = 1
        acc = 0.0
        while s < 20:
            acc += x[i] * s
            s *= 2
        y[i] = acc


def breaks(y, x):
    i = cuda.grid(1)
    if i < x.size:
        found = -1
        for k in range(x.size):
            if x[k] > x[i]:
                found = k
                break
        else:
            found = 1000
        y[i] = found


def continues(y, x):
    i = cuda.grid(1)
    if i < x.size:
        s = 0.0
        for k in range(8):
            if k % 2 == 0:
                continue
            s += x[i] * k
        y[i] = s


def uniform_break(y, x):
    i = cuda.grid(1)
    if i < x.size:
        s = 0.0
        for k in range(100):
            if k > 5:
                break
            s += x[i]
        y[i] = s


def gather(y, x):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[(i * 7) % x.size] + x[int(abs(x[i])) % x.size]


def reversed_access(y, x):
    i = cuda.grid(1)
    if i < x.size:
        y[x.size - 1 - i] = x[i]


def negative_index(y, x):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i - 3] + x[-1]


def stencil(y, x):
    i = cuda.grid(1)
    if i > 0 and i < x.size - 1:
        y[i] = (x[i - 1] + x[i] + x[i + 1]) / 3


def stencil_clamped(y, x):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[max(i - 1, 0)] + x[min(i + 1, x.size - 1)]


def stencil_in_branch(y, x):
    i = cuda.grid(1)
    if i < x.size:
        s = x[i]
        if i > 0:
            s += x[i - 1]
        if i + 1 < x.size:
            s += x[i + 1]
        y[i] = s


def grid_stride(y, x):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        y[i] = x[i] + i


def by_hand_index(y, x):
    i = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    if i < x.size:
        y[i] = x[i] + cuda.threadIdx.x - 2 * cuda.blockIdx.x


def thread_only(y, x):
    t = cuda.threadIdx.x
    if cuda.blockIdx.x == 0 and t < x.size:
        y[t] = x[t] + cuda.blockDim.x + cuda.gridDim.x


def index_as_value(y, x):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = i * 0.5 + (i // 3) % 5


def math_functions(y, x):
    i = cuda.grid(1)
    if i < x.size:
        v = abs(x[i]) + 0.5
        y[i] = (
            math.sqrt(v)
            + math.sin(v) * math.cos(v)
            + math.exp(-v)
            + math.log(v + 1)
            + v**2
            + math.floor(v) % 3
        )


def reassigned_parameter(y, x, n):
    i = cuda.grid(1)
    if i < x.size:
        n = n + i
        y[i] = n


def helper_clip(v, low, high):
    if v < low:
        return low
    if v > high:
        return high
    return v


def helper_sum(x, i, n):
    s = 0.0
    for k in range(n):
        s += x[(i + k) % x.size]
    return s


def with_helpers(y, x):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = helper_clip(x[i], -1.0, 1.0) + helper_sum(x, i, 3)


def logic(y, x):
    i = cuda.grid(1)
    if i < x.size:
        a = x[i] > 0 and x[i] < 2
        b = x[i] < -2 or not a
        y[i] = 1 if a and not b else 2 if b else 3


ONE_AXIS = [
    early_return, two_returns, return_in_loop, divergent_stores, divergent_values, conditional, loop_of_own_length,
    data_dependent_while, uniform_while, breaks, continues, uniform_break, gather, reversed_access, negative_index,
    stencil, stencil_clamped, stencil_in_branch, grid_stride, by_hand_index, thread_only, index_as_value,
    math_functions, with_helpers, logic,
]  # fmt: skip


@pytest.mark.parametrize("n", [5, 16, 77, 200])
@pytest.mark.parametrize("function", ONE_AXIS, ids=lambda f: f.__name__)
def test_one_axis(function, n):
    check(function, (n + 31) // 32, 32, data(n), data(n))


@pytest.mark.parametrize("function", ONE_AXIS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [np.float64, np.int32])
def test_one_axis_other_dtypes(function, dtype):
    if dtype is np.int32 and function in (
        data_dependent_while,
        math_functions,
        with_helpers,
        index_as_value,
        stencil,
    ):
        pytest.skip("mixes integers with fractions: Python keeps what an int32 element rounds")
    check(function, 3, 32, data(90, dtype=dtype), data(90, dtype=dtype))


def test_parameter_reassigned():
    check(reassigned_parameter, 3, 32, data(90), data(90), 5)


@pytest.mark.parametrize("function", ONE_AXIS, ids=lambda f: f.__name__)
def test_unchecked_gives_the_same(function):
    check(function, 3, 32, data(90), data(90), checked=False)


@pytest.mark.parametrize(
    "function", [saxpy, stencil, reversed_access, divergent_stores, gather, math_functions]
)
def test_strided_views(function):
    extra = (2.0,) if function is saxpy else ()
    check(function, 3, 32, data(180)[::2], data(90)[::-1], *extra)


def matmul(C, A, B):
    i, j = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        t = 0.0
        for k in range(A.shape[1]):
            t += A[i, k] * B[k, j]
        C[i, j] = t


def matmul_swapped(C, A, B):
    j, i = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        t = 0.0
        for k in range(A.shape[1]):
            t += A[i, k] * B[k, j]
        C[i, j] = t


def matmul_two_sums(C, A, B):
    i, j = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        t = 0.0
        u = 1.0
        for k in range(A.shape[1]):
            a = A[i, k]
            t += a * B[k, j]
            u += a - B[k, j]
        C[i, j] = t + u


@pytest.mark.parametrize("shape", [(1, 1, 1), (5, 3, 7), (16, 16, 16), (33, 20, 47), (64, 31, 65), (8, 0, 9)])
@pytest.mark.parametrize("function", [matmul, matmul_swapped, matmul_two_sums])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_matrix_products(shape, function, dtype):
    n, k, m = shape
    a, b = data(n, k, dtype=dtype), data(k, m, dtype=dtype)
    c = np.zeros((n, m), dtype)
    expected = a @ b
    if function is matmul_two_sums:
        expected = expected + 1 + (a.sum(1)[:, None] - b.sum(0)[None, :])
    cuda.kernel(function)[(9, 9), (8, 8)](c, a, b)
    np.testing.assert_allclose(c, expected, rtol=2e-5, atol=2e-5 if dtype is np.float32 else 1e-9)


@pytest.mark.parametrize("layout", ["transposed", "reversed", "sliced", "broadcast"])
def test_matrix_product_layouts(layout):
    a, b = data(20, 24), data(24, 28)
    a, b = {
        "transposed": (np.asfortranarray(a), np.asfortranarray(b)),
        "reversed": (a[::-1, ::-1], b[::-1, ::-1]),
        "sliced": (data(40, 48)[::2, ::2], data(24, 56)[:, 10:38]),
        "broadcast": (np.broadcast_to(a[0], a.shape), np.broadcast_to(b[:, :1], b.shape)),
    }[layout]
    c = np.zeros((20, 28), np.float32)
    cuda.kernel(matmul)[(4, 4), (8, 8)](c, a, b)
    np.testing.assert_allclose(c, a @ b, rtol=2e-5, atol=2e-5)


def transpose(y, x):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        y[j, i] = x[i, j]


def blur(y, x):
    i, j = cuda.grid(2)
    if 1 <= i < x.shape[0] - 1 and 1 <= j < x.shape[1] - 1:
        s = 0.0
        for di in range(-1, 2):
            for dj in range(-1, 2):
                s += x[i + di, j + dj]
        y[i, j] = s / 9


def triangular(y, x):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        s = 0.0
        for k in range(i):
            s += x[k, j]
        y[i, j] = s if j <= i else -s


def row_condition(y, x):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        if i % 2 == 0:
            y[i, j] = x[i, j]
        else:
            y[i, j] = -x[i, j] * j


def mandelbrot(y, x):
    i, j = cuda.grid(2)
    if i < y.shape[0] and j < y.shape[1]:
        cr, ci = x[i, j] / 2, (j - 4) / 5
        zr = zi = 0.0
        n = 0
        while zr * zr + zi * zi < 4 and n < 30:
            zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
            n += 1
        y[i, j] = n


@pytest.mark.parametrize("shape", [(3, 3), (16, 16), (19, 37)])
@pytest.mark.parametrize("function", [blur, triangular, row_condition, mandelbrot])
def test_two_axes(function, shape):
    x = data(*shape, dtype=np.float64)
    check(function, (5, 5), (8, 8), np.zeros_like(x), x)


def test_transpose():
    x = data(19, 37)
    y = np.zeros((37, 19), np.float32)
    cuda.kernel(transpose)[(5, 5), (8, 8)](y, x)
    np.testing.assert_array_equal(y, x.T)


def three_axes(y, x):
    i, j, k = cuda.grid(3)
    if i < x.shape[0] and j < x.shape[1] and k < x.shape[2]:
        y[i, j, k] = x[i, j, k] + 100 * i + 10 * j + k


def test_three_axes():
    x = data(5, 6, 19)
    check(three_axes, (3, 3, 5), (2, 2, 4), np.zeros_like(x), x)


def test_fastmath_keeps_nan_and_integers():
    @cuda.kernel(fastmath=True)
    def mixed(y, x, n):
        i = cuda.grid(1)
        if i < x.size:
            v = x[i] / 3 + x[i] * 2 - x[i]
            y[i] = -1.0 if math.isnan(v) else v
            n[i] = (i * 7) // 3 - (i % 5)

    x = data(100)
    x[::7] = np.nan
    y, n = np.zeros(100, np.float32), np.zeros(100, np.int64)
    mixed[4, 32](y, x, n)
    np.testing.assert_allclose(y, np.where(np.isnan(x), -1, x / 3 + x), rtol=1e-5, atol=1e-5)
    i = np.arange(100)
    np.testing.assert_array_equal(n, i * 7 // 3 - i % 5)
