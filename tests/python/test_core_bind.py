"""Bound launches: k.bind(grid, block, ...)."""

import gc
import weakref

import numpy as np
import pytest
import xcuda.core as cuda

FACTOR = 2


@cuda.kernel
def scale(out, a, n=3):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = a[i] * n


@cuda.kernel
def by_global(out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = FACTOR


@cuda.kernel
def by_pair(out, pair):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = pair[0] + pair[1]


@cuda.kernel
def beyond(a, n):
    a[cuda.grid(1) + n] = 1


def test_a_bound_launch_is_the_launch():
    a, out = cuda.to_device(np.arange(100.0)), cuda.zeros(100)
    f = scale.bind(1, 128, out, a)
    assert not out.copy_to_host().any()
    f()
    np.testing.assert_array_equal(out.copy_to_host(), np.arange(100.0) * 3)
    assert repr(f) == "<bound launch of scale(out, a, n)>"
    assert f.kernel is scale and f.arguments["n"] == 3 and f.arguments["a"] is a
    assert scale.last_launch["grid"] == (1, 1, 1) and scale.last_launch["block"] == (128, 1, 1)
    g = scale[1, 64].bind(out, a=a, n=2)
    g()
    np.testing.assert_array_equal(out.copy_to_host(), [*np.arange(64.0) * 2, *np.arange(64.0, 100) * 3])
    h = scale.bind(None, None, out, a, 7)
    h()
    np.testing.assert_array_equal(out.copy_to_host(), np.arange(100.0) * 7)


def test_rebinding():
    a, out = cuda.to_device(np.arange(10.0)), cuda.zeros(10)
    f = scale.bind(1, 32, out, a, 1)
    assert f.rebind(n=5) is f
    f()
    np.testing.assert_array_equal(out.copy_to_host(), np.arange(10.0) * 5)
    other = cuda.zeros(10, "float32")
    f.rebind(out=other)()
    assert other.copy_to_host()[9] == 45
    f.rebind(out, a)
    f()
    assert out.copy_to_host()[9] == 27
    f.rebind(n=2.5)()
    assert out.copy_to_host()[9] == 22.5
    with pytest.raises(TypeError, match="scale has no parameter 'm'; it has out, a, n"):
        f.rebind(m=1)


def test_host_arrays_and_what_they_hold_at_the_call():
    a, out = np.arange(10.0), np.zeros(10)
    f = scale.bind(1, 32, out, a)
    f()
    np.testing.assert_array_equal(out, a * 3)
    a += 1
    f()
    np.testing.assert_array_equal(out, a * 3)
    swapped = np.zeros(10, ">f8")
    scale.bind(1, 32, swapped, a)()
    np.testing.assert_array_equal(swapped, a * 3)


def test_globals_are_read_at_the_call():
    global FACTOR
    out = cuda.zeros(5)
    f = by_global.bind(1, 32, out)
    f()
    assert (out.copy_to_host() == 2).all()
    FACTOR = 9
    try:
        f()
        f()
        assert (out.copy_to_host() == 9).all()
    finally:
        FACTOR = 2


def test_tuples_are_bound_too():
    out = cuda.zeros(5)
    f = by_pair.bind(1, 32, out, (1, 2.5))
    f()
    assert (out.copy_to_host() == 3.5).all()
    f.rebind(pair=(1, 1))()
    assert (out.copy_to_host() == 2).all()


def test_it_goes_to_the_current_stream_or_its_own():
    a, out = cuda.ones(1000), cuda.zeros(1000)
    s, t = cuda.stream(), cuda.stream()
    f = scale.bind(8, 128, out, a)
    with s:
        f()
    s.synchronize()
    assert (out.copy_to_host() == 3).all()
    scale[8, 128, t].bind(out, a, 4)()
    t.synchronize()
    assert (out.copy_to_host() == 4).all()
    with cuda.graph() as g:
        f()
    assert (out.copy_to_host() == 4).all()
    g()
    assert (out.copy_to_host() == 3).all()


def test_arguments_live_as_long_as_the_binding():
    class Array(np.ndarray):
        pass

    a = np.ones(10).view(Array)
    gone, out = weakref.ref(a), np.zeros(10)
    f = scale.bind(1, 32, out, a)
    del a
    gc.collect()
    f()
    assert (out == 3).all() and gone() is not None
    del f
    gc.collect()
    assert gone() is None


def test_faults_are_told():
    a = cuda.zeros(10)
    f = beyond.bind(1, 1, a, 50)
    with pytest.raises(IndexError, match=r"index 50 is out of range for axis 0 of a with shape \(10,\)"):
        f()
        cuda.synchronize()
    f.rebind(n=3)()
    cuda.synchronize()
    assert a.copy_to_host()[3] == 1


def test_wrong_bindings():
    out = cuda.zeros(3)
    with pytest.raises(TypeError, match="scale.bind: missing a required argument: 'a'"):
        scale.bind(1, 1, out)
    with pytest.raises(TypeError, match="both given or both None"):
        scale.bind(1, None, out, out)
    with pytest.raises(TypeError, match=r"takes no arguments: rebind\(name=value\)"):
        scale.bind(1, 1, out, out)(out)
    with pytest.raises(ValueError, match="block"):
        scale.bind(1, 100_000, out, out)
    frozen = np.zeros(3)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="'out' is read-only, and scale writes to it"):
        scale.bind(1, 1, frozen, out)
    with pytest.raises(AttributeError, match="has no attribute 'colour'; it has rebind"):
        scale.bind(1, 1, out, out).colour
