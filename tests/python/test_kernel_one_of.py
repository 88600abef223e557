"""Names that hold one array or another: two buffers that swap roles in a loop, `a if test else b`, rows and slices of them.

Python itself, run on the same arrays, is the reference. A kernel's CUDA text is run too, on the host (host_gpu), where its
threads are the system's.
"""

import linecache
import textwrap

import numpy as np
import pytest
from xcuda import core as cuda
from xcuda.core.errors import KernelSyntaxError

HELPERS = "def look(x, i):\n    return x[i] * 3\ndef put(x, i, v):\n    x[i] = v\n    return x[i] * 2\n"

# Bodies of f(a, b, c, A, n, i, out): three arrays of 8, a matrix of two rows, a number of rounds, the thread, its results.
BODIES = {
    "two that swap": "s, d = a, b\nfor k in range(n):\n    d[i] = s[i] * 2 + k\n    s, d = d, s\nout[i] = s[i] - d[i]",
    "by a third name": "s = t = a\nd = b\nwhile n > 0:\n    d[i] = s[i] + 1\n    t = s\n    s = d\n    d = t\n    n -= 1\nout[i] = s[i] + t[i]",
    "three in turn": "p, q, r = a, b, c\nfor k in range(n):\n    r[i] = 2 * q[i] - p[i] + k\n    p, q, r = q, r, p\nout[i] = q[i] + r[i]",
    "in one branch": "s = a\nif i % 3 == n % 3:\n    s = b\nout[i] = s[i]\ns[i] = -1",
    "in both branches": "if i < n:\n    s = b\nelse:\n    s = c\ns[i] += 5\nout[i] = s[i]",
    "in a case": "match n:\n    case 1:\n        s = a\n    case 2:\n        s = b\n    case _:\n        s = c\nout[i] = s[i] * 10",
    "after break": "s = a\nfor k in range(4):\n    if k == n:\n        break\n    s = b if k % 2 else c\nelse:\n    s = a\nout[i] = s[i]",
    "after continue": "s, d = a, b\nfor k in range(n):\n    if (k + i) % 2:\n        continue\n    d[i] = s[i] + k\n    s, d = d, s\nout[i] = s[i]",
    "a choice": "s = a if i < n else b\nout[i] = s[i] + len(s)\ns[i] = 9",
    "a choice of three": "s = a if i < n else b if i % 2 else c\nout[i] = s[i]",
    "a choice that is indexed": "out[i] = (a if i < n else b)[i]",
    "a choice of swapped ones": "s, d = a, b\nfor k in range(n):\n    s, d = d, s\n    e = s if i % 2 else c\n    e[i] += k + 1\nout[i] = d[i]",
    "a choice of tuples": "s, m = (a, 1) if i < n else (b, 2)\nout[i] = s[i] * m",
    "rows that swap": "r, s = A[0], A[1]\nfor k in range(n):\n    s[i] = r[i] + k\n    r, s = s, r\nout[i] = r[i] - s[i]",
    "a choice of rows": "r = A[0] if i < n else A[1]\nout[i] = r[i]",
    "a choice of what is read": "r = A[int(b[0]) % 2] if i < n else A[int(c[1]) % 2]\nout[i] = r[i]",
    "a choice of columns": "r = A[:, i] if i < n else A[:, 0]\nout[i] = r[1] - r[0]",
    "slices that swap": "s, d = a[1:], b[2:]\nfor k in range(n):\n    if i < 5:\n        d[i] = s[i] + len(s)\n    s, d = d, s\nout[i] = s[-1] + len(d)",
    "a slice of one of them": "s, d = a, b\nfor k in range(n):\n    part = s[i : i + 1]\n    s, d = d, s\n    d[i] = part[0] + k\nout[i] = part[0] if n else 0",
    "backwards": "s = a[::-1] if i < n else b[::-1]\nout[i] = s[i]",
    "a helper": "s, d = a, b\nfor k in range(n):\n    out[i] += put(d, i, k) + look(s, i)\n    s, d = d, s",
    "a helper of two": "def add(x, y):\n    x[i] += y[i]\n    return x[i]\ns, d = a, b\nfor k in range(n):\n    out[i] += add(s, d)\n    s, d = d, s",
    "a helper of nothing": "def put_there(x):\n    x[i] = n\ns, d = a, b\nfor k in range(n):\n    put_there(d)\n    s, d = d, s\nout[i] = s[i]",
    "what a lambda reads": "s, d = a, b\nlast = lambda: s[i] + n\nfor k in range(n):\n    s, d = d, s\n    d[i] = last()\nout[i] = d[i]",
    "an element by element": "s, d = a, b\nfor k in range(n):\n    d[i : i + 1] = s[i : i + 1] * 2 + k\n    s, d = d, s\nout[i] = sum(s[i : i + 1]) + max(d[i : i + 1])",
    "a loop over one of them": "s, d = a, b\nfor k in range(n):\n    for x in s[i : i + 1]:\n        out[i] += x\n        s, d = d, s\n        d[i] = x + 1",
    "atomics": "s, d = a, b\nfor k in range(n):\n    cuda.atomic.add(d, i, s[i])\n    s, d = d, s\nout[i] = s[i]",
    "augmented": "s, d = a, b\nfor k in range(n):\n    d[i] += s[i]\n    s[i] *= 2\n    s, d = d, s\nout[i] = s[i]",
    "an index in it": "s, d = a, b\nfor k in range(n):\n    d[i] = s[int(s[i]) % 8] if False else s[i]\n    s, d = d, s\nout[i] = a[int(s[i]) % 8 * 0 + i]",
    "shapes": "s, d = a[:i], b\nfor k in range(n):\n    out[i] += s.shape[0] + len(d) * 100 + s.size\n    s, d = a[: i + k], b",
    "a walrus": "s = a\nout[i] = s[i] + (s := b)[i] + s[i]",
    "two names for one": "s = d = a\nif i < n:\n    s = b\nd[i] += 1\nout[i] = s[i] - d[i]",
    "a parameter that is assigned": "for k in range(n):\n    b[i] = a[i] + k\n    a, b = b, a\nout[i] = a[i]",
    "its own array": "t = cuda.local.array(2, np.float64)\nu = cuda.local.array(2, np.float64)\nt[0] = i\nu[0] = 50\nfor k in range(n):\n    u[0] = t[0] * 2\n    t, u = u, t\nout[i] = t[0]",
    "an argument and its own": "t = cuda.local.array(8, np.float64)\nt[i] = 3\ns = t if i < n else a\nout[i] = s[i]",
}


