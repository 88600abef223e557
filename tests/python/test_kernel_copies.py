"""Slices assigned and changed in place, run-time steps, reshape, strides, views from helpers; NumPy is the reference."""

import numpy as np
import pytest
from frontend_source import make, run
from hypothesis import given, settings
from hypothesis import strategies as st
from xcuda import core
from xcuda.core.errors import KernelSyntaxError

RNG = np.random.default_rng(5)


def same(text, *arrays):
    """A kernel of one thread leaves in its arrays what the function itself does."""
    f = make(text)
    want = [a.copy() if isinstance(a, np.ndarray) else a for a in arrays]
    f(*want)
    run(f, *arrays)
    for a, b in zip(arrays, want, strict=True):
        np.testing.assert_array_equal(a, b, err_msg=text)
    return f


@pytest.mark.parametrize(
    "body",
    [
        "a[1:5] = b[0:4]",
        "a[:] = 0",
        "a[:] = b",
        "a[...] = b[::-1]",
        "a[1:] += 3",
        "a[1:] -= b[:-1]",
        "a[::2] *= b[::2]",
        "a[2:5] = b[3:4]",
        "a[2:5] = (1, 2.5, b[0])",
        "a[2:4] += (a[3], a[2])",
        "a[1:] = a[:-1]",
        "a[:-1] = a[1:]",
        "a[1:] += a[:-1]",
        "a[:-1] += a[1:]",
        "a[::-1] = b",
        "a[6:1:-1] = a[7:2:-1]",
        "a[7:2:-1] = a[6:1:-1]",
        "m[:] = b",
        "m[1] = m[0]",
        "m[0] = m[1]",
        "m[1:] = m[:-1]",
        "m[:-1] = m[1:]",
        "m[1:, 1:] = m[:-1, :-1]",
        "m[:-1, 1:] = m[1:, :-1]",
        "m[:, 2] = m[:, 3]",
        "m[:, 0:1] = m[:, 4:5]",
        "m[:2] = m[2:4]",
        "m[:, :3] = b[5:8]",
        "m += b",
        "m[1] += 1",
        "m[1:3] *= 2",
        "m.T[1] = 5",
        "m[0] = m[1, ::-1]",
        "row = m[2]\n    row[:] = m[0]\n    row += 1",
        "row = m[2]\n    row *= m[1]",
        "for row in m:\n        row[1:] = row[:-1]",
        "for row in m.T:\n        row += 2",
    ],
)
def test_slices_are_assigned(body):
    a, b = RNG.integers(0, 50, 8).astype(float), RNG.integers(0, 50, 8).astype(float)
    same(f"def f(a, b, m):\n    {body}\n", a, b, RNG.integers(0, 50, (4, 8)).astype(float))


def test_local_arrays_overlap_in_any_order():
    text = """
    def f(o):
        t = cuda.local.array(6, np.int64)
        m = cuda.local.array((3, 3), np.int64)
        for i in range(6):
            t[i] = i
        t[:] = t[::-1]
        t[::2] = t[:3]
        for i in range(3):
            for j in range(3):
                m[i, j] = i * 3 + j
        m[:] = m.T
        for i in range(6):
            o[i] = t[i]
        for i in range(9):
            o[6 + i] = m[i // 3, i % 3]
    """
    o = np.zeros(15, int)
    run(make(text), o)
    t, m = np.arange(6)[::-1].copy(), np.arange(9).reshape(3, 3).T
    t[::2] = t[:3].copy()
    assert o.tolist() == [*t.tolist(), *m.ravel().tolist()]


