"""Global arrays in kernels and cuda.const.array_like; strings and dtypes that choose code while compiling."""

import numpy as np
import pytest
from frontend_source import compiles, make, run
from xcuda import core
from xcuda.core.errors import KernelSyntaxError

RNG = np.random.default_rng(2)
DTYPES = ["bool", "int8", "uint16", "int32", "uint64", "float16", "float32", "float64"]
TABLE = np.arange(7) * 1.5


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (1,), (40,), (3, 5), (2, 0)])
def test_global_arrays(dtype, shape):
    table = RNG.integers(-2 if dtype != "uint64" else 0, 90, shape).astype(dtype)
    text = {
        0: "o[0] = C[...]",
        1: "for i in range(C.shape[0]):\n        o[i] = C[i]",
        2: "for i in range(C.shape[0]):\n        for j in range(C.shape[1]):\n            o[i * C.shape[1] + j] = C[i, j]",
    }[len(shape)]
    f = make(f"def f(o):\n    {text}\n", C=table)
    o = np.zeros(max(table.size, 1), dtype)
    run(f, o)
    assert o.ravel()[: table.size].tolist() == table.ravel().tolist()


def test_layouts_and_array_like():
    base = RNG.normal(size=(6, 8))

    def f(o):
        i = core.grid(1)
        c = core.const.array_like(part)
        if i < o.shape[0]:
            row = c[i]
            o[i] = row[0] + c[-1, -1] + part[i][1] + len(c) + base.T[3, i]

    for part in (base, base.T, base[::-1, ::2], np.asfortranarray(base), base.astype(">f8")):
        o = np.zeros(6)
        core.kernel(f)[1, 32](o)
        c = part[:6]
        np.testing.assert_array_equal(o, c[:, 0] + part[-1, -1] + c[:, 1] + len(part) + base[:, 3])


def test_a_change_is_never_missed():
    """numba freezes such arrays; here a call always sees what they hold."""
    table = np.arange(5)

    def f(o):
        i = core.grid(1)
        if i < 5:
            o[i] = table[i]

    k, o = core.kernel(f), np.zeros(5, int)
    k[1, 8](o)
    k[1, 8](o)
    assert len(k.specialisations) == 1
    table[2] = 100
    k[1, 8](o)
    assert o.tolist() == [0, 1, 100, 3, 4]
    table = np.arange(5) * 2
    k[1, 8](o)
    assert o.tolist() == [0, 2, 4, 6, 8]


def test_helpers_closures_and_slices():
    text = """
    def weight(i):
        return T[i % 7]
    def total(v):
        s = 0.0
        for x in v:
            s += x
        return s
    def f(o):
        i = cuda.grid(1)
        if i < o.shape[0]:
            def inner(k):
                return T[k] + 1
            o[i] = weight(i) + total(T[2:]) + inner(3) + sum(T) + T[::-1][0]
    """
    o = np.zeros(1000)
    core.kernel(make(text, "f", T=TABLE))[4, 256](o)
    want = TABLE[np.arange(1000) % 7] + TABLE[2:].sum() + TABLE[3] + 1 + TABLE.sum() + TABLE[-1]
    np.testing.assert_array_equal(o, want)