class Cuda:
    """What the bodies name of xcuda.core, for one thread at a time."""

    class local:
        @staticmethod
        def array(n, dtype):
            return np.zeros(n, dtype)

    class atomic:
        @staticmethod
        def add(x, i, v):
            x[i] += v


def make(body):
    return HELPERS + "def f(a, b, c, A, n, out):\n    i = cuda.threadIdx.x\n" + textwrap.indent(body, "    ")


def compiled(body):
    text = make(body)
    file = f"<one of {abs(hash(text))}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = {"np": np, "cuda": cuda}
    exec(compile(text, file, "exec"), space)
    return cuda.kernel(space["f"])


def arrays():
    a, b, c = np.arange(8.0) + 1, np.arange(8.0) * 10, np.arange(8.0) - 100
    return [a, b, c, np.stack([a * 1000, b * 1000]), np.zeros(8)]


def by_python(body, n):
    text = make(body).replace("cuda.threadIdx.x", "cuda.thread")
    space = {"np": np, "cuda": Cuda()}
    exec(text, space)
    a, b, c, matrix, out = given = arrays()
    for i in range(8):
        space["cuda"].thread = i
        space["f"](a, b, c, matrix, n, out)
    return given


@pytest.mark.parametrize("body", BODIES)
def test_it_is_the_array_that_python_means(body):
    kernel = compiled(BODIES[body])
    for n in range(5):
        a, b, c, matrix, out = got = arrays()
        kernel[1, 8](a, b, c, matrix, n, out)
        for name, one, wanted in zip("abcAo", got, by_python(BODIES[body], n), strict=True):
            np.testing.assert_array_equal(one, wanted, f"{name} after {n} rounds")


@pytest.mark.parametrize("body", list(BODIES)[::3])
def test_the_cuda_text_does_the_same(body):
    import host_cuda
    from fake_cuda import need_nvrtc

    need_nvrtc()
    host_cuda.need_compiler()
    kernel = compiled(BODIES[body])
    a, b, c, matrix, out = got = arrays()
    assert not host_cuda.launch(kernel, 1, 8, a, b, c, matrix, 3, out)
    for name, one, wanted in zip("abcAo", got, by_python(BODIES[body], 3), strict=True):
        np.testing.assert_array_equal(one, wanted, name)


