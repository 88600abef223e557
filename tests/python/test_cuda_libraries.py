"""torch, CuPy and numba on a GPU: their arrays in, ours out, their streams and ours. Each part needs its library."""

import gc

import numpy as np
import pytest
from xcuda import core as cuda

if not cuda.is_available() or cuda.Device().kind != "cuda":
    pytest.skip("the current device is no GPU", allow_module_level=True)

N = 1 << 20


@cuda.kernel
def add_one(a):
    i = cuda.grid(1)
    if i < a.shape[0]:
        a[i] += 1


@cuda.kernel
def copy(out, a):
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = a[i, j]


@cuda.kernel
def spin(a, turns):
    for _ in range(turns):
        a[0] += 1


@pytest.fixture
def torch():
    found = pytest.importorskip("torch", reason="torch is not installed here")
    if not found.cuda.is_available():
        pytest.skip("torch sees no GPU here")
    return found


@pytest.fixture
def cupy():
    return pytest.importorskip("cupy", reason="CuPy is not installed here")


@pytest.fixture
def numba_cuda():
    pytest.importorskip("numba", reason="numba is not installed here")
    found = pytest.importorskip("numba.cuda", reason="numba-cuda is not installed here")
    if not found.is_available():
        pytest.skip("numba sees no GPU here")
    return found


def test_torch_tensors_are_written_in_place(torch):
    t = torch.zeros(N, device="cuda")
    address = t.data_ptr()
    for _ in range(3):
        add_one(t)
    assert t.data_ptr() == address
    assert bool((t == 3).all())
    for dtype in (torch.int32, torch.int64, torch.float16, torch.float64, torch.uint8):
        t = torch.zeros(1000, device="cuda", dtype=dtype)
        add_one(t)
        assert bool((t == 1).all()), dtype


def test_torch_strides(torch):
    t = torch.arange(24, device="cuda", dtype=torch.float32).reshape(4, 6)
    out = cuda.zeros((6, 4), "float32")
    copy(out, t.T)
    np.testing.assert_array_equal(out.copy_to_host(), t.T.cpu().numpy())
    part = cuda.zeros((2, 3), "float32")
    copy(part, t[1:3, ::2])
    np.testing.assert_array_equal(part.copy_to_host(), t[1:3, ::2].cpu().numpy())


def test_torch_on_its_own_stream_is_in_order_both_ways(torch):
    side = torch.cuda.Stream()
    t = torch.zeros(N, device="cuda")
    torch.cuda.synchronize()
    add_one(t)
    with torch.cuda.stream(side):
        for _ in range(20):
            torch.cuda._sleep(1_000_000)
            t.mul_(2)
            add_one(t)
            t.add_(1)
        total = t.clone()
    side.synchronize()
    expected = 1.0
    for _ in range(20):
        expected = expected * 2 + 2
    assert bool((total == expected).all())


def test_torch_gradients_are_not_written(torch):
    t = torch.zeros(10, device="cuda", requires_grad=True)
    with pytest.raises((TypeError, ValueError), match="grad"):
        add_one(t)
    add_one(t.detach())
    assert bool((t == 1).all())


def test_our_arrays_in_torch(torch):
    a = cuda.to_device(np.arange(10, dtype=np.float32))
    t = torch.from_dlpack(a)
    assert t.data_ptr() == a.__cuda_array_interface__["data"][0]
    t += 1
    np.testing.assert_array_equal(a.copy_to_host(), np.arange(10) + 1)
    seen = torch.as_tensor(a, device="cuda")
    assert seen.data_ptr() == t.data_ptr()
    del a
    gc.collect()
    others = [cuda.full(10, 9.0, "float32") for _ in range(20)]
    assert t.tolist() == list(range(1, 11))
    del others


def test_memory_torch_still_works_on_is_not_given_away(torch):
    side = torch.cuda.Stream()
    for _ in range(5):
        a = cuda.full(N, 1.0, "float32")
        with torch.cuda.stream(side):
            t = torch.from_dlpack(a)
            torch.cuda._sleep(20_000_000)
            result = t * 2
        del a, t
        gc.collect()
        b = cuda.full(N, 7.0, "float32")
        side.synchronize()
        assert bool((result == 2).all())
        del b


def test_torch_tensors_as_device_arrays(torch):
    t = torch.zeros(N, device="cuda")
    a = cuda.as_device_array(t)
    assert a.__cuda_array_interface__["data"][0] == t.data_ptr()
    add_one(a)
    del t
    gc.collect()
    torch.cuda.empty_cache()
    assert (a.copy_to_host() == 1).all()
    assert cuda.from_dlpack(torch.ones(3, device="cuda")).copy_to_host().tolist() == [1, 1, 1]
    assert cuda.to_device(torch.ones(3, device="cuda")).copy_to_host().tolist() == [1, 1, 1]