@pytest.mark.parametrize(
    ("body", "error", "words"),
    [
        ("a[:] = a[::-1]", KernelSyntaxError, "both sides are parts of 'a' and may overlap"),
        ("m[0:3, 0:3] = m.T[0:3, 0:3]", KernelSyntaxError, "both sides are parts of 'm' and may overlap"),
        ("a[:] = m", KernelSyntaxError, "an array of 2 dimensions does not go into one of 1"),
        ("a[0:3] = (1, 2)", ValueError, "could not broadcast a tuple of 2"),
        ("a[0:3] = b[0:2]", ValueError, "could not broadcast 'b' into a slice of another shape"),
        ("a[0:n] = b[0:2]", ValueError, "could not broadcast 'b' into a slice of another shape"),
        ("a[0:n] = a[0:2]", ValueError, "could not broadcast 'a' into a slice of another shape"),
        (
            "k[0:2] += 0.5",
            KernelSyntaxError,
            "float64, which NumPy does not put into int32 elements in place",
        ),
        ("k[0:2] /= 2", KernelSyntaxError, "float64, which NumPy does not put into int32 elements in place"),
        ("a[0:2] = np.float64", KernelSyntaxError, "only numbers and arrays can be assigned to a slice"),
        ("m[0:2] = (1, 2)", KernelSyntaxError, "a tuple can be assigned to a part of one axis"),
        ("x = a[::n - 3]\n    a[0] = x[0]", ValueError, "slice step cannot be zero"),
        ("x = a.reshape(n, 2)\n    a[0] = x[0, 0]", ValueError, "cannot reshape an array of this size"),
        ("x = m[:, 1:].reshape(21)", KernelSyntaxError, "elements lie behind one another"),
        ("x = a.reshape(-1, -1)", ValueError, "can only specify one unknown dimension"),
        ("x = a.reshape(2, 4)\n    a[0] = x[2, 0]", IndexError, "2"),
        ("a[0] = a.flags", KernelSyntaxError, "an array in a kernel has no 'flags'"),
    ],
)
def test_refusals(body, error, words):
    f = make(f"def f(a, b, m, k, n):\n    {body}\n")
    a = np.arange(8.0)
    with pytest.raises(error, match=words):
        run(f, a, a.copy(), np.ones((4, 8)), np.zeros(4, np.int32), 3)
    assert a.tolist() == list(range(8))


