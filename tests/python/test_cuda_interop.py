"""The CUDA device beside other libraries over the fake driver: order between streams, lifetimes, graphs, copies."""

import ctypes
import gc
import threading
import time
import weakref

import numpy as np
import pytest
from fake_cuda import driver, need_nvrtc, on_fake
from xcuda import _runtime
from xcuda import core as cuda


class Theirs:
    """Another library's array: a piece of memory with `__cuda_array_interface__`."""

    def __init__(self, array, **told):
        self.held = array  # of ours: that is memory of the device
        one = array.__cuda_array_interface__
        one.pop("stream")
        self.__cuda_array_interface__ = one | told


class TheirStream:
    def __init__(self, handle):
        self.handle = handle

    def __cuda_stream__(self):
        return (0, self.handle)


def kernel():
    need_nvrtc()

    @cuda.kernel
    def add_one(a):
        i = cuda.grid(1)
        if i < a.shape[0]:
            a[i] = a[i] + 1

    return add_one


def waits():
    return driver.get("calls:cuStreamWaitEvent")


@on_fake()
def test_a_launch_waits_for_the_arrays_stream_and_it_for_the_launch():
    add_one = kernel()
    held, theirs = cuda.zeros(10), cuda.stream()
    add_one(held)
    cuda.synchronize()
    for stream, expected in [(None, 0), (1, 0), (theirs.handle, 2), (2, 2)]:
        array = Theirs(held, stream=stream)
        before = waits()
        add_one[1, 32](array)
        assert waits() - before == expected, stream
    same, other = Theirs(held, stream=theirs.handle), Theirs(held, stream=1)
    with theirs:
        before = waits()
        add_one[1, 32](same)
        assert waits() == before
        add_one[1, 32](other)
        assert waits() == before + 2
    cuda.synchronize()
    address = held.__cuda_array_interface__["data"][0].to_bytes(8, "little")
    assert all(address in parameters for *_, parameters in driver.launches())
    assert driver.get("launches") == 7


@on_fake()
def test_read_only_arrays_and_layouts_are_what_the_interface_says():
    add_one = kernel()
    held = cuda.zeros((4, 6))
    with pytest.raises(ValueError, match="'a' is read-only, and add_one writes to it"):
        add_one(Theirs(cuda.zeros(3), data=(held._address, True)))
    a = cuda.as_device_array(Theirs(held[:, ::2]))
    assert (a.shape, a.strides) == ((4, 3), (48, 16))
    assert a.__cuda_array_interface__["strides"] == (48, 16)
    frozen = cuda.as_device_array(Theirs(held, data=(held._address, True)))
    assert frozen.__cuda_array_interface__["data"] == (held._address, True)
    empty = cuda.as_device_array(Theirs(held, shape=(0, 6), data=(0, False)))
    assert empty.size == 0 and empty.copy_to_host().shape == (0, 6)


@on_fake()
def test_their_array_is_kept_until_the_launch_is_over():
    add_one = kernel()
    theirs = Theirs(cuda.zeros(10))
    gone = weakref.ref(theirs)
    add_one(theirs)
    cuda.synchronize()
    driver.set(hold=1)
    add_one[1, 32](theirs)
    del theirs
    gc.collect()
    assert gone() is not None
    driver.set(hold=0)
    cuda.synchronize()
    gc.collect()
    assert gone() is None


@on_fake()
def test_a_wrapped_array_lets_go_once_the_work_on_it_is_over():
    add_one = kernel()
    theirs = Theirs(cuda.zeros(10))
    gone = weakref.ref(theirs)
    a = cuda.as_device_array(theirs)
    add_one(a)
    cuda.synchronize()
    driver.set(hold=1)
    stream = cuda.stream()
    add_one[1, 32, stream](a)
    del a, theirs
    gc.collect()
    assert gone() is not None
    driver.set(hold=0)
    stream.synchronize()
    done = threading.Event()
    stream.add_callback(lambda *_: done.set())
    assert done.wait(10)
    gc.collect()
    assert gone() is None


