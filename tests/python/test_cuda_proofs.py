"""Which bounds checks stay in the CUDA text: those that guards, loops and remainders prove are gone, others are not."""

import numpy as np
import pytest
import xcuda.core as cuda
from frontend_source import make

FLOATS = "float32[:, ::1], float32[:, ::1]"


def checks(kernel, signature, block=None):
    """How often each array is checked, counted by access and axis, in the text for sm_90."""
    text = kernel.compile(signature, block, target="sm_90")["text"]
    return text.count("xc_index_nowrap(") + text.count("xc_index("), text.count("xc_wrap(")


@cuda.kernel
def inner(b, a):
    j, i = cuda.grid(2)
    if 0 < i < a.shape[0] - 1 and 1 <= j < a.shape[1] - 1:
        b[i, j] = a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]


@cuda.kernel
def one_too_far(b, a):
    j, i = cuda.grid(2)
    if 0 < i < a.shape[0] - 1 and 1 <= j < a.shape[1] - 1:
        b[i, j] = a[i - 2, j] + a[i + 2, j] + a[i, j]


@cuda.kernel
def torus(b, a):
    j, i = cuda.grid(2)
    height, width = a.shape
    if i < height and j < width:
        up, down = (i - 1) % height, (i + 1) % height
        b[i, j] = a[up, j] + a[down, (j + 1) % width]


@cuda.kernel
def other_torus(b, a):
    j, i = cuda.grid(2)
    height, width = b.shape
    if i < height and j < width:
        up = (i - 1) % height
        b[i, j] = a[up, j]


@cuda.kernel
def ring_of_rows(b, a):
    t = cuda.shared.array((3, 8), np.float32)
    for d in range(2, 100):
        t[d % 3, 5] = t[(d - 1) % 3, d & 7]
    for k in range(8):
        t[2, k] = 1.0


@cuda.kernel
def ring_too_short(b, a):
    t = cuda.shared.array((2, 8), np.float32)
    for d in range(2, 100):
        t[d % 3, 5] = 1.0


@cuda.kernel
def either(b, a):
    i = cuda.grid(1)
    x = a[i, 0] if i < a.shape[0] else np.float32(0)
    if not (i >= b.shape[0] or b.shape[1] < 1):
        b[i, 0] = x


@cuda.kernel
def reassigned(b, p):
    if p > 0:
        p = p - 10
        if p < b.shape[0]:
            b[p, 0] = 1.0


@pytest.mark.parametrize(
    ("kernel", "signature", "checked", "wraps"),
    [
        (inner, FLOATS, 2, 0),  # b's two axes: nothing is known of its shape
        (one_too_far, FLOATS, 4, 0),  # and i - 2, i + 2
        (torus, FLOATS, 2, 0),
        (other_torus, FLOATS, 2, 0),  # a's
        (ring_of_rows, FLOATS, 0, 0),
        (ring_too_short, FLOATS, 1, 0),
        (either, FLOATS, 1, 0),  # a's second axis may be 0 long
        (reassigned, "float32[:, ::1], int64", 2, 0),
    ],
)
def test_checks_that_are_left(kernel, signature, checked, wraps):
    assert checks(kernel, signature) == (checked, wraps)


VECTORS = "float32[::1], float32[::1]"


@cuda.kernel
def tree(sums, a):
    part = cuda.shared.array(256, np.float32)
    t = cuda.threadIdx.x
    part[t] = a[t]
    cuda.syncthreads()
    step = cuda.blockDim.x // 2
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    sums[0] = part[0]


@cuda.kernel
def scan(sums, a):
    part = cuda.shared.array(256, np.float32)
    t = cuda.threadIdx.x
    part[t] = a[t]
    cuda.syncthreads()
    step = 1
    while step < 256:
        value = part[t]
        if t >= step:
            value += part[t - step]
        cuda.syncthreads()
        part[t] = value
        cuda.syncthreads()
        step *= 2
    sums[0] = part[255]


def neighbours(first, condition, following, size=256):
    """A tree over neighbours: the first step, when a thread adds, and the next step."""
    return cuda.kernel(
        make(
            f"""
            def f(sums, a):
                part = cuda.shared.array({size}, np.float32)
                t = cuda.threadIdx.x
                part[t] = a[t]
                cuda.syncthreads()
                step = {first}
                while step < {size}:
                    if {condition}:
                        part[t] += part[t + step]
                    cuda.syncthreads()
                    step = {following}
                sums[0] = part[0]
            """
        )
    )


