"""Arrays of records in kernels: aligned and packed, nested, array fields; NumPy is the reference."""

import asyncio

import numpy as np
import pytest
from frontend_source import compiles, make, run
from hypothesis import given, settings
from hypothesis import strategies as st
from xcuda import core
from xcuda.core.errors import KernelSyntaxError

RNG = np.random.default_rng(11)
FIELDS = [
    ("b", "i1"),
    ("x", "f4"),
    ("v", "i2", (3,)),
    ("y", "f8"),
    ("p", [("q", "u1"), ("m", "f4", (2, 2))]),
    ("n", "i8"),
]
PACKED = np.dtype(FIELDS)
ALIGNED = np.dtype(
    [*FIELDS[:4], ("p", np.dtype([("q", "u1"), ("m", "f4", (2, 2))], align=True)), FIELDS[5]], align=True
)
SPREAD = np.dtype({"names": ["x", "n"], "formats": ["f4", "i8"], "offsets": [3, 17], "itemsize": 29})
BOTH = pytest.mark.parametrize("dtype", [PACKED, ALIGNED], ids=["packed", "aligned"])


def filled(dtype, shape):
    """Records of small numbers, every field another."""
    a = np.zeros(shape, dtype)

    def fill(part):
        for name in part.dtype.names:
            field = part[name]
            if field.dtype.names:
                fill(field)
            else:
                field[...] = RNG.integers(0, 100, field.shape)

    fill(a)
    return a


def change(a, o):
    i = core.grid(1)
    if i < a.shape[0]:
        r = a[i]
        o[i] = r.x + a[i]["y"] + a["n"][i] + r.v[2] + r.v[-1] + r.p.q + r["p"]["m"][1, 0]
        r.x += 1
        a[i].y = r.x * 2
        a[i]["n"] -= 3
        r.v[1] = 7
        r.p.m[0, 1] *= 2
        a["b"][i] = -5
        a[i].p.q = 200


def changed(a):
    o = a["x"].astype(float) + a["y"] + a["n"] + 2.0 * a["v"][:, 2] + a["p"]["q"] + a["p"]["m"][:, 1, 0]
    a["x"] += 1
    a["y"] = a["x"] * 2
    a["n"] -= 3
    a["v"][:, 1] = 7
    a["p"]["m"][:, 0, 1] *= 2
    a["b"] = -5
    a["p"]["q"] = 200
    return o


