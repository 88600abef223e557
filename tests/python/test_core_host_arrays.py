"""Page-locked host arrays, arrays of both orders, argument wrappers."""

import numpy as np
import pytest
import xcuda.core as cuda


@pytest.mark.parametrize("make", [cuda.pinned_array, cuda.mapped_array, cuda.managed_array])
@pytest.mark.parametrize("order", ["C", "F"])
def test_new_arrays_are_numpys(make, order):
    a = make((3, 4), np.int32, order=order)
    a[...] = np.arange(12).reshape(3, 4)
    assert isinstance(a, np.ndarray) and a.strides == np.empty((3, 4), np.int32, order).strides
    d = cuda.to_device(a)
    assert (d.copy_to_host() == np.arange(12).reshape(3, 4)).all()
    assert make(0).shape == (0,) and make(()).shape == () and make(5).dtype == np.float64


def test_kernels_write_to_them():
    @cuda.jit
    def double(a):
        i = cuda.grid(1)
        if i < a.size:
            a[i] *= 2

    for a in (cuda.mapped_array(100), cuda.managed_array(100), cuda.pinned_array(200)[::2]):
        a[:] = np.arange(100)
        double[1, 128](a)
        cuda.synchronize()
        assert (a == 2 * np.arange(100)).all()
    b = np.arange(100.0)
    with cuda.pinned(b), cuda.defer_cleanup():
        d = cuda.to_device(b)
        double[1, 128](d)
        d.copy_to_host(b)
    assert (b == 2 * np.arange(100)).all()


@pytest.mark.parametrize("like", [cuda.device_array_like, cuda.pinned_array_like, cuda.mapped_array_like])
def test_like_keeps_the_order_of_axes(like):
    for source in (
        np.empty((10, 12)),
        np.empty((10, 12, 14), order="F"),
        np.empty((10, 12), np.int8)[::2, ::2],
        np.empty((10, 12), order="F")[::2, ::2],
        np.empty((10, 12), order="F")[::2, ::2].T,
        np.empty((1, 5)),
        np.empty(7)[::2],
    ):
        made, wanted = like(source), np.zeros_like(source)
        assert (made.shape, made.dtype, made.strides) == (wanted.shape, wanted.dtype, wanted.strides)
        for flag in ("C_CONTIGUOUS", "F_CONTIGUOUS"):
            assert made.flags[flag] == wanted.flags[flag]


def test_device_arrays_of_both_orders():
    d = cuda.device_array((4, 3), np.float32, order="F")
    assert d.strides == (4, 16) and d.is_f_contiguous() and not d.is_c_contiguous()
    d.copy_to_device(np.arange(12).reshape(4, 3))
    assert (d.copy_to_host() == np.arange(12).reshape(4, 3)).all()
    assert cuda.device_array((4, 3), np.float32, strides=(12, 4)).is_c_contiguous()
    with pytest.raises(ValueError, match="without gaps"):
        cuda.device_array((4, 3), np.float32, strides=(24, 4))
    with pytest.raises(ValueError, match="order is 'C' or 'F'"):
        cuda.device_array(3, order="K")


def test_in_out_and_inout():
    @cuda.jit
    def three(a):
        a[0] = 3

    for wrap, expected in ((cuda.In, 0), (cuda.Out, 3), (cuda.InOut, 3), (lambda a: a, 3)):
        a = np.zeros(1)
        three[1, 1](wrap(a))
        assert a[0] == expected
