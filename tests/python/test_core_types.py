"""Types as numba's users write them: signatures, casts, dtypes."""

import pickle

import numpy as np
import pytest
import xcuda.core as cuda
from xcuda.core import float32, float64, int32, int64, types, void
from xcuda.core.signatures import types_from


def test_a_scalar_type_is_a_dtype_and_a_cast():
    assert np.zeros(3, float32).dtype == np.float32 and np.dtype(types.boolean) == bool
    assert int32(2.9) == 2 and type(int32(2.9)) is np.int32
    assert types.f4 == float32 == types.float_ and types.intp == int64 and types.double == float64
    assert cuda.device_array(2, int32).dtype == np.int32
    assert hash(types.f4) == hash(float32) and pickle.loads(pickle.dumps(float32[:, ::1])) == float32[:, ::1]


def test_types_mean_what_the_text_means():
    assert types_from(void(float32[:, ::1], int32)) == types_from("void(float32[:, ::1], int32)")
    assert types_from((float64[:], types.i8)) == [
        ("array", "float64", 1, "strided"),
        ("scalar", "int64", False),
    ]
    assert types_from("f4[::1], boolean") == [
        ("array", "float32", 1, "contiguous"),
        ("scalar", "bool", False),
    ]
    assert types_from("int32(int32, f8[::1, :])")[1] == ("array", "float64", 2, "strided")
    assert types_from((types.Array(float32, 2, "F"),)) == types_from("float32[::1, :]")


def test_numbas_own_types_are_taken():
    numba = pytest.importorskip("numba")
    given = numba.void(numba.float32[:, ::1], numba.int32, numba.boolean)
    assert types_from(given) == types_from("float32[:, ::1], int32, boolean")

    @cuda.jit(numba.void(numba.int32[::1], numba.float32))
    def fill(a, x):
        s = cuda.local.array(2, numba.float32)
        s[0] = x
        a[0] = numba.int32(s[0] * 2)

    assert fill.signatures == ["(int32[::1], float32)"]
    a = np.zeros(1, np.int32)
    fill[1, 1](a, np.float32(2.7))
    assert a[0] == 5


def test_decorators_take_one_signature_or_a_list():
    for given in ("void(int64[::1])", void(int64[::1]), (int64[::1],), [void(int64[::1]), "(float64[::1],)"]):

        @cuda.jit(given)
        def one(a):
            a[0] = 1

        assert len(one.signatures) == (2 if isinstance(given, list) else 1)
        a = np.zeros(1, np.int64)
        one[1, 1](a)
        assert a[0] == 1


def test_types_in_a_kernel():
    @cuda.jit
    def f(a, kind):
        t = cuda.shared.array(2, dtype=types.int32)
        t[0] = int32(a[0])
        a[0] = kind(t[0]) / 2

    a = np.array([3.9], np.float32)
    f[1, 1](a, float32)
    assert a[0] == 1.5


@pytest.mark.parametrize(
    ("write", "words"),
    [
        (lambda: float32[1], "an array's axes are ':' or '::1'"),
        (lambda: float32[::1, ::1], "only one axis can be '::1'"),
        (lambda: types.Array(float32, 1, "X"), "layout is 'C', 'F' or 'A'"),
        (lambda: types_from("float33[:]"), '"float33.:." is no argument type'),
        (lambda: types_from((void,)), "for an argument of type none"),
        (
            lambda: cuda.jit(int32(int32[:]))(lambda a: a),
            "a kernel gives nothing back, its signature says int32",
        ),
        (
            lambda: cuda.jit("int32(int32[:])")(lambda a: a),
            "a kernel gives nothing back, its signature says int32",
        ),
    ],
)
def test_refusals(write, words):
    with pytest.raises((TypeError, ValueError), match=words):
        write()