@on_fake()
def test_our_interface_tells_a_stream_that_has_the_values():
    a = cuda.zeros(10)
    assert a.__cuda_array_interface__["stream"] == 1
    stream = cuda.stream()
    with stream:
        assert a.__cuda_array_interface__["stream"] == stream.handle
        b = cuda.zeros(5)
    cuda.synchronize()
    driver.set(hold=1)
    with stream:
        b._fill_bytes(1)
    before = waits()
    assert b.__cuda_array_interface__["stream"] == 1
    assert waits() > before
    driver.set(hold=0)
    cuda.synchronize()


@on_fake()
def test_memory_that_was_handed_out_goes_back_after_all_work():
    a = cuda.zeros(10)
    a.__cuda_array_interface__
    cuda.synchronize()
    home = cuda.stream()
    with home:
        b = cuda.zeros(10)
    b.__dlpack__(stream=-1)
    cuda.synchronize()
    events = driver.get("calls:cuEventRecord")
    before = waits()
    del b
    assert driver.get("calls:cuEventRecord") > events and waits() > before
    with home:
        c = cuda.zeros(10)
    cuda.synchronize()
    before = waits()
    del c
    assert waits() == before


@on_fake()
def test_dlpack_streams():
    a = cuda.zeros(10)
    assert a.__dlpack_device__() == (2, 0)
    ours = cuda.stream()
    for stream in (None, -1, 1, 2, ours.handle):
        assert "dltensor" in repr(a.__dlpack__(stream=stream, max_version=(1, 0)))
    for stream in (0, -2):
        with pytest.raises(ValueError, match=f"stream={stream} means nothing to DLPack"):
            a.__dlpack__(stream=stream)
    np.testing.assert_array_equal(np.from_dlpack(a, device="cpu"), np.zeros(10))
    asked = []

    class Speaker:
        def __dlpack__(self, **wanted):
            asked.append(wanted)
            return a.__dlpack__(**wanted)

        def __dlpack_device__(self):
            return a.__dlpack_device__()

    b = cuda.from_dlpack(Speaker())
    assert b.__cuda_array_interface__["data"] == a.__cuda_array_interface__["data"]
    stream = cuda.stream()
    with stream:
        cuda.from_dlpack(Speaker())
    assert [wanted["stream"] for wanted in asked] == [1, stream.handle]


@on_fake()
def test_streams_of_other_libraries():
    ours = cuda.stream()
    adopted = cuda.Stream(TheirStream(ours.handle))
    assert adopted == ours and hash(adopted) == hash(ours) and adopted.handle == ours.handle
    assert adopted.__cuda_stream__() == (0, ours.handle)
    assert cuda.external_stream(ours.handle) == ours
    assert cuda.Stream(TheirStream(0)).is_default and cuda.Stream(TheirStream(1)).is_default
    for name, value in [
        ("cuda_stream", ours.handle),
        ("ptr", ours.handle),
        ("handle", ctypes.c_void_p(ours.handle)),
    ]:
        assert cuda.Stream(type("Other", (), {name: value})()) == ours
    assert cuda.Stream(type("Numba", (), {"handle": ctypes.c_void_p(None)})()).is_default
    with pytest.raises(TypeError, match="a Stream is wanted, not list"):
        cuda.Stream([])
    with pytest.raises(TypeError, match="a stream's number is an int"):
        cuda.external_stream("1")

    class Newer:
        def __cuda_stream__(self):
            return (7, 1)

    with pytest.raises(TypeError, match="version 7 of __cuda_stream__"):
        cuda.Stream(Newer())


