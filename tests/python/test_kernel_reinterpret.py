"""Bits of numbers and arrays as another dtype, and arrays in another shape: NumPy's own views are the reference."""

import numpy as np
import pytest
from frontend_source import compiles, make, run
from test_kernel_loops import check
from xcuda import core

SAME_SIZE = [
    ("int8", "uint8"), ("uint16", "int16"), ("float16", "uint16"), ("int16", "float16"), ("float32", "int32"),
    ("uint32", "float32"), ("int32", "uint32"), ("float64", "int64"), ("uint64", "float64"), ("int64", "uint64"),
]  # fmt: skip


def bytes_of(count, seed=2):
    return np.random.default_rng(seed).integers(0, 256, count, dtype=np.uint8)


@pytest.mark.parametrize("source, target", SAME_SIZE)
def test_the_bits_of_a_number(source, target):
    a = bytes_of(64 * np.dtype(source).itemsize).view(source)
    out = np.zeros(64, target)
    f = make(f"def f(a, o):\n    i = cuda.grid(1)\n    o[i] = a[i].view(np.{target})\n")
    run(f, a, out, block=64)
    word = f"u{out.itemsize}"
    nan = np.isnan(a.view(target)) if target.startswith("float") else np.zeros(64, bool)
    np.testing.assert_array_equal(out.view(word)[~nan], a.view(word)[~nan])
    assert np.isnan(out[nan]).all()


def test_an_inverse_root_by_its_bits():
    def f(a, o):
        for k in range(len(a)):
            x = a[k]
            i = np.int32(0x5F3759DF) - (x.view(np.int32) >> 1)
            y = i.view(np.float32)
            o[k] = y * (np.float32(1.5) - np.float32(0.5) * x * y * y)

    check(f, np.linspace(0.1, 9, 20).astype(np.float32), np.zeros(20, np.float32), rtol=1e-6)


@pytest.mark.parametrize("source", ["u1", "i2", "f4", "i8"])
@pytest.mark.parametrize("target", ["uint8", "int16", "int32", "uint64"])
def test_an_array_as_another_dtype(source, target):
    a = bytes_of(3 * 32).view(source).reshape(3, -1)
    want = a.view(target)
    f = make(f"""
        def f(a, o, total, lengths):
            v = a.view(np.{target})
            for i in range(v.shape[0]):
                for k in range(v.shape[1]):
                    o[i, k] = v[i, k]
            total[0] = a[1].view(np.{target})[-1]
            lengths[0] = v.shape[1]
            lengths[1] = v.ndim
    """)
    out, total, lengths = np.zeros_like(want), np.zeros(1, target), np.zeros(2, int)
    run(f, a, out, total, lengths)
    np.testing.assert_array_equal(out, want)
    assert total[0] == want[1, -1] and lengths.tolist() == [want.shape[1], 2]


def test_a_view_goes_through_names_helpers_loops_and_closures():
    f = make("""
        def second(x):
            return x[1]

        def f(a, o):
            v = a.view(np.int32)
            w = v
            o[0] = w[1]
            a[1] = 9
            o[1] = v[1]
            o[2] = second(v)
            o[3] = second(a)
            o[4] = (lambda k: v[k] + 1)(0)
            for i, x in enumerate(a[2:4].view(np.uint8)):
                o[5] += i * int(x)
            o[6] = sum(v)
            t = (v, 1)
            o[7] = t[0][2]
    """)
    a, o = np.arange(1, 7, dtype=np.float32), np.zeros(8)
    first = a.view(np.int32)[1]
    run(f, a, o)
    v, tail = a.view(np.int32), a[2:4].view(np.uint8)
    want = [first, v[1], v[1], 9, v[0] + 1, sum(i * int(x) for i, x in enumerate(tail))]
    want += [v.sum(dtype=np.int32), v[2]]  # Python adds int32 numbers up
    assert o.tolist() == want


def test_bytes_that_hold_no_whole_numbers_are_an_error():
    with pytest.raises(ValueError, match="does not hold whole int32 numbers"):
        run(make("def f(a, o):\n    o[0] = a[:3].view(np.int32)[0]\n"), bytes_of(8), np.zeros(1))
    with pytest.raises(IndexError, match="index 2 is out of range"):
        run(make("def f(a, o):\n    o[0] = a.view(np.int32)[2]\n"), bytes_of(8), np.zeros(1))