def test_two_in_shared_memory_with_barriers():
    @cuda.kernel
    def smooth(x, n):
        i = cuda.threadIdx.x
        now = cuda.shared.array(8, np.float32)
        then = cuda.shared.array(8, np.float32)
        now[i] = x[i]
        cuda.syncthreads()
        for _ in range(n):
            then[i] = now[i - 1] + now[(i + 1) % 8]
            cuda.syncthreads()
            now, then = then, now
        x[i] = now[i]

    for n in range(4):
        x = np.arange(8, dtype=np.float32)
        smooth[1, 8](x, n)
        wanted = np.arange(8, dtype=np.float32)
        for _ in range(n):
            wanted = np.roll(wanted, 1) + np.roll(wanted, -1)
        np.testing.assert_array_equal(x, wanted)
    with cuda.checking() as report:
        smooth[1, 8](np.arange(8, dtype=np.float32), 3)
    assert not report.findings


def test_a_race_between_them_is_found_at_the_array_meant():
    @cuda.kernel
    def torn(x, y, n):
        i = cuda.threadIdx.x
        now, then = x, y
        for _ in range(n):
            then[i] = now[(i + 1) % 8]
            now, then = then, now

    with cuda.checking() as report:
        torn[1, 8](np.zeros(8), np.ones(8), 3)
    assert {f.rule for f in report.findings} >= {"race"}


@pytest.mark.parametrize(("n", "name", "length"), [(0, "a", 8), (1, "b", 9), (2, "a", 8)])
def test_a_fault_names_the_array_meant(n, name, length):
    @cuda.kernel
    def far(a, b, n):
        i = cuda.threadIdx.x
        src, dst = a, b
        for _ in range(n):
            src, dst = dst, src
        src[i + 5] = 1

    a, b = np.zeros(8), np.zeros(9)
    with pytest.raises(IndexError, match=rf"axis 0 of {name} with shape \({length},\)"):
        far[1, 8](a, b, n)


def test_a_fault_in_a_helper_names_the_array_meant():
    @cuda.kernel
    def far(a, b, n):
        def look(x):
            return x[8]

        s = a if n else b
        s[0] = look(s)

    with pytest.raises(IndexError, match=r"of x with shape \(8,\)"):
        far[1, 1](np.zeros(8), np.zeros(9), 1)
    far[1, 1](np.zeros(8), np.zeros(9), 0)


def test_layouts_may_differ_and_what_is_written_comes_back():
    @cuda.kernel
    def turn(a, b, n):
        i = cuda.threadIdx.x
        src, dst = a, b
        for _ in range(n):
            dst[i] = src[i] + 1
            src, dst = dst, src

    for n in range(3):
        a, b = np.arange(16.0)[::2], np.zeros(8)
        turn[1, 8](a, b, n)
        assert a.tolist() == [x + 2 * (n // 2) for x in range(0, 16, 2)]
        assert b.tolist() == ([x + 1 for x in range(0, 16, 2)] if n else [0] * 8)


def test_records_and_their_fields():
    dtype = np.dtype([("x", "f8"), ("y", "i4")], align=True)

    @cuda.kernel
    def pick(r, n, out):
        e = r[0] if n > 0 else r[1]
        out[0] = e.x
        e.y = 5
        f = r.x if n > 0 else out
        out[1] = f[0]

    for n in (-1, 1):
        r, out = np.array([(1.0, 2), (3.0, 4)], dtype), np.zeros(2)
        pick[1, 1](r, n, out)
        assert out.tolist() == ([1, 1] if n > 0 else [3, 3])
        assert r["y"].tolist() == ([5, 4] if n > 0 else [2, 5])


def refusal(kernel, *arguments):
    with pytest.raises(KernelSyntaxError) as e:
        kernel[1, 1](*arguments)
    return str(e.value)


def test_an_array_made_anew_in_each_round_is_refused():
    """It has one place in memory: the round before would be overwritten."""

    @cuda.kernel
    def rounds(a, n):
        now = cuda.local.array(2, np.float64)
        now[0] = 1
        for _ in range(n):
            then = cuda.local.array(2, np.float64)
            then[0] = now[0] + 1
            now = then
        a[0] = now[0]

    assert "make" in refusal(rounds, np.zeros(2), 3)


def test_what_is_of_another_dtype_or_rank_is_refused():
    @cuda.kernel
    def other(a, b, n):
        s = a
        for _ in range(n):
            s = b
        s[0] = 1

    assert "another thing after a round" in refusal(other, np.zeros(2), np.zeros(2, np.float32), 3)


def test_one_that_may_not_be_written_is_refused():
    @cuda.kernel
    def put(a, b, n):
        s = a if n else b
        s[0] = 1

    b = np.zeros(3)
    b.flags.writeable = False
    with pytest.raises(ValueError, match="'b' is read-only"):
        put[1, 1](np.zeros(3), b, 1)
