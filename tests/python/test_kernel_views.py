"""Views of arrays in kernels: rows, slices, steps, new axes, transposes; NumPy's own views are the reference."""

import itertools

import numpy as np
import pytest
from frontend_source import ir, make, run
from xcuda import core

RNG = np.random.default_rng(3)


def rows(v, data):
    row = data[v]
    total = 0.0
    for k in range(len(row)):
        total += row[k]
    return total


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (7, 17), (64, 33)])
def test_a_row_in_a_variable(shape):
    def f(a, o):
        i = core.grid(1)
        if i < a.shape[0]:
            row = a[i]
            total = np.float32(0)
            for k in range(len(row)):
                total += row[k]
            o[i] = total + row.shape[0] + row.size + row.ndim

    a = RNG.normal(size=shape).astype(np.float32)
    o = np.zeros(shape[0], np.float32)
    run(f, a, o, block=128)
    want = a.astype(np.float64).sum(1) + 2 * shape[1] + 1
    np.testing.assert_allclose(o, want, rtol=1e-4)


ENDS = [None, 0, 1, 2, 5, 9, -1, -2, -5, -9]
STEPS = [None, 1, 2, 3, -1, -2, -3]


@pytest.mark.parametrize("step", STEPS)
def test_every_slice_of_constants(step):
    """Lengths and elements of a[lo:hi:step] for all kinds of ends, in one kernel."""
    pairs = list(itertools.product(ENDS, ENDS))
    text = "def f(a, count, o):\n"
    for j, (lo, hi) in enumerate(pairs):
        parts = ["" if p is None else str(p) for p in (lo, hi, step)]
        text += f"    v{j} = a[{':'.join(parts)}]\n    count[{j}] = len(v{j})\n"
        text += f"    for k in range(len(v{j})):\n        o[{j}, k] = v{j}[k]\n"
    f = make(text)
    for n in (0, 1, 4, 5):
        a = np.arange(n) + 10
        count, o = np.full(len(pairs), -1), np.zeros((len(pairs), 8), int)
        run(f, a, count, o)
        for j, (lo, hi) in enumerate(pairs):
            want = a[lo:hi:step]
            assert count[j] == len(want), (n, lo, hi, step)
            assert o[j, : len(want)].tolist() == want.tolist(), (n, lo, hi, step)


