"""A kernel's declared argument types: Python numbers become of them, as NumPy converts numbers."""

import numpy as np
import pytest
from frontend_source import make
from xcuda import core
from xcuda.core import types

NUMBERS = {
    "int8": (-3, True),
    "uint8": (200, False),
    "int16": (-300, 7),
    "uint32": (2**32 - 1, 0),
    "int32": (-(2**31), 2**31 - 1),
    "int64": (2**62, -1),
    "uint64": (2**64 - 1, 3),
    "float32": (0.1, 2**31 + 1),
    "float64": (0.1, 3),
    "complex64": (0.1, 1 + 2j),
    "complex128": (0.1j, 5),
    "bool": (True, False),
}


@pytest.mark.parametrize("dtype", NUMBERS)
def test_a_number_becomes_of_the_type(dtype):
    kernel = core.kernel(make("def f(o, x):\n    o[0] = x\n"), f"void({dtype}[::1], {dtype})")
    for value in NUMBERS[dtype]:
        out = np.zeros(1, dtype)
        kernel[1, 1](out, value)
        core.synchronize()
        assert out[0] == np.dtype(dtype).type(value)
    assert len(set(kernel.signatures)) == 1


def test_it_computes_in_that_type():
    kernel = core.kernel(
        make("def f(o, x):\n    o[0] = cuda.clz(x)\n    o[1] = x + x\n"), "void(int64[::1], int32)"
    )
    out = np.zeros(2, "i8")
    kernel[1, 1](out, 2**30)
    core.synchronize()
    np.testing.assert_array_equal(out, [1, -(2**31)])


def test_a_float_for_an_integer_is_cut_as_in_numba():
    kernel = core.kernel(make("def f(o, x, y):\n    o[0] = x + y\n"), "void(int32[:], int32, int32)")
    out = np.zeros(1, "i4")
    kernel[1, 1](out, 12.3, -45.6)
    core.synchronize()
    assert out[0] == 12 - 45


def test_a_number_that_does_not_fit_is_told():
    kernel = core.kernel(make("def f(o, x):\n    o[0] = x\n"), "void(int64[::1], int32)")
    with pytest.raises(OverflowError, match="'x' does not fit int32, the type that f was declared with"):
        kernel[1, 1](np.zeros(1, "i8"), 2**32)


def test_the_bits_of_a_number_of_the_other_sign():
    signed = core.kernel(make("def f(o, x):\n    o[0] = x\n"), "void(int64[::1], int32)")
    unsigned = core.kernel(make("def f(o, x):\n    o[0] = x\n"), "void(int64[::1], uint16)")
    out = np.zeros(2, "i8")
    signed[1, 1](out, 0xFFFFFFFE)
    unsigned[1, 1](out[1:], -1)
    core.synchronize()
    np.testing.assert_array_equal(out, [-2, 0xFFFF])


SEVERAL = [
    "void(int64[::1], int32)",
    "void(int64[::1], float32)",
    "void(int64[::1], float64)",
    "void(int64[::1], int64)",
]


def test_among_several_the_nearest_is_taken():
    kernel = core.kernel(
        make(
            "def f(o, x):\n    o[0] = 0 if x else 0\n    o[0] = kind(x)\n",
            kind=make("def kind(x):\n    return 2 if x / 3 == np.float64(1) / 3 else 1\n"),
        ),
        SEVERAL,
    )
    for value in (1.0, 1):
        out = np.zeros(1, "i8")
        kernel[1, 1](out, value)
        core.synchronize()
        assert out[0] == 2
    assert len(set(kernel.signatures)) == 4


def test_others_stay_as_they_are():
    kernel = core.kernel(make("def f(o, x):\n    o[0] = x\n"), "void(float64[:], int32)")
    out = np.zeros(1)
    kernel[1, 1](out, np.float64(1.5))  # a NumPy number has a type of its own
    kernel.bind(1, 1, out, 7)()
    core.synchronize()
    assert out[0] == 7
    named = np.zeros(1)
    kernel[1, 1](x=3, o=named)
    core.synchronize()
    assert named[0] == 3


def test_specialized_kernels_and_clones():
    kernel = core.kernel(make("def f(o, x):\n    o[0] = x + x\n"))
    special = kernel.specialize(types.int64[::1], types.int8)
    out = np.zeros(1, "i8")
    special[1, 1](out, 100)
    core.synchronize()
    assert out[0] == -56


def test_addresses_for_pointers():
    pointer = types.CPointer(types.int32)
    kernel = core.kernel(
        make("def f(r, a, x, n):\n    i = cuda.grid(1)\n    if i < n:\n        r[i] = a * x[i]\n"),
        types.void(pointer, types.int32, pointer, types.uint32),
    )
    x, r = core.to_device(np.arange(10, dtype="i4")), core.zeros(10, "i4")
    to, of = r.gpu_data.device_pointer, x.gpu_data.device_pointer
    kernel[1, 32](to, 5, of, 8)
    np.testing.assert_array_equal(r.copy_to_host(), [*range(0, 40, 5), 0, 0])
    kernel[1, 32](r, 2, np.uint64(of), 2)  # an array will do, too
    np.testing.assert_array_equal(r.copy_to_host()[:3], [0, 2, 10])


@pytest.mark.parametrize("make_array, order", [(core.carray, "C"), (core.farray, "F")])
def test_arrays_of_addresses(make_array, order):
    kernel = core.kernel(
        make(
            "def f(p, n, m):\n    a = of(p, (n, m))\n    i, j = cuda.grid(2)\n    if i < n and j < m:\n"
            "        a[i, j] = 10 * i + j\n",
            of=make_array,
        ),
        types.void(types.CPointer(types.float32), types.int32, types.int32),
    )
    whole = core.zeros(15, "f4")
    kernel[(1, 1), (4, 4)](whole.gpu_data.device_pointer, 3, 4)
    want = np.add.outer(10 * np.arange(3), np.arange(4)).ravel(order=order)
    np.testing.assert_array_equal(whole.copy_to_host(), [*want, 0, 0, 0])


def test_bytes_of_constant_arrays():
    table = np.arange(32, dtype="i8")
    kernel = core.kernel(
        make("def f(x):\n    i = cuda.grid(1)\n    x[i] = table[i]\n", table=table), "void(int64[::1])"
    )
    assert kernel.get_const_mem_size(types.void(types.int64[::1])) == table.nbytes
    assert kernel.get_const_mem_size() == table.nbytes


@pytest.mark.parametrize(
    "arguments,found",
    [
        ((np.zeros(1, complex), 1j), r"\(complex128\[:\], complex128\)"),
        ((np.zeros(1), 1j), r"\(float64\[:\], complex128\)"),
        ((np.zeros((2, 2)), 1), r"\(float64\[:, :\], int64\)"),
        ((1.0, 1), r"\(float64, int64\)"),
    ],
)
def test_other_types_are_refused(arguments, found):
    kernel = core.kernel(make("def f(o, x):\n    o[0] = x\n"), ["(int64[:], int64)", "(float64[:], float64)"])
    wanted = r"f was declared for \(int64\[:\], int64\) and \(float64\[:\], float64\), found "
    with pytest.raises(TypeError, match=f"No matching definition: {wanted}{found}"):
        kernel[1, 1](*arguments)
    assert len(set(kernel.signatures)) == 2
    out = np.zeros(4)[::2]  # another layout compiles a version of its own
    kernel[1, 1](out, 3)
    core.synchronize()
    assert out[0] == 3
