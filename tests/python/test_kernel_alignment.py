"""alignment= of shared and local arrays, and where arrays lie: A.ctypes.data."""

import numpy as np
import pytest
from frontend_source import compiles, make
from test_frontend_refusals import refusal
from xcuda import core


def addresses(space, alignment, dtype="u1", length=5, fibers=False):
    """Where two arrays of odd length lie in each thread; with `fibers` the block runs thread by thread."""
    meet = "    cuda.syncwarp()\n" if fibers else ""
    f = make(
        f"def f(o):\n    i = cuda.threadIdx.x\n    a = cuda.{space}.array({length}, T)\n"
        f"    t = cuda.{space}.array({length}, T, alignment={alignment})\n"
        f"    u = cuda.{space}.array((3, {length}), T, {alignment})\n    a[i % {length}] = i\n    t[i % {length}] = i\n"
        f"    u[0, i % {length}] = t[i % {length}]\n{meet}"
        f"    cuda.syncthreads()\n    o[i, 0] = t.ctypes.data\n    o[i, 1] = u.ctypes.data\n    o[i, 2] = u[1].ctypes.data\n",
        T=np.dtype(dtype).type,
    )
    out = np.zeros((4, 3), "u8")
    core.kernel(f)[1, 4](out)
    core.synchronize()
    return out


@pytest.mark.parametrize("space", ["shared", "local"])
@pytest.mark.parametrize("alignment", [8, 16, 64, 256, 1024])
@pytest.mark.parametrize("dtype", ["u1", "f8", "c16"])
def test_arrays_begin_at_multiples(space, alignment, dtype):
    for fibers in (False, True):
        out = addresses(space, alignment, dtype, fibers=fibers)
        assert (out[:, :2] % alignment == 0).all() and (out > 0).all()
        size = np.dtype(dtype).itemsize
        np.testing.assert_array_equal(out[:, 2] - out[:, 1], 5 * size)
        if space == "shared":
            assert (out == out[0]).all()


def test_none_is_no_wish():
    assert (addresses("shared", None) > 0).all()


def test_the_address_of_an_argument_and_of_a_view():
    @core.kernel
    def f(x, o):
        o[0] = x.ctypes.data
        o[1] = x[3:].ctypes.data
        o[2] = x[::-1].ctypes.data

    x = core.to_device(np.zeros(10, "i4"))
    out = np.zeros(3, "u8")
    f[1, 1](x, out)
    core.synchronize()
    begin = x.__cuda_array_interface__["data"][0] if hasattr(x, "__cuda_array_interface__") else int(out[0])
    np.testing.assert_array_equal(out.astype("i8") - begin, [0, 12, 36])


@pytest.mark.parametrize("alignment", [-1, 0, 3, 17, 33, 8192])
def test_an_alignment_that_is_none(alignment):
    with pytest.raises(ValueError, match="Alignment must be a power of two"):
        addresses("local", alignment)


@pytest.mark.parametrize("alignment", ['"16"', "1.0", "np.float32"])
def test_an_alignment_that_is_no_integer(alignment):
    error, _ = refusal(f"t = cuda.local.array(4, np.float32, alignment={alignment})")
    assert "alignment must be a constant integer" in str(error)


def test_what_has_none():
    error, _ = refusal("t = cuda.shared.array(0, np.float32, alignment=64)")
    assert "dynamic shared memory" in str(error)
    error, _ = refusal("t = cuda.local.array(2, point, alignment=16)", point=np.dtype([("x", "f4")]))
    assert "records" in str(error)


def test_the_cuda_text_compiles():
    @core.kernel
    def f(o):
        a = core.shared.array(7, np.float32, alignment=128)
        b = core.local.array(7, np.float64, alignment=32)
        c = core.shared.array((64, 150), np.float64, alignment=256)
        i = core.threadIdx.x
        a[i % 7] = i
        b[i % 7] = a[0]
        c[0, i] = b[i % 7]
        core.syncthreads()
        o[i] = a.ctypes.data + b.ctypes.data + c[1].ctypes.data

    compiles(f, (np.zeros(64, "u8"),))
