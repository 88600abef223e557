"""np.finfo, np.iinfo and the attributes of dtypes in kernels: what NumPy gives, known while compiling."""

import numpy as np
import pytest
from frontend_source import compiles, ir, make, run
from xcuda import core

FLOATS = ["eps", "epsneg", "max", "min", "tiny", "smallest_normal", "smallest_subnormal", "resolution"]
INTS = ["bits", "nmant", "precision"]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_finfo(dtype):
    lines = [f"    o[{i}] = np.finfo(a.dtype).{name}\n" for i, name in enumerate(FLOATS + INTS)]
    f = make("def f(a, o):\n" + "".join(lines))
    o = np.zeros(len(lines))
    run(f, np.zeros(1, dtype), o)
    assert o.tolist() == [float(getattr(np.finfo(dtype), name)) for name in FLOATS + INTS]
    assert f"var t: {dtype}" in ir("def f(a):\n    t = np.finfo(a.dtype).max\n    a[0] = t\n", f"{dtype}[1]")
    compiles(core.kernel(f), (np.zeros(1, dtype), o), (1, 1, 1))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_iinfo(dtype):
    f = make(
        "def f(a, o):\n    i = np.iinfo(a.dtype)\n    o[0] = i.max\n    o[1] = i.min\n    a[0] = np.iinfo(np.uint8).bits\n"
    )
    a, o = np.zeros(1, dtype), np.zeros(2, dtype)
    run(f, a, o)
    assert o.tolist() == [np.iinfo(dtype).max, np.iinfo(dtype).min]
    assert a[0] == 8


def test_limits_of_what_has_a_dtype():
    text = "def f(o):\n    o[0] = np.finfo(float).eps\n    o[1] = np.finfo(np.complex64).max\n    o[2] = np.iinfo(int).max\n"
    text += "    o[3] = np.finfo('float32').tiny\n    o[4] = np.iinfo(np.int16(3)).max\n    o[5] = limit.max\n    o[6] = small.min\n"
    o = np.zeros(7)
    run(make(text, limit=np.finfo(np.float32), small=np.iinfo(np.int8)), o)
    f4 = np.finfo(np.float32)
    assert o.tolist() == [np.finfo(float).eps, f4.max, float(2**63 - 1), f4.tiny, 32767, f4.max, -128]


def test_a_search_starts_at_the_limit():
    def least(a, o):
        i = core.grid(1)
        best = np.finfo(np.float32).max
        for x in a[i]:
            best = min(best, x)
        o[i] = best

    a = np.random.default_rng(1).normal(size=(4, 9)).astype(np.float32)
    o = np.zeros(4, np.float32)
    run(least, a, o, block=4)
    np.testing.assert_array_equal(o, a.min(axis=1))


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint16", "float16", "float32", "complex64", "M8[s]", "m8[ms]"]
)
def test_attributes_of_a_dtype(dtype):
    text = "def f(a, o):\n    t = cuda.local.array(1, a.dtype)\n    t[0] = a[0]\n    o[0] = a.dtype.kind == letter\n"
    text += "    o[1] = a.dtype.name == word\n    o[2] = a.dtype.itemsize\n"
    d, o = np.dtype(dtype), np.zeros(3)
    run(make(text, letter=d.kind, word=d.name), np.zeros(1, d), o)
    assert o.tolist() == [1, 1, d.itemsize]


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float16", "float32"])
def test_the_type_of_a_dtype_makes_numbers(dtype):
    f = make(
        "def f(a, o):\n    t = a.dtype.type(0)\n    for k in range(3):\n        t += a[0]\n    o[0] = t\n"
    )
    a, o = np.array([100], dtype), np.zeros(1, dtype)
    run(f, a, o)
    assert o[0] == np.add.reduce([a[0]] * 3, dtype=dtype)


def test_what_has_no_limits_is_refused():
    for body, words in [
        ("np.finfo(np.int32).max", r"finfo\(\) is of floating point numbers, found int32; write np.iinfo"),
        ("np.iinfo(np.float32).max", r"iinfo\(\) is of integers, found float32; write np.finfo"),
        ("np.iinfo(bool).max", r"iinfo\(\) is of integers, found bool"),
        ("np.finfo(o).max", "expected a dtype, found an array"),
        ("np.finfo(np.float32).most", "finfo has no 'most'"),
    ]:
        with pytest.raises(SyntaxError, match=words):
            ir(f"def f(o):\n    o[0] = {body}\n", "float32[1]")