def test_a_tensor_that_goes_while_a_kernel_runs(torch):
    counter = cuda.zeros(1, "int64")
    out = cuda.zeros((1, N), "float32")
    stream = cuda.stream()
    for n in range(5):
        t = torch.full((1, N), float(n), device="cuda")
        spin[1, 1, stream](counter, 200_000)
        copy[(1, N // 256), (1, 256), stream](out, t)
        del t
        noise = torch.full((1, N), -1.0, device="cuda")
        stream.synchronize()
        assert (out.copy_to_host() == n).all()
        del noise


def test_torch_streams(torch):
    theirs = torch.cuda.Stream()
    ours = cuda.Stream(theirs)
    assert ours.handle == theirs.cuda_stream and ours == cuda.external_stream(theirs.cuda_stream)
    a = cuda.zeros(1, "int64")
    cuda.synchronize()  # torch's streams are not in order with the default one, which fills it
    with ours:
        spin[1, 1](a, 100_000)
        event = ours.record()
    theirs.synchronize()
    assert event.query()
    mine = cuda.stream()
    with torch.cuda.stream(torch.cuda.ExternalStream(mine.handle)):
        assert int(torch.ones(10, device="cuda").sum()) == 10
    spin[1, 1, theirs](a, 1)
    ours.synchronize()
    assert a.copy_to_host()[0] == 100_001


def test_torch_work_is_captured_in_our_graphs(torch):
    a = cuda.zeros(1000, "float32")
    t = torch.from_dlpack(a)
    torch.add(t, 1, out=t)
    add_one(a)
    a._fill_bytes(0)
    cuda.synchronize()
    with cuda.graph() as g, torch.cuda.stream(torch.cuda.ExternalStream(g.stream.handle)):
        add_one(a)
        torch.mul(t, 3, out=t)
        add_one(a)
    assert not a.copy_to_host().any()
    g()
    assert (a.copy_to_host() == 4).all()


def test_cupy_arrays(cupy):
    c = cupy.zeros(N, dtype="float32")
    add_one(c)
    assert bool((c == 1).all())
    side = cupy.cuda.Stream(non_blocking=True)
    with side:
        for _ in range(20):
            c *= 2
            add_one(c)
        total = c.copy()
    side.synchronize()
    expected = 1.0
    for _ in range(20):
        expected = expected * 2 + 1
    assert bool((total == expected).all())
    strided = cupy.arange(24, dtype="float64").reshape(4, 6)[::-1, ::2]
    out = cuda.zeros((4, 3))
    copy(out, strided)
    np.testing.assert_array_equal(out.copy_to_host(), cupy.asnumpy(strided))


def test_our_arrays_in_cupy(cupy):
    a = cuda.to_device(np.arange(100.0))
    for seen in (cupy.asarray(a), cupy.from_dlpack(a)):
        assert seen.data.ptr == a.__cuda_array_interface__["data"][0]
        np.testing.assert_array_equal(cupy.asnumpy(seen * 2), np.arange(100.0) * 2)
    stream = cuda.stream()
    with stream:
        counter = cuda.zeros(1, "int64")
        spin[1, 1](counter, 500_000)
        add_one(a)
        seen = cupy.asarray(a)
    np.testing.assert_array_equal(cupy.asnumpy(seen), np.arange(100.0) + 1)
    b = cuda.as_device_array(cupy.arange(5.0))
    assert b.copy_to_host().tolist() == [0, 1, 2, 3, 4]
    a[:] = cupy.ones(100)
    assert (a.copy_to_host() == 1).all()


def test_cupy_streams(cupy):
    theirs = cupy.cuda.Stream(non_blocking=True)
    ours = cuda.Stream(theirs)
    assert ours.handle == theirs.ptr
    a = cuda.zeros(1, "int64")
    spin[1, 1, theirs](a, 1000)
    theirs.synchronize()
    assert a.copy_to_host()[0] == 1000
    mine = cuda.stream()
    with cupy.cuda.ExternalStream(mine.handle):
        assert float(cupy.ones(10).sum()) == 10


def test_numba_arrays(numba_cuda):
    d = numba_cuda.to_device(np.zeros(1000, np.float32))
    add_one(d)
    cuda.synchronize()
    assert (d.copy_to_host() == 1).all()
    a = cuda.to_device(np.arange(10.0))
    seen = numba_cuda.as_cuda_array(a)
    np.testing.assert_array_equal(seen.copy_to_host(), np.arange(10.0))
    assert (cuda.as_cuda_array(d).copy_to_host() == 1).all()
    stream = numba_cuda.stream()
    ours = cuda.Stream(stream)
    add_one[1, 32, ours](a)
    stream.synchronize()
    assert a.copy_to_host()[0] == 1


def test_a_graph_of_many_launches():
    a = cuda.zeros(1000, "float32")
    add_one[4, 256](a)
    with cuda.graph() as g:
        for _ in range(2000):
            add_one[4, 256](a)
    g()
    g()
    assert (a.copy_to_host() == 4001).all()


def test_an_interrupted_graph_runs_again():
    import os
    import signal
    import threading

    @cuda.kernel
    def until(a):
        while a[0] == 0:
            a[1] += 1

    a = cuda.ones(2)
    until[1, 1](a)
    with cuda.graph() as g:
        until[1, 1](a)
    a[0] = 0
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    g()
    with pytest.raises(KeyboardInterrupt):
        cuda.synchronize()
    cuda.synchronize()
    a[0] = 1
    g()
    cuda.synchronize()
    assert a.copy_to_host()[0] == 1


def test_pinned_copies_overlap_the_caller():
    stream = cuda.stream()
    counter = cuda.zeros(1, "int64")
    host = cuda.pinned_array(N)
    host[:] = 3
    a = cuda.empty(N)
    spin[1, 1](counter, 1)
    cuda.synchronize()
    spin[1, 1, stream](counter, 5_000_000)
    a.copy_to_device(host, stream=stream)
    out = cuda.pinned_array(N)
    a.copy_to_host(out, stream=stream)
    assert not stream.query()
    stream.synchronize()
    assert (out == 3).all()
