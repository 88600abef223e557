"""Graphs: what is captured once happens at each launch of the graph."""

import numpy as np
import pytest
import xcuda.core as cuda


@cuda.kernel
def add(out, a, n):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] += a[i] * n


@cuda.kernel
def beyond(a, where):
    i = cuda.grid(1)
    if i == 0:
        a[where[0]] = 1


def test_a_graph_does_nothing_until_it_is_launched():
    a, b, c = cuda.to_device(np.arange(100.0)), cuda.zeros(100), cuda.zeros(100)
    n = 2
    with cuda.graph() as g:
        assert cuda.current_stream() is g.stream
        add(b, a, n)
        c.copy_to_device(b)
        add[1, 128](c, a, 1)
        n = 5
    assert cuda.current_stream().is_default
    assert repr(g) == f"<graph of 2 launches, 1 copy or fills on {cuda.Device().label}>"
    assert not b.copy_to_host().any() and not c.copy_to_host().any()
    g()
    np.testing.assert_array_equal(c.copy_to_host(), np.arange(100.0) * 3)
    g.launch()
    stream = cuda.stream()
    g.launch(stream)
    stream.synchronize()
    np.testing.assert_array_equal(b.copy_to_host(), np.arange(100.0) * 6)
    np.testing.assert_array_equal(c.copy_to_host(), np.arange(100.0) * 7)


def test_replays_are_in_the_streams_order():
    a, b = cuda.ones(1000), cuda.zeros(1000)
    with cuda.graph() as g:
        for _ in range(10):
            add(b, a, 1)
    stream = cuda.stream()
    with stream:
        for _ in range(5):
            g()
            add(b, b, 1)
    stream.synchronize()
    expected = 0
    for _ in range(5):
        expected = (expected + 10) * 2
    assert (b.copy_to_host() == expected).all()


def test_pinned_copies_are_a_part():
    host, out = cuda.pinned_array(50), cuda.pinned_array(50)
    a, b = cuda.zeros(50), cuda.zeros(50)
    with cuda.graph() as g:
        a.copy_to_device(host)
        b[:] = a
        add(b, a, 1)
        b.copy_to_host(out)
    for n in range(3):
        host[:] = n
        g()
        cuda.synchronize()
        assert (out == 2 * n).all()


def test_fills_are_a_part():
    a = cuda.ones(10)
    with cuda.graph() as g:
        a._fill_bytes(0)
        add(a, a, 1)
    assert a.copy_to_host().all()
    g()
    assert not a.copy_to_host().any()


def test_arrays_live_as_long_as_the_graph():
    used = cuda.Device().memory()["used"]
    b = cuda.zeros(1000)
    with cuda.graph() as g:
        pass
    a = cuda.ones(1000)
    with cuda.graph() as g:
        add(b, a, 1)
    del a
    noise = cuda.full(1000, 7.0)
    g()
    assert (b.copy_to_host() == 1).all()
    del g, b, noise
    cuda.synchronize()
    assert cuda.Device().memory()["used"] <= used


def test_faults_of_a_replay_name_the_kernel_and_its_array():
    a, where = cuda.zeros(10), cuda.to_device(np.array([3]))
    b = cuda.zeros(10)
    with cuda.graph() as g:
        add(b, b, 1)
        beyond[1, 32](a, where)
        add(b, b, 0)
    g()
    cuda.synchronize()
    assert a.copy_to_host()[3] == 1
    where[0] = 77
    with pytest.raises(IndexError, match=r"index 77 is out of range for axis 0 of a with shape \(10,\)"):
        g()
        cuda.synchronize()
    cuda.synchronize()
    where[0] = 4
    g()
    cuda.synchronize()
    assert a.copy_to_host()[4] == 1


def test_what_can_not_be_a_part_is_told():
    a, host = cuda.zeros(10), np.zeros(10)
    event = cuda.event()
    with pytest.raises(ValueError, match="'a' lives in host memory, and add is captured"), cuda.graph():
        add(a, host, 1)
    with pytest.raises(ValueError, match="making an array can't be a part of a graph"), cuda.graph():
        cuda.zeros(3)
    with pytest.raises(ValueError, match="a copy of ordinary host memory can't be a part"), cuda.graph():
        a.copy_to_device(host)
    with pytest.raises(ValueError, match="a copy of ordinary host memory can't be a part"), cuda.graph():
        a.copy_to_host()
    with pytest.raises(ValueError, match="work that is captured can't be waited for"), cuda.graph() as g:
        g.stream.synchronize()
    with pytest.raises(ValueError, match="can't be waited for or timed"), cuda.graph() as g:
        event.record(g.stream)
    with cuda.graph() as inner:
        add(a, a, 1)
    with pytest.raises(ValueError, match="another graph can't be a part of a graph"), cuda.graph():
        inner()
    with cuda.graph() as g:
        stream = g.stream
        with pytest.raises(RuntimeError, match="launched before its capture has ended"):
            g()
    with pytest.raises(ValueError, match="capture has ended"):
        add[1, 32, stream](a, a, 1)
    with pytest.raises(RuntimeError, match="captured once"), g:
        pass
    with pytest.raises(ZeroDivisionError), cuda.graph() as g:
        1 / 0
    add(a, a, 1)
    assert not a.copy_to_host().any()


def test_an_empty_graph_and_an_empty_launch():
    with cuda.graph() as g:
        add(cuda_empty, cuda_empty, 1) if (cuda_empty := None) else None
    g()
    cuda.synchronize()
    assert repr(g).startswith("<graph of 0 launches on ")


def test_a_graph_of_another_devices_stream_is_refused():
    others = [d for d in cuda.devices() if d != cuda.Device()]
    if not others:
        pytest.skip("there is one device here")
    with cuda.graph() as g:
        pass
    with others[0]:
        stream = cuda.stream()
    with pytest.raises(ValueError, match="the stream is one of"):
        g.launch(stream)