@on_fake()
def test_another_librarys_stream_is_not_destroyed_and_its_object_kept():
    ours = cuda.stream()
    raw, context = ctypes.c_void_p(), ctypes.c_void_p()
    driver.c.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
    driver.c.cuCtxSetCurrent(context)
    assert driver.c.cuStreamCreate(ctypes.byref(raw), 1) == 0
    theirs = TheirStream(raw.value)
    gone = weakref.ref(theirs)
    destroyed = driver.get("calls:cuStreamDestroy")
    adopted = cuda.Stream(theirs)
    del theirs
    gc.collect()
    assert gone() is not None
    a = cuda.zeros(10)
    with adopted:
        a._fill_bytes(1)
    adopted.synchronize()
    del adopted, a
    cuda.synchronize()
    gc.collect()
    for _ in range(500):  # the driver's thread may be the last to hold it
        if gone() is None:
            break
        time.sleep(0.01)
        cuda.synchronize()
        gc.collect()
    assert driver.get("calls:cuStreamDestroy") == destroyed
    assert gone() is None
    assert ours.query()


@on_fake()
def test_default_streams():
    assert cuda.default_stream() == cuda.legacy_default_stream() and cuda.default_stream().handle == 0
    mine = cuda.per_thread_default_stream()
    assert mine.handle == 2 and not mine.is_default
    problems = []

    def elsewhere():
        try:
            mine.synchronize()
        except ValueError as e:
            problems.append(str(e))
        cuda.per_thread_default_stream().synchronize()

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert problems and "a thread's own default stream is used by another thread" in problems[0]
    with mine:
        a = cuda.zeros(3)
    assert not a.copy_to_host().any()


@on_fake()
def test_a_kernel_takes_another_librarys_stream():
    add_one = kernel()
    a, ours = cuda.zeros(10), cuda.stream()
    add_one[1, 32, TheirStream(ours.handle)](a)
    ours.synchronize()
    assert driver.get("launches") == 1
    with pytest.raises(TypeError, match="a Stream is wanted"):
        add_one[1, 32, []]
    with pytest.raises(TypeError, match="must be a Stream"):
        add_one[1, 32, 5]


@on_fake()
def test_a_graph_is_one_call_of_the_driver():
    add_one = kernel()
    a, b, host = cuda.zeros(10), cuda.zeros(10), cuda.pinned_array(10)
    add_one(a)
    cuda.synchronize()
    before = driver.get("launches")
    with cuda.graph() as g:
        for _ in range(20):
            add_one[1, 32](a)
        b.copy_to_device(a)
        a.copy_to_host(host)
    cuda.synchronize()
    assert driver.get("launches") == before
    host[:] = 5
    for _ in range(3):
        g()
    cuda.synchronize()
    assert driver.get("launches") == before + 60 and driver.get("calls:cuGraphLaunch") == 3
    assert not host.any()
    graphs = driver.get("graphs")
    del g
    gc.collect()
    cuda.synchronize()
    assert driver.get("graphs") == graphs - 1


@on_fake()
def test_faults_in_a_graph_are_told_once_and_by_name():
    need_nvrtc()

    @cuda.kernel
    def beyond(a):
        a[cuda.grid(1)] = 1

    a, longer = cuda.zeros(1000), cuda.zeros(2000)
    with cuda.graph() as g:
        beyond[4, 256](longer)
        beyond[4, 256](a)
    driver.set(fault_kind=1, fault_index=3000, fault_length=2000, fault_site=0)
    stream = cuda.stream()
    g.launch(stream)
    with pytest.raises(IndexError, match=r"index 3000 is out of range .* with shape \(2000,\)"):
        stream.synchronize()
    g.launch(stream)
    stream.synchronize()
    cuda.synchronize()


@on_fake()
def test_interrupted_graphs_run_again():
    add_one = kernel()
    a = cuda.zeros(10)
    with cuda.graph() as g:
        add_one[1, 32](a)
    g()
    cuda.synchronize()
    assert driver.get("launches") == 1
    g()
    cuda.synchronize()
    assert driver.get("launches") == 2