def test_steps_of_run_time():
    text = """
    def f(a, s, count, o):
        i = cuda.grid(1)
        if i < s.shape[0]:
            v = a[s[i, 0]:s[i, 1]:s[i, 2]]
            w = a[::s[i, 2]][1:]
            count[i, 0] = len(v)
            count[i, 1] = len(w)
            for k in range(len(v)):
                o[i, k] += v[k]
            for k in range(len(w)):
                o[i, k] += 100 * w[-1 - k]
    """
    ends, steps = [-9, -3, -1, 0, 2, 5, 8], [-(2**40), -3, -2, -1, 1, 2, 3, 2**40]
    s = np.array([(lo, hi, step) for lo in ends for hi in ends for step in steps])
    for n in (0, 1, 6):
        a = np.arange(n) + 1
        count, o = np.zeros((len(s), 2), int), np.zeros((len(s), 6), int)
        core.kernel(make(text))[-(-len(s) // 64), 64](a, s, count, o)
        for k, (lo, hi, step) in enumerate(s.tolist()):
            v, w = a[lo:hi:step], a[::step][1:]
            want = np.zeros(6, int)
            want[: len(v)] += v
            want[: len(w)] += 100 * w[::-1]
            assert count[k].tolist() == [len(v), len(w)], (n, lo, hi, step)
            assert o[k].tolist() == want.tolist(), (n, lo, hi, step)
    o = np.zeros((1, 6), int)
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        core.kernel(make(text))[1, 1](np.arange(6), np.array([[0, 5, 0]]), o[:, :2], o)


def test_run_time_steps_assigned():
    for step in (-3, -1, 1, 2):
        same(
            "def f(a, b, s):\n    a[::s] = b[:len(a[::s])]\n    v = b[::s]\n    v[:] = 7\n    v[-1] += 2\n",
            np.arange(9.0),
            np.arange(9.0) + 20,
            step,
        )


def test_views_from_helpers():
    text = """
    def row(m, i):
        return m[i]
    def inner(v):
        return v[1:-1]
    def column(m, j):
        if j < 0:
            return m[:, 0]
        return m[:, j]
    def whole(m):
        return m
    def f(m, o):
        i = cuda.grid(1)
        if i < m.shape[0]:
            r = row(m, i)
            v = inner(row(whole(m), i))
            o[i, 0] = len(r) * 10 + len(v)
            o[i, 1] = v[0] + inner(inner(r))[-1]
            o[i, 2] = column(m, i)[-1] + column(m, -1)[i]
            v[0] = -1
            inner(v)[:] = 50
    """
    m, o = np.arange(28.0).reshape(4, 7), np.zeros((4, 3))
    want = m.copy()
    core.kernel(make(text, "f"))[1, 32](m, o)
    i = np.arange(4)
    np.testing.assert_array_equal(o[:, 0], 75)
    np.testing.assert_array_equal(o[:, 1], want[i, 1] + want[i, 4])
    np.testing.assert_array_equal(o[:, 2], want[3, i] + want[i, 0])
    want[:, 1] = -1
    want[:, 2:5] = 50
    np.testing.assert_array_equal(m, want)


@pytest.mark.parametrize(
    ("helper", "words"),
    [
        (
            "    t = cuda.local.array(3, np.float64)\n    return t",
            "g.. returns 't', which ends with the call",
        ),
        (
            "    if a[0] > 0:\n        return a\n    return a[1:]",
            "g.. returns one array in line 3 and another here",
        ),
        ("    return np.sin", "g.. returns 'np.sin'"),
    ],
)
def test_what_helpers_can_not_give_back(helper, words):
    f = make(f"def g(a):\n{helper}\ndef f(a):\n    x = g(a)\n    a[0] = x[0]\n", "f")
    with pytest.raises(KernelSyntaxError, match=words):
        run(f, np.ones(3))


def test_zip_enumerate_and_rows():
    text = """
    def f(a, m, o):
        for t, x in zip((10, 20, 30), a):
            o[0] += t * x
        else:
            o[1] = 5
        for t, x in zip((1, 2, 3, 4, 5, 6, 7, 8, 9, 10), a):
            if x == 3:
                break
            o[2] += t + x
        for i, x in enumerate(a[::-2]):
            o[3] += i * x
        for i, row in enumerate(m[1:], 2):
            o[4] += i * row[1]
        for k, (i, row) in zip((5, 6), enumerate(m)):
            o[5] += k * row[i]
        for row in m:
            for x in row[::2]:
                o[6] += x
        for x in m.T[0]:
            o[7] = o[7] * 2 + x
    """
    same(text, np.arange(5.0) + 1, np.arange(12.0).reshape(3, 4), np.zeros(8))
    same(text, np.arange(2.0) + 1, np.arange(12.0).reshape(3, 4), np.zeros(8))
    same(text, np.zeros(0), np.arange(12.0).reshape(3, 4)[::-1], np.zeros(8))


def test_what_arrays_have():
    text = """
    def f(a, m, o):
        o[0] = m.strides[0]
        o[1] = m.strides[1]
        o[2] = m[::-1, 1:].strides[0] + m.T.strides[0]
        o[3] = a.itemsize + m.itemsize
        o[4] = m.nbytes + m[0].nbytes
        o[5] = a[::3].strides[0]
        o[6] = 1 if m.dtype == np.float32 else 0
        o[7] = m[None].ndim + m.size
    """
    base = np.arange(60, dtype=np.float32).reshape(6, 10)
    for m in (base, base.T, base[::-1, ::2], np.asfortranarray(base)):
        o, want = np.zeros(8, int), np.zeros(8, int)  # over the same memory: a copy has other strides
        make(text)(np.arange(7), m, want)
        run(make(text), np.arange(7), m, o)
        assert o.tolist() == want.tolist()


def test_reshape():
    text = """
    def f(a, o):
        m = a.reshape(3, 4)
        o[0] = m[1, 2]
        o[1] = m[-1, -1]
        o[2] = m.shape[0] * 10 + m.shape[1]
        row = m[2]
        o[3] = row[1] + len(row)
        m[0, 1:3] = 7
        c = m[:, 1]
        o[4] = c[2]
        k = a[::2].reshape(-1, 3)
        o[5] = k[1, 0] * 100 + k.shape[0]
        b = a.reshape((2, 2, 3))
        o[6] = b[1, 0, 2]
        m += 1
        o[7] = a[5]
    """
    same(text, np.arange(12.0), np.zeros(8))
    same(text, np.arange(24.0)[::-2], np.zeros(8))

    def tile(o):
        s = core.shared.array(64, np.int64).reshape(8, 8)
        t = core.threadIdx.x
        s[t // 8, t % 8] = t
        core.syncthreads()
        o[t] = s[t % 8, t // 8]

    o = np.zeros(64, int)
    run(tile, o, block=64)
    assert o.reshape(8, 8).T.ravel().tolist() == list(range(64))


ends = st.one_of(st.none(), st.integers(-8, 8))


@settings(max_examples=25, deadline=None)
@given(
    st.tuples(ends, ends),
    st.integers(0, 6),
    st.sampled_from([1, 2, -1, -2]),
    st.sampled_from(["=", "+=", "-="]),
)
def test_random_overlaps(span, shift, step, op):
    """Two runs of one array, of one step: as NumPy's copy would be."""
    n = 9
    index = np.arange(n)[slice(*span)]
    if step < 0:
        index = index[::-1]
    index = index[:: abs(step)]
    index = index[index + shift < n]
    a = np.arange(n) * 3 + 1
    f = make(
        f"def f(a, at, to, count):\n    x = a[at::{step}]\n    y = a[to::{step}]\n    u = x[:count]\n"
        f"    w = y[:count]\n    u[:] {op} w\n"
    )
    if not len(index):
        return
    for at, to in ((index[0], index[0] + shift), (index[0] + shift, index[0])):
        got, want = a.copy(), a.copy()
        f(want, at, to, len(index))
        run(f, got, int(at), int(to), len(index))
        np.testing.assert_array_equal(got, want)
