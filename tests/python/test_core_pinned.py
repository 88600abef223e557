"""Pinned host arrays, and copies that go on while the caller does."""

import numpy as np
import pytest
import xcuda.core as cuda


@cuda.kernel
def double(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] *= 2


def test_pinned_arrays_are_numpy_arrays():
    a = cuda.pinned_array((3, 4), "float32")
    assert isinstance(a, np.ndarray) and a.shape == (3, 4) and a.dtype == np.float32 and a.flags.writeable
    assert cuda.is_pinned(a) and cuda.is_pinned(a[1:]) and not cuda.is_pinned(np.zeros(3))
    a[:] = 5
    assert a.sum() == 60
    assert cuda.pinned_array(7).dtype == np.float64 and cuda.pinned_array((), int).shape == ()
    assert cuda.pinned_array((2, 3), order="F").flags.f_contiguous
    like = cuda.pinned_array_like(np.zeros((2, 2), np.int16))
    assert like.shape == (2, 2) and like.dtype == np.int16 and cuda.is_pinned(like)
    assert cuda.pinned_array(0).size == 0
    with pytest.raises(ValueError, match="can't be negative"):
        cuda.pinned_array(-1)


def test_pinned_memory_goes_with_its_last_view():
    a = cuda.pinned_array(1000)
    a[:] = 1
    part = a[500:]
    del a
    assert part.sum() == 500


def test_copies_of_pinned_arrays_are_in_the_streams_order():
    n = 100_000
    host, out = cuda.pinned_array(n), cuda.pinned_array(n)
    host[:] = np.arange(n)
    stream = cuda.stream()
    d = cuda.empty(n)
    d.copy_to_device(host, stream=stream)
    double[-(-n // 256), 256, stream](d)
    assert d.copy_to_host(out, stream=stream) is out
    stream.synchronize()
    np.testing.assert_array_equal(out, np.arange(n) * 2.0)
    moved = cuda.to_device(host, stream=stream)
    stream.synchronize()
    np.testing.assert_array_equal(moved.copy_to_host(), host)


def test_copies_wait_for_work_elsewhere_on_the_array():
    n = 100_000
    d, out = cuda.ones(n), cuda.pinned_array(n)
    a, b = cuda.stream(), cuda.stream()
    for _ in range(5):
        double[-(-n // 256), 256, a](d)
    d.copy_to_host(out, stream=b)
    b.synchronize()
    assert (out == 32).all()


def test_what_a_copy_uses_lives_until_it_is_done():
    n = 1_000_000
    stream = cuda.stream()
    d = cuda.empty(n)
    d.copy_to_device(cuda.pinned_array_like(np.ones(n)), stream=stream)
    host = cuda.pinned_array(n)
    host[:] = 3
    d.copy_to_device(host, stream=stream)
    del host
    out = cuda.pinned_array(n)
    d.copy_to_host(out, stream=stream)
    del d
    stream.synchronize()
    assert (out == 3).all()


def test_ordinary_arrays_are_the_callers_when_the_copy_returns():
    n = 100_000
    stream = cuda.stream()
    host = np.ones(n)
    d = cuda.empty(n)
    d.copy_to_device(host, stream=stream)
    host[:] = 0
    out = np.zeros(n)
    d.copy_to_host(out, stream=stream)
    assert (out == 1).all()
    assert (d.copy_to_host(stream=stream) == 1).all()


def test_pinning_what_is_there():
    a, b = np.ones(100_000), np.ones(10)
    with cuda.pinned(a, b):
        assert cuda.is_pinned(a)
        stream = cuda.stream()
        d = cuda.to_device(a, stream=stream)
        a_out = np.empty_like(a)
    assert not cuda.is_pinned(a)
    d.copy_to_host(a_out)
    assert (a_out == 1).all()
    with pytest.raises((ValueError, BufferError), match="contiguous"), cuda.pinned(np.ones((4, 4)).T[1:]):
        pass