def on_host(a, first, condition, following):
    part, step = a.copy(), first
    while step < len(part):
        new = part.copy()
        for t in range(len(part)):
            if eval(condition, {"t": t, "step": step}):
                new[t] = part[t] + part[t + step]
        part, step = new, eval(following, {"step": step})
    return part[0]


DOUBLED = "t % (2 * step) == 0"


@pytest.mark.parametrize(
    ("parts", "left"),
    [
        ((1, DOUBLED, "step * 2"), 0),
        ((1, DOUBLED, "step << 1"), 0),
        ((2, "t % (step * 4) == 0", "4 * step"), 0),
        ((1, "t & (2 * step - 1) == 0", "step * 2"), 0),
        ((1, "t % step == 0", "step * 2"), 1),
        ((3, DOUBLED, "step * 2"), 1),
        ((1, DOUBLED, "step * 3"), 1),
        ((1, DOUBLED, "step + 1"), 1),
        ((1, DOUBLED, "step * 2", 200), 1),
    ],
)
def test_a_step_that_is_a_power_of_two_stays_in_its_block(parts, left):
    kernel = neighbours(*parts)
    size = parts[3] if len(parts) > 3 else 256
    given = 2  # a's element and the sum
    assert checks(kernel, VECTORS, (size, 1, 1))[0] == given + left
    if left == 0:
        a, sums = np.arange(size, dtype=np.float32), np.zeros(1, np.float32)
        kernel[1, size](sums, a)
        assert sums[0] == on_host(a, *parts)


@pytest.mark.parametrize("kernel", [tree, scan])
def test_a_block_that_is_known_proves_what_its_threads_touch(kernel):
    given = 2  # a's element and the sum
    assert checks(kernel, VECTORS, (256, 1, 1)) == (given, 0)
    assert checks(kernel, VECTORS, (512, 1, 1))[0] > given
    assert checks(kernel, VECTORS)[0] > given  # any block


@pytest.mark.parametrize("block", [64, 256])
@pytest.mark.parametrize("kernel", [tree, scan])
def test_each_block_shape_has_its_right_text(kernel, block):
    a = np.arange(256, dtype=np.float32)
    sums = np.zeros(1, np.float32)
    if kernel is scan and block < 256:
        block = 256
    kernel[1, block](sums, a)
    assert sums[0] == a[:block].sum()


def test_a_block_larger_than_the_shared_array_is_an_index_error():
    with pytest.raises(IndexError, match="is out of range for axis 0 of part with shape"):
        tree[1, 512](np.zeros(1, np.float32), np.zeros(512, np.float32))


@cuda.kernel
def gathered(out, x, values, columns, starts):
    row = cuda.grid(1)
    if row < out.size:
        total = 0.0
        for k in range(starts[row], starts[row + 1]):
            total += values[k] * x[columns[k]]
        out[row] = total


def test_an_index_from_memory_is_told_where_it_is_met():
    starts, columns = np.array([0, 2, 4]), np.array([0, 1, 0, 7])
    values, x, out = np.ones(4, np.float32), np.array([3, 4], np.float32), np.zeros(2, np.float32)
    with pytest.raises(IndexError, match=r"index 7 is out of range for axis 0 of x.*thread \(1, 0, 0\)"):
        gathered[1, 2](out, x, values, columns, starts)
    columns[3] = -1  # counts from the end
    gathered[1, 2](out, x, values, columns, starts)
    assert out.tolist() == [7, 7]


def test_a_reassigned_argument_wraps_as_python_has_it():
    b = np.zeros((20, 1), np.float32)
    reassigned[1, 1](b, 5)
    assert b[15, 0] == 1 and b.sum() == 1  # -5 counts from the end


def test_what_is_proven_is_true():
    a = np.arange(42, dtype=np.float32).reshape(6, 7)
    b = np.zeros_like(a)
    inner[(1, 1), (32, 8)](b, a)
    np.testing.assert_array_equal(b[1:-1, 1:-1], a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
    torus[(1, 1), (32, 8)](b, a)
    np.testing.assert_array_equal(b, np.roll(a, 1, 0) + np.roll(np.roll(a, -1, 0), -1, 1))


def test_what_is_not_proven_is_still_checked():
    a = np.arange(42, dtype=np.float32).reshape(6, 7)
    with pytest.raises(IndexError, match="index 6 is out of range for axis 0 of a"):
        one_too_far[(1, 1), (32, 8)](np.zeros_like(a), a)
    with pytest.raises(IndexError, match="index 2 is out of range"):
        ring_too_short[1, 1](a.copy(), a)