@on_fake()
def test_pinned_copies_go_on():
    stream = cuda.stream()
    host, out = cuda.pinned_array(100), cuda.pinned_array(100)
    host[:] = 4
    a = cuda.zeros(100)
    cuda.synchronize()
    driver.set(hold=1)
    a.copy_to_device(host, stream=stream)
    a.copy_to_host(out, stream=stream)
    del host
    gc.collect()
    assert not stream.query()
    driver.set(hold=0)
    stream.synchronize()
    assert (out == 4).all()
    allocated = driver.get("host_allocations")
    del out
    gc.collect()
    assert driver.get("host_allocations") < allocated


@on_fake("devices=3")
def test_copies_between_gpus():
    host = np.arange(100.0)
    a = cuda.to_device(host)
    with cuda.Device(1):
        b = cuda.empty(100)
        stream = cuda.stream()
    assert b.device.label == "cuda:1"
    b.copy_to_device(a)
    np.testing.assert_array_equal(b.copy_to_host(), host)
    b.copy_to_device(cuda.zeros(100), stream=stream)
    stream.synchronize()
    assert not b.copy_to_host().any()
    assert driver.get("calls:cuMemcpyPeerAsync") == 2
    b[::2] = a[::2]  # strided: through the host
    np.testing.assert_array_equal(b.copy_to_host()[::2], host[::2])
    moved = cuda.from_dlpack(a, device=2)
    assert moved.device.label == "cuda:2"
    np.testing.assert_array_equal(moved.copy_to_host(), host)


@on_fake("devices=2")
def test_arrays_of_two_gpus_are_refused_by_name():
    need_nvrtc()

    @cuda.kernel
    def copy(out, a):
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i] = a[i]

    a = cuda.zeros(10)
    with cuda.Device(1):
        b = cuda.zeros(10)
        stream = cuda.stream()
    with pytest.raises(ValueError, match="'a' lives on .*, other arguments on"):
        copy(b, a)
    with pytest.raises(ValueError, match="'a' lives on .*, other arguments on"):
        copy(b, Theirs(a))
    copy(b, Theirs(b))
    assert copy.last_launch["device"] == "cuda:1"
    with pytest.raises(ValueError, match="the stream is one of"):
        copy[1, 32, stream](a, a)
    assert cuda.Stream(TheirStream(stream.handle)).device_label == "cuda:1"


@on_fake("version=12020")
def test_an_older_driver_has_all_that_is_needed():
    assert _runtime.device_labels()[0] == "cuda:0"
    a = cuda.zeros(3)
    a.__cuda_array_interface__
    del a
    cuda.synchronize()


@on_fake()
def test_a_bound_launch_on_a_gpu():
    add_one = kernel()
    a = cuda.zeros(10)
    f = add_one.bind(1, 32, a)
    for _ in range(5):
        f()
    stream = cuda.stream()
    add_one.bind(1, 32, Theirs(a, stream=stream.handle))()
    host = np.zeros(10)
    add_one.bind(1, 32, host)()
    cuda.synchronize()
    assert driver.get("launches") == 7
    assert len({(grid, block) for _, grid, block, *_ in driver.launches()}) == 1


@on_fake()
def test_events_of_order_are_not_made_for_each_thread_nor_kept_where_a_stream_refuses_them():
    add_one = kernel()
    held, theirs = cuda.zeros(10), cuda.stream()
    array = Theirs(held, stream=theirs.handle)
    add_one[1, 32](array)
    cuda.synchronize()
    gc.collect()
    made, living = driver.get("calls:cuEventCreate"), driver.get("events")

    def launch():
        add_one[1, 32](array)
        cuda.synchronize()

    for _ in range(10):  # each thread ends before the next begins, and has no context current then
        thread = threading.Thread(target=launch)
        thread.start()
        thread.join()
    assert driver.get("calls:cuEventCreate") - made <= 2 and driver.get("events") - living <= 2
    driver.fail("cuStreamWaitEvent", 400)  # invalid handle
    with pytest.raises(Exception, match="another library's stream"):
        add_one[1, 32](array)
    gone = driver.get("calls:cuEventDestroy")
    assert gone >= 1
    launch()
    assert driver.get("events") - living <= 2