SHAPES = {
    "elements": "w = A.reshape(2, 6)\no[0] = w[1, 1]\nw[0, 5] = 77\no[1] = A.reshape(2, 2, 3)[1, 0, 2]\no[2] = A.reshape(12)[7]",
    "one axis": "o[0] = A.reshape(-1)[-1]\no[1] = A[1:].reshape(-1)[0]\no[2] = A.ravel()[5]\no[3] = A.flat[6]\no[4] = A[1].reshape(2, 2)[1, 0]",
    "loops": "for v in A.reshape(-1):\n    o[0] = o[0] * 2 + v\nfor r in A.reshape(6, 2):\n    o[1] += r[0]\nfor v in A.flat:\n    o[2] += v * v",
    "reductions": "o[0] = A.ravel().sum()\no[1] = A.reshape(2, 6).max()\no[2] = A.flatten()[3]\no[3] = len(A.reshape(4, -1))",
    "assigned": "A.reshape(4, 3)[:] = 5\nA.ravel()[2:4] = 9\nA.reshape(2, 6)[1] += 1",
    "helpers": "def put(x):\n    x[7] = -1\ndef get(x):\n    return x[1, 2]\nput(A.reshape(-1))\no[0] = get(A.reshape(2, 6))",
    "a copy within": "w = A.reshape(12)\nw[1:] = w[:-1]",
    "local": "t = np.zeros((2, 3))\nw = t.reshape(3, 2)\nfor i in range(3):\n    for j in range(2):\n        w[i, j] = i * 2 + j\no[0] = t[1, 1]",
    "dynamic": "n = A.shape[0]\nw = A.reshape(n * 2, A.size // (n * 2))\no[0] = w[3, 1] + w.shape[1]",
}


@pytest.mark.parametrize("name", SHAPES)
def test_other_shapes_of_arrays_of_several_axes(name):
    """`local`: a kernel's own array, in Python one of NumPy's."""
    body = "\n    ".join(SHAPES[name].split("\n"))
    text = f"def f(A, o):\n    {body}\n"
    A, o = np.arange(12.0).reshape(3, 4), np.zeros(8)
    want_A, want_o = A.copy(), o.copy()
    make(text, name="f")(want_A, want_o)
    run(make(text.replace("np.zeros((2, 3))", "cuda.local.array((2, 3), np.float64)"), name="f"), A, o)
    np.testing.assert_array_equal(A, want_A)
    np.testing.assert_array_equal(o, want_o)


@pytest.mark.parametrize(
    "body, error, words",
    [
        ("o[0] = A.reshape(5, 2)[0, 0]", ValueError, "cannot reshape"),
        ("o[0] = A.reshape(4, 3)[4, 0]", IndexError, "index 4 is out of range for axis 0"),
        ("o[0] = A.ravel()[12]", IndexError, "index 12 is out of range"),
        ("o[0] = A[:, 1:].reshape(-1)[0]", SyntaxError, "elements lie behind one another"),
        ("A[0] = A.ravel()[4:8]", SyntaxError, "parts of 'A' and may overlap"),
    ],
)
def test_shapes_that_can_not_be(body, error, words):
    with pytest.raises(error, match=words):
        run(make(f"def f(A, o):\n    {body}\n"), np.arange(12.0).reshape(3, 4), np.zeros(1))


def test_one_thread_an_element():
    """As many threads as the flat view has elements, which is more than the last axis has."""
    f = make(
        "def f(A, o):\n    i = cuda.grid(1)\n    w = A.reshape(-1)\n    if i < len(w):\n        w[i] += i\n        o[i] = w[i]\n"
    )
    A, o = np.arange(60.0).reshape(3, 4, 5), np.zeros(60)
    run(f, A, o, grid=2, block=32)
    np.testing.assert_array_equal(A.ravel(), 2 * np.arange(60))
    np.testing.assert_array_equal(o, 2 * np.arange(60))
    core.kernel(f)(A, o)  # the launch's own shape covers them all
    core.synchronize()
    np.testing.assert_array_equal(o, 3 * np.arange(60))


def test_the_cuda_text_compiles():
    @core.kernel
    def kernel(a, A, o):
        i = core.grid(1)
        if i < len(o):
            o[i] = a.view(np.int32)[i] + a[i].view(np.uint32) + A.reshape(-1)[i]
            A.reshape(2, 6)[1, i % 6] = a.view(np.uint8)[i]

    compiles(kernel, (np.zeros(4, "f4"), np.zeros((3, 4)), np.zeros(4)))


@pytest.mark.parametrize(
    "source, target", [*SAME_SIZE, ("uint8", "float32"), ("int16", "float64"), ("float32", "int64")]
)
def test_views_are_written(source, target):
    """Each thread writes one element of the view, whole or by an operator, as NumPy does."""
    a = bytes_of(64 * 8).view(source)
    values = np.random.default_rng(3).integers(0, 100, a.view(target).size).astype(target)
    f = make(
        "def f(a, x):\n    i = cuda.grid(1)\n"
        f"    v = a.view(np.{target})\n    if i < v.size:\n        v[i - v.size] = x[i]\n        v[i] += x[i]\n"
    )
    want = a.copy()
    want.view(target)[:] = values
    want.view(target)[:] += values
    run(f, a, values, grid=-(-values.size // 64), block=64)
    np.testing.assert_array_equal(a.view(np.uint8), want.view(np.uint8))