def test_every_slice_of_run_time():
    f = make(
        "def f(a, ends, count, o, p):\n    i = cuda.grid(1)\n    if i < ends.shape[0]:\n"
        "        v = a[ends[i, 0]:ends[i, 1]]\n        w = a[ends[i, 0]:ends[i, 1]:-2]\n"
        "        count[i, 0] = len(v)\n        count[i, 1] = w.shape[0]\n"
        "        for k in range(v.size):\n            o[i, k] = v[k]\n"
        "        for k in range(w.size):\n            p[i, k] = w[-1 - k]\n"
    )
    for n in (0, 1, 7):
        a = np.arange(n) + 100
        ends = np.array(list(itertools.product(range(-n - 3, n + 4), repeat=2)))
        count, o, p = (
            np.zeros((len(ends), 2), int),
            np.zeros((len(ends), 8), int),
            np.zeros((len(ends), 8), int),
        )
        run(f, a, ends, count, o, p, grid=-(-len(ends) // 64), block=64)
        for j, (lo, hi) in enumerate(ends):
            v, w = a[lo:hi], a[lo:hi:-2]
            assert count[j].tolist() == [len(v), len(w)], (lo, hi)
            assert o[j, : len(v)].tolist() == v.tolist()
            assert p[j, : len(w)].tolist() == w[::-1].tolist()


def test_views_of_views():
    f = make(
        "def f(a, o):\n    v = a[2:, ::-2]\n    w = v[1::2, 1:]\n    u = w[None, ..., 0]\n    t = a.T[3]\n"
        "    o[0] = w[0, 0]\n    o[1] = w[-1, -1]\n    o[2] = u[0, 1]\n    o[3] = u.shape[0] * 10 + u.shape[1]\n"
        "    o[4] = t[5]\n    o[5] = len(t)\n    o[6] = w.shape[0] * 100 + w.shape[1]\n    o[7] = a[1, 1:][2]\n"
        "    o[8] = a[..., 2][1]\n    o[9] = a[:, None, 3][4, 0]\n    o[10] = a[-1][::-1][0]\n    o[11] = a[3][-2]\n"
    )
    a = np.arange(63).reshape(7, 9)
    v = a[2:, ::-2]
    w = v[1::2, 1:]
    u = w[None, ..., 0]
    want = [
        w[0, 0],
        w[-1, -1],
        u[0, 1],
        u.shape[0] * 10 + u.shape[1],
        a.T[3][5],
        7,
        w.shape[0] * 100 + w.shape[1],
    ]
    want += [a[1, 1:][2], a[..., 2][1], a[:, None, 3][4, 0], a[-1][::-1][0], a[3][-2]]
    for array in (a, np.asfortranarray(a), np.repeat(a, 2, 1)[:, ::2], a[::-1, ::-1][::-1, ::-1]):
        o = np.zeros(12, int)
        run(f, array, o)
        assert o.tolist() == want


@pytest.mark.parametrize("n", [1, 2, 5, 16, 17, 31, 1000, 70001])
def test_reversed_and_strided_elementwise(n):
    """What vector code makes of views: lanes that run backwards, with a step, from an offset."""

    def f(a, o, p, q):
        i = core.grid(1)
        if i < a.shape[0]:
            o[i] = a[::-1][i]
            p[::-1][i] = a[i] * 2
        if i < a[1::3].shape[0]:
            q[i] = a[1::3][i] + a[2:][i - 1]

    a = RNG.normal(size=n).astype(np.float32)
    o, p, q = np.zeros_like(a), np.zeros_like(a), np.zeros_like(a)
    if n == 2:  # a[2:] is empty there: an IndexError, tested elsewhere
        return
    part = a[1::3]
    core.kernel(f)[-(-n // 256), 256](a, o, p, q)
    np.testing.assert_array_equal(o, a[::-1])
    np.testing.assert_array_equal(p, 2 * a[::-1])
    tail = a[2:]
    np.testing.assert_array_equal(
        q[: len(part)], part + np.array([tail[i - 1] for i in range(len(part))], np.float32)
    )


def test_a_row_changes_in_a_loop():
    f = make(
        "def f(a, o):\n    row = a[0]\n    for i in range(a.shape[0]):\n        row = a[i]\n        o[i] = row[i]\n"
        "    o[-1] = row[0]\n    lo = 1\n    v = a[0, lo:]\n    lo = 3\n    o[0] = v[0]\n    for k in range(3):\n        v = v[1:]\n"
        "    o[1] = v[0]\n"
    )
    a = np.arange(30).reshape(5, 6)
    o = np.zeros(6, int)
    run(f, a, o)
    assert o.tolist() == [1, 4, 14, 21, 28, 24]


def test_views_passed_to_helpers():
    f = make(
        "def total(v, skip=0):\n    s = 0\n    for k in range(skip, len(v)):\n        s += v[k]\n    return s\n"
        "def put(v, x):\n    v[0] = x\n    v[-1] += x\n"
        "def first(v):\n    return total(v[1:]) - total(v[::-1], skip=2)\n"
        "def f(a, o):\n    i = cuda.grid(1)\n    if i < a.shape[0]:\n        o[i, 0] = total(a[i])\n        o[i, 1] = total(a[:, i])\n"
        "        o[i, 2] = total(a[i, 1:-1:2], skip=1)\n        o[i, 3] = first(a[i])\n        put(o[i, 4:], i + 1)\n"
    )
    a = RNG.integers(0, 100, (6, 6))
    o = np.zeros((6, 7), int)
    run(f, a, o, block=6)
    for i in range(6):
        want = [
            a[i].sum(),
            a[:, i].sum(),
            a[i, 1:-1:2][1:].sum(),
            a[i, 1:].sum() - a[i, ::-1][2:].sum(),
            i + 1,
            0,
            i + 1,
        ]
        assert o[i].tolist() == want


def test_views_of_shared_and_local_arrays():
    f = make(
        "def f(a, o):\n    s = cuda.shared.array((4, 8), np.int64)\n    t = cuda.local.array(5, np.int64)\n"
        "    x = cuda.threadIdx.x\n    row = s[x // 8]\n    row[x % 8] = a[x]\n    cuda.syncthreads()\n"
        "    t[:] = 0\n    t[1:4:2] = x\n    mine = s[::-1, ::-1][x // 8]\n    o[x] = mine[x % 8] + t[1] * 100 + t[::-1][1] * 10000 + t[0] + t[2]\n"
    )
    a, o = np.arange(32) + 1, np.zeros(32, int)
    run(f, a, o, block=32)
    assert o.tolist() == (a[::-1] + np.arange(32) * 10100).tolist()


def test_a_number_into_a_slice():
    f = make(
        "def f(a, b, x):\n    a[1:-1, ::2] = x\n    a[0] = 3\n    b[...] = 7\n    a[-1, :][1:] = x + 1\n".replace(
            "    a[0] = 3\n", "    a[0, :] = 3\n"
        ).replace("    a[-1, :][1:] = x + 1\n", "    last = a[-1]\n    last[1:] = x + 1\n")
    )
    a, b = np.zeros((5, 7)), np.zeros((2, 3, 2), np.int32)
    run(f, a, b, 2.5)
    want = np.zeros((5, 7))
    want[1:-1, ::2] = 2.5
    want[0, :] = 3
    want[-1][1:] = 3.5
    np.testing.assert_array_equal(a, want)
    assert (b == 7).all()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("v = a[2:5]\no[0] = v[3]", "index 3 is out of range for axis 0 of a view of a with length 3"),
        ("v = a[2:5]\no[0] = v[-4]", "index -4 is out of range for axis 0 of a view of a with length 3"),
        (
            "for k in range(6):\n    o[k] = a[::2][k]",
            "index 5 is out of range for axis 0 of a view of a with length 5",
        ),
        ("v = a[7:2]\no[0] = v[0]", "index 0 is out of range for axis 0 of a view of a with length 0"),
        ("v = a[:3]\nv[n] = 1", "index 4 is out of range for axis 0 of a view of a with length 3"),
        ("v = a[:, None]\no[0] = v[0, n]", "index 4 is out of range for axis 1 of a view of a with length 1"),
    ],
)
def test_an_index_outside_a_view(body, words):
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    f = make(f"def f(a, o, n):\n{lines}")
    a, o = np.arange(10), np.zeros(10, int)
    with pytest.raises(IndexError) as caught:
        run(f, a, o, 4)
    assert words in str(caught.value)
    assert a.tolist() == list(range(10))


def test_an_index_outside_a_view_names_its_thread():
    def f(a, o):
        i = core.grid(1)
        o[i] = a[5:][i]

    a, o = np.arange(100.0), np.zeros(100)
    with pytest.raises(
        IndexError, match=r"index (\d+) .* length 95.*thread \(\d+, 0, 0\) of block \(1, 0, 0\)"
    ):
        run(f, a, o, grid=2, block=64)


def test_a_row_outside_its_array():
    f = make("def f(a, o):\n    row = a[9]\n    o[0] = row[0]\n")
    with pytest.raises(
        IndexError, match=r"index 9 is out of range for axis 0 of a with shape \(3, 4\), at line 3"
    ):
        run(f, np.zeros((3, 4)), np.zeros(1))


def test_step_zero_is_a_value_error():
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        ir("def f(a):\n    a[0] = a[::0][0]\n", "int64[1]")


def test_slices_of_tuples():
    f = make(
        "def f(a, o):\n    t = (10, 20, 30, 40)\n    x, y = t[1:3]\n    o[0] = x + y\n    o[1] = t[::-1][0]\n    o[2] = len(t[5:])\n    o[3] = a.shape[1:][0]\n"
    )
    o = np.zeros(4, int)
    run(f, np.zeros((2, 5, 3)), o)
    assert o.tolist() == [50, 40, 0, 5]


def test_full_rows_keep_the_checks_of_their_array():
    """No new test at an element of a row: loops over it are hoisted as loops over the array."""
    text = ir(
        "def f(a, o):\n    i = cuda.grid(1)\n    row = a[i]\n    o[i] = row[3]\n", "float32[2], float32[1]"
    )
    assert "within" not in text