@BOTH
@pytest.mark.parametrize("n", [0, 1, 37, 1000])
def test_fields_are_read_and_written(dtype, n):
    a = filled(dtype, n)
    want = a.copy()
    o, expected = np.zeros(n), changed(want)
    core.kernel(change)[-(-n // 128), 128](a, o)
    np.testing.assert_array_equal(o, expected)
    np.testing.assert_array_equal(a, want)


@BOTH
def test_records_on_the_device(dtype):
    a = filled(dtype, 300)
    want = a.copy()
    changed(want)
    d, o = core.to_device(a), core.zeros(300)
    core.kernel(change)[3, 128](d, o)
    np.testing.assert_array_equal(d.copy_to_host(), want)
    assert d.dtype == dtype and d.shape == (300,) and d.strides == a.strides and d.nbytes == a.nbytes
    np.testing.assert_array_equal(d["x"].copy_to_host(), want["x"])
    np.testing.assert_array_equal(d["p"]["m"].copy_to_host(), want["p"]["m"])
    np.testing.assert_array_equal(d[7:90:3].copy_to_host(), want[7:90:3])
    assert d[5] == want[5]
    d[3:5] = a[:2]
    np.testing.assert_array_equal(d.copy_to_host()[3:5], a[:2])
    e = core.device_array(300, dtype)
    e.copy_to_device(d)
    np.testing.assert_array_equal(e[::2].copy().copy_to_host(), d.copy_to_host()[::2])
    z = core.zeros((2, 3), dtype)
    np.testing.assert_array_equal(z.copy_to_host(), np.zeros((2, 3), dtype))


@BOTH
def test_cuda_text(dtype):
    compiles(core.kernel(change), (filled(dtype, 4), np.zeros(4)))


def test_offsets_as_given():
    def f(a):
        i = core.grid(1)
        if i < a.shape[0]:
            a[i].x += i
            a[i].n = a[i].n * 10 + 1

    memory = RNG.integers(0, 255, 29 * 50 + 1, np.uint8)
    want = memory.copy()
    for m in (memory, want):
        np.ndarray(50, SPREAD, m, 1)["x"] = np.arange(50)
        np.ndarray(50, SPREAD, m, 1)["n"] = np.arange(50)
    a, b = np.ndarray(50, SPREAD, memory, 1), np.ndarray(50, SPREAD, want, 1)
    core.kernel(f)[1, 64](a)
    b["x"] += np.arange(50, dtype=np.float32)
    b["n"] = b["n"] * 10 + 1
    np.testing.assert_array_equal(memory, want)  # nothing between the fields has changed
    compiles(core.kernel(f), (a,))


@BOTH
def test_whole_records(dtype):
    text = """
    def f(a, b):
        i = cuda.grid(1)
        if i < a.shape[0]:
            a[i] = b[a.shape[0] - 1 - i]
    def g(a, b):
        r = a[0]
        s = b[1]
        s.x = 5
        a[0] = s
        b[1].x = 6
        a[1] = r
        a[2].p = b[3].p
        a[2].v = a[3].v
        a[4]["v"] = 9
    """
    a, b = filled(dtype, 50), filled(dtype, 50)
    core.kernel(make(text, "f"))[1, 64](a, b)
    np.testing.assert_array_equal(a, b[::-1])
    c, d = a.copy(), b.copy()
    run(make(text, "g"), a, b)
    make(text, "g")(c.view(np.recarray), d.view(np.recarray))
    np.testing.assert_array_equal(a, c)
    np.testing.assert_array_equal(b, d)


def test_tuples_and_numbers_into_records():
    dtype = np.dtype([("x", "f4"), ("y", "i8"), ("z", "u1")])
    f = make(
        "def f(a):\n    a[0] = (1.5, 2, 3)\n    a[1] = (a[0].y, a[0].x, a[0].z)\n    a[2] = 7\n"
        "    a[3:5] = a[0:2]\n    a[5] = (a[5].y, a[5].x, 0)\n"
    )
    a = filled(dtype, 6)
    b = a.copy()
    run(f, a)
    b[0] = (1.5, 2, 3)
    b[1] = (b[0]["y"], b[0]["x"], b[0]["z"])
    b[2] = 7
    b[3:5] = b[0:2]
    b[5] = (b[5]["y"], b[5]["x"], 0)
    np.testing.assert_array_equal(a, b)


@BOTH
def test_one_record_as_an_argument(dtype):
    text = """
    def f(r, o):
        o[0] = r.x * 100 + r["y"] + r.v[1] + r.p.m[1, 1] + len(r)
        r.x = 5
        r.v[0] = 6
        o[1] = r[1]
        o[2] = r[-1]
    """
    a = filled(dtype, 3)
    want, o = a.copy(), np.zeros(3)
    run(make(text), a[1], o)
    r = want[1]
    assert o[0] == r["x"] * 100 + r["y"] + r["v"][1] + r["p"]["m"][1, 1] + 6
    r["x"], r["v"][0] = 5, 6
    assert o[1:].tolist() == [5, r["n"]]
    np.testing.assert_array_equal(a, want)  # as numba does, a record is written back
    run(make(text), want.view(np.recarray)[1], o)
    run(make("def f(a, r):\n    a[2] = r\n    a[0].p = r.p\n"), a, want[1])
    assert a[2] == want[1] and a[0]["p"] == want[1]["p"]


@BOTH
def test_views_iteration_and_helpers(dtype):
    text = """
    def norm(r):
        return r.x * r.x + r.v[0]
    def pick(a, i):
        return a[i]
    def total(a):
        s = 0.0
        for r in a:
            s += norm(r)
        return s
    def f(a, o):
        o[0] = total(a)
        o[1] = total(a[1::2])
        o[2] = pick(a, 3).y
        pick(a, 4).y = 11
        for k, r in enumerate(a[::-1]):
            if k == 2:
                o[3] = r.n
        o[4] = len(a) * 1000 + a.size * 100 + a.ndim * 10 + a.T.shape[0]
        o[5] = a.itemsize + a.strides[0] * 1000
        o[6] = a["v"].shape[1] + a["v"].strides[0] * 10
        b = a[2:]
        o[7] = b[-1].p.m[0, 0] + b["p"]["m"][0, 1, 1]
        r = a[0]
        for i in range(len(a)):
            r = a[i]
        o[8] = r.x
    """
    a = filled(dtype, 8)
    o, want = np.zeros(9), a.copy()
    run(make(text, "f"), a, o)
    x, v, y, n, m = want["x"].astype(float), want["v"], want["y"], want["n"], want["p"]["m"]
    norms = x * x + v[:, 0]
    size = dtype.itemsize
    expected = [norms.sum(), norms[1::2].sum(), y[3], n[-3], 8000 + 800 + 10 + 8, size * 1001, 3 + size * 10]
    expected += [m[-1, 0, 0] + m[2, 1, 1], x[-1]]
    np.testing.assert_allclose(o, expected)
    want["y"][4] = 11
    np.testing.assert_array_equal(a, want)


def test_two_axes_and_record_arrays_in_fields():
    dtype = np.dtype([("k", "i4"), ("p", [("x", "f4"), ("y", "f8")], (3,))])
    f = make(
        "def f(a, o):\n    for i in range(a.shape[0]):\n        for j in range(a.shape[1]):\n"
        "            r = a[i, j]\n            for q in r.p:\n                o[i, j] += q.x + q.y\n"
        "            r.p[1].x = r.k\n            a[i][j].p[-1].y = -1\n    o[0, 0] += a['p'].ndim * 1000\n"
    )
    a = filled(dtype, (4, 5))
    for array in (a, np.asfortranarray(a), a[::-1, ::2], a.T):
        got, want, o = array.copy(order="K"), array.copy(order="K"), np.zeros(array.shape)
        run(f, got, o)
        total = (want["p"]["x"].astype(float) + want["p"]["y"]).sum(-1)
        total[0, 0] += 3000
        np.testing.assert_allclose(o, total)
        want["p"]["x"][..., 1] = want["k"]
        want["p"]["y"][..., 2] = -1
        np.testing.assert_array_equal(got, want)


@BOTH
def test_local_and_shared_records(dtype):
    def f(a, o):
        t = core.threadIdx.x
        mine = core.local.array(2, dtype)
        block = core.shared.array((64,), a.dtype)
        mine[0] = a[t]
        mine[1].x = 3
        mine[0].p.m[1, 1] += mine[1].x
        block[t] = mine[0]
        core.syncthreads()
        r = block[63 - t]
        o[t] = r.x + r.p.m[1, 1] + r.v[2] + block.itemsize

    a, o = filled(dtype, 64), np.zeros(64)
    run(f, a, o, block=64)
    want = a["x"].astype(float) + a["p"]["m"][:, 1, 1] + 3 + a["v"][:, 2]
    np.testing.assert_array_equal(o, want[::-1] + dtype.itemsize)


def test_atomics_on_fields():
    def f(a, k):
        i = core.grid(1)
        if i < k.shape[0]:
            core.atomic.add(a["n"], k[i], 1)
            core.atomic.max(a[k[i]].w, 1, i)

    dtype = np.dtype([("b", "i1"), ("n", "i8"), ("w", "i4", (2,))], align=True)
    a, k = np.zeros(5, dtype), RNG.integers(0, 5, 1000)
    core.kernel(f)[4, 256](a, k)
    assert a["n"].tolist() == np.bincount(k, minlength=5).tolist()
    assert a["w"][:, 1].tolist() == [np.flatnonzero(k == j)[-1] for j in range(5)]
    packed = np.zeros(5, [("b", "i1"), ("n", "i8"), ("w", "i4", (2,))])
    with pytest.raises(KernelSyntaxError, match="needs aligned elements, and those of 'a.n' are not"):
        core.kernel(f)[4, 256](packed, k)


def test_closures_over_structured_dtypes_and_records():
    table = filled(ALIGNED, 5)
    dtype = np.dtype([("x", "f4"), ("y", "i2", (2,))])

    def f(o):
        t = core.local.array(1, dtype)
        t[0].y[1] = 4
        o[0] = table[2].x + table["v"][1, 2] + table[3].p.m[0, 1] + t[0].y[1]

    o = np.zeros(1)
    k = core.kernel(f)
    for _ in range(2):
        k[1, 1](o)
        assert o[0] == table["x"][2] + table["v"][1, 2] + table["p"]["m"][3, 0, 1] + 4
        table["x"][2] += 1  # in place: never a stale value


def test_big_endian_fields_of_the_host():
    dtype = np.dtype([("x", ">f4"), ("n", ">i8"), ("m", "<i4")])

    def f(a):
        i = core.grid(1)
        if i < a.shape[0]:
            a[i].x = a[i].n + a[i].m

    a = filled(dtype, 20)
    core.kernel(f)[1, 32](a)
    np.testing.assert_array_equal(a["x"], (a["n"] + a["m"]).astype(np.float32))
    with pytest.raises(TypeError, match="another byte order"):
        core.kernel(f)[1, 32](core.to_device(a))


def test_other_fields_are_left_alone():
    dtype = np.dtype([("name", "S5"), ("x", "f4"), ("when", "M8[s]")])
    a = np.zeros(4, dtype)
    a["name"] = b"abc"

    def f(a):
        a[core.grid(1)].x = 3

    run(f, a, block=4)
    assert a["x"].tolist() == [3] * 4 and a["name"].tolist() == [b"abc"] * 4
    for body, words in [
        ("a[0].x = a[0].when", "datetime64.s. can't become float32"),
        ("a[0] = a[1]", "the field 'name' is of .S5"),
        ("a[0].y = 1", "has no field 'y'"),
        ("a[0].names = 1", "did you mean 'name'"),
        ("o = a[0] + 1", "expected a number, found a record"),
        ("a[0, 0].x = 1", "has 1 dimension, found 2 indices"),
        ("a[0] = (1, 2)", "a record of 3 fields is assigned 2 values"),
        ("a[0] += 1", "a record can't be changed as a whole"),
        ("a.x.y = 1", "attributes can't be assigned"),
    ]:
        with pytest.raises(KernelSyntaxError, match=words):
            run(make(f"def f(a):\n    {body}\n"), a)


def test_faults_name_the_field_and_the_line():
    f = make("def f(a, i):\n    a[0].x = 1\n    a[i].x = 2\n")
    a = filled(PACKED, 3)
    with pytest.raises(IndexError, match=r"(?s)index 3 .*a\.x.*"):
        run(f, a, 3)
    a.flags.writeable = False
    with pytest.raises(ValueError, match=r"'a\.x' is read-only"):
        run(f, a, 0)


def test_the_same_memory_twice():
    def f(a, x):
        for i in range(1, a.shape[0]):
            x[i] += a[i - 1].x

    for dtype in (PACKED, ALIGNED):
        a = filled(dtype, 10)
        want = np.cumsum(a["x"])
        run(f, a, a["x"])
        np.testing.assert_array_equal(a["x"], want)


def test_awaiting_gives_the_records():
    def f(a):
        i = core.grid(1)
        if i < a.shape[0]:
            a[i].x = i
            a[i].y = i

    a = core.to_device(filled(ALIGNED, 10))

    async def go():
        return await core.kernel(f)[1, 16].async_call(a)

    assert asyncio.run(go()) is a


SCALARS = ["i1", "u1", "i2", "u4", "i8", "f4", "f8", "f2", "?"]
field_types = st.recursive(
    st.sampled_from(SCALARS),
    lambda inner: st.lists(inner, min_size=1, max_size=3).map(lambda kinds: ("record", kinds)),
    max_leaves=4,
)


def dtype_of(kinds, aligned):
    fields = []
    for i, kind in enumerate(kinds):
        fields.append((f"f{i}", dtype_of(kind[1], aligned) if isinstance(kind, tuple) else kind))
    return np.dtype(fields, align=aligned)


def paths(dtype, head=""):
    for name in dtype.names:
        inner = dtype.fields[name][0]
        yield from paths(inner, f"{head}.{name}") if inner.names else [f"{head}.{name}"]


@settings(max_examples=12, deadline=None)
@given(st.lists(field_types, min_size=1, max_size=4), st.booleans(), st.integers(1, 9), st.data())
def test_random_records(kinds, aligned, n, data):
    dtype = dtype_of(kinds, aligned)
    step = data.draw(st.sampled_from([1, -1, 2]))
    a, b = filled(dtype, n * 2)[::step], filled(dtype, n * 2)[::step]
    body = "".join(f"            a[i]{p} = b[n - 1 - i]{p}\n" for p in paths(dtype))
    f = make(
        "def f(a, b):\n    i = cuda.grid(1)\n    n = a.shape[0]\n    if i < n:\n        if i % 2:\n"
        f"{body}        else:\n            a[i] = b[i]\n"
    )
    want = a.copy()
    want[::2] = b[::2]
    want[1::2] = b[::-1][1::2]
    core.kernel(f)[1, 32](a, b)
    np.testing.assert_array_equal(a, want)