def test_with_barriers_and_boxes():
    def f(a, o):
        i, j = core.grid(2)
        if i < o.shape[0] and j < o.shape[1]:
            s = 0.0
            for k in range(TABLE.shape[0]):
                s += TABLE[k] * a[i, j + k]
            o[i, j] = s

    def g(o):
        s = core.shared.array(64, np.float64)
        t = core.threadIdx.x
        s[t] = TABLE[t % 7]
        core.syncthreads()
        o[t] = s[63 - t] + TABLE[3]

    a, o, p = RNG.normal(size=(20, 66)), np.zeros((20, 60)), np.zeros(64)
    core.kernel(f)[(3, 8), (8, 8)](a, o)
    want = sum(TABLE[k] * a[:, k : k + 60] for k in range(7))
    np.testing.assert_allclose(o, want, rtol=1e-12)
    run(g, p, block=64)
    np.testing.assert_array_equal(p, (TABLE[np.arange(64) % 7])[::-1] + TABLE[3])
    for function, args in ((f, (a, o)), (g, (p,))):
        compiles(core.kernel(function), args)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("C[0] = 1", "'C' is read-only"),
        ("o[0] = L[0]", "'L' is a list of 2 items, made outside the kernel"),
        ("o[0] = D[0, 0]", "'D' is a float64 array of shape .300, 300., made outside the kernel"),
        ("o[0] = E[0] + C[0] + F[0]", "would make .* bytes of constant arrays, a kernel holds 65536"),
        ("x = cuda.const.array_like(o)\n    o[0] = x[0]", "takes a global NumPy array, found an array"),
        ("cuda.atomic.add(C, 0, 1)", "'C' is read-only"),
    ],
)
def test_refusals(body, words):
    space = {
        "C": np.arange(4.0),
        "L": [1, 2],
        "D": np.ones((300, 300)),
        "E": np.ones(5000),
        "F": np.ones(4000),
    }
    with pytest.raises(KernelSyntaxError, match=words):
        run(make(f"def f(o):\n    {body}\n", **space), np.zeros(3))


def test_an_index_beyond_a_global_array():
    with pytest.raises(IndexError, match=r"(?s)index 9 .*C"):
        run(make("def f(o, i):\n    o[0] = C[i]\n", C=np.arange(4)), np.zeros(1), 9)


def test_strings_choose_code():
    text = """
    def combine(x, y, mode):
        if mode == "sum":
            return x + y
        elif mode == "max":
            return max(x, y)
        return x * y
    def f(a, o, mode, dtype):
        i = cuda.grid(1)
        if i < a.shape[0]:
            o[i] = combine(a[i], dtype(2.7), mode)
            if mode != "sum" and dtype is not np.float32:
                o[i] += 1
            match mode:
                case "sum":
                    o[i] += 10
                case _:
                    o[i] += 20
            if mode in ("max", "min"):
                o[i] += 100
    """
    k = core.kernel(make(text, "f"))
    a = np.arange(5.0)
    for mode, op in (("sum", np.add), ("max", np.maximum), ("mul", np.multiply)):
        for dtype in (np.int32, np.float32):
            o = np.zeros(5)
            k[1, 8](a, o, mode, dtype)
            want = op(a, dtype(2.7)) + (mode != "sum" and dtype is not np.float32)
            want += 10 if mode == "sum" else 20
            np.testing.assert_allclose(o, want + 100 * (mode == "max"))


def test_dtypes_reach_arrays_through_helpers():
    text = """
    def reversed_sum(a, dtype):
        t = cuda.local.array(4, dtype=dtype)
        for k in range(4):
            t[k] = a[k]
        s = dtype(0)
        for k in range(4):
            s += t[3 - k]
        return s
    def f(a, o, dtype):
        t = cuda.shared.array(shape=(4,), dtype=dtype)
        u = cuda.local.array(2, a.dtype)
        u[0] = a[1]
        i = cuda.threadIdx.x
        t[i] = a[i]
        cuda.syncthreads()
        o[i] = t[3 - i] + u[0] + t.itemsize
        if i == 0:
            o[4] = reversed_sum(a, dtype)
    """
    a = np.array([1.5, 2.5, -3.5, 100.25])
    for dtype in (np.int32, np.float32, np.dtype("int64"), "float64"):
        function = make(text.replace("dtype(0)", "a[0] - a[0]") if not isinstance(dtype, type) else text, "f")
        o = np.zeros(5)
        core.kernel(function)[1, 4](a, o, dtype)
        t = a.astype(dtype).astype(float)
        np.testing.assert_array_equal(o[:4], t[::-1] + 2.5 + np.dtype(dtype).itemsize)
        assert o[4] == t.sum()
