"""Copies to devices that can't see host memory, leaks, and large index spaces (CASES 9, 11, 25, 39)."""

import gc
import sys
import weakref

import numpy as np
import pytest
import xcuda.core as cuda
from xcuda import _runtime


@cuda.kernel
def add_one(a, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = a[i] + 1


@cuda.kernel
def beyond(a):
    i = cuda.grid(1)
    a[i + 1000] = 1


@pytest.fixture(params=[False, True], ids=["in place", "copied"])
def copies(request):
    """Host arrays used in place where the device sees them, and as on a device that does not."""
    if not request.param and cuda.Device().kind != "cpu":
        pytest.skip("a GPU sees no host memory in place")
    before = _runtime.force_copies(request.param)
    yield request.param
    _runtime.force_copies(before)


def test_host_arrays(copies):
    a, out = np.arange(1000, dtype=np.float32), np.zeros(1000, np.float32)
    add_one(a, out)
    np.testing.assert_array_equal(out, a + 1)
    add_one(a[::-1], out[::2][:500])
    np.testing.assert_array_equal(out[::2][:500], (a[::-1] + 1)[:500])
    np.testing.assert_array_equal(out[1::2], (a + 1)[1::2])


def copied_by(call):
    """The copies of host arrays that a call makes: [(kind, bytes)]."""
    mark = _runtime.profile_mark()
    call()
    return [(kind, size) for kind, size in _runtime.events_since(mark) if kind.startswith("copy")]


def test_only_what_is_written_comes_back(copies):
    a, out = np.arange(10.0), np.zeros(20, np.float32)
    expected = [("copy_in", 80), ("copy_in", 40), ("copy_out", 40)]
    made = copied_by(lambda: add_one(a, out[:10]))
    assert sorted(made) == (expected[1:2] + expected[:1] + expected[2:] if copies else [])
    there = cuda.to_device(a)
    assert copied_by(lambda: add_one(there, there)) == []


def test_overlapping_arguments_are_one_memory(copies):
    base = np.arange(64, dtype=np.float32)
    expected = base.copy()
    expected[32:] = base[:32] + 1
    add_one(base[:32], base[32:])
    np.testing.assert_array_equal(base, expected)
    add_one(base, base)
    np.testing.assert_array_equal(base, expected + 1)

    @cuda.kernel
    def swap(a, b):
        i = cuda.grid(1)
        if i < a.shape[0]:
            t = a[i]
            a[i] = b[i]
            b[i] = t

    base = np.arange(10.0)
    swap(base[0::2], base[1::2])
    assert base.tolist() == [1, 0, 3, 2, 5, 4, 7, 6, 9, 8]


def test_a_failed_launch_leaves_other_memory_alone(copies):
    a, other = np.arange(10.0), np.arange(10.0)
    with pytest.raises(IndexError):
        beyond(a)
    assert a.tolist() == other.tolist()


def test_async_with_copies(copies):
    import asyncio

    out = np.zeros(4, ">f8")

    async def main():
        with cuda.stream():
            assert await add_one.async_call(np.arange(4.0), out) is out

    asyncio.run(main())
    assert out.tolist() == [1, 2, 3, 4]


def test_memory_is_back_after_a_failed_launch(copies):
    gc.collect()
    before = cuda.Device().memory()["used"]
    a = cuda.zeros(100_000)
    host = np.zeros(10)
    for array in (a, host):
        with pytest.raises(IndexError):
            beyond[400, 256](array)
            cuda.synchronize()  # a GPU tells of arrays that live on it when they are waited for
    del a, array
    sys.last_traceback = None
    gc.collect()
    assert cuda.Device().memory()["used"] == before


def test_nothing_is_kept_after_a_launch(copies):
    a, out = np.zeros(10), np.zeros(10)
    counts = [sys.getrefcount(x) for x in (a, out)]
    for _ in range(10):
        add_one(a, out)
        with pytest.raises(IndexError):
            beyond(a)
    assert [sys.getrefcount(x) for x in (a, out)] == counts
    held = bytearray(80)
    add_one(np.frombuffer(held), out)
    add_one(memoryview(held).cast("d"), out)
    gc.collect()
    held.extend(b"more")  # a bytearray whose memory is still exported can't grow
    assert _runtime.in_flight_count() == 0


def test_kernels_go_when_nobody_holds_them():
    def make():
        @cuda.kernel
        def k(out):
            out[0] = 1

        k[1, 1](np.zeros(1))
        return weakref.ref(k)

    gone = make()
    gc.collect()
    assert gone() is None


def test_grids_beyond_32_bits():
    @cuda.kernel
    def last(out, first):
        i = cuda.grid(1)
        if i >= first:
            out[i - first] = i

    blocks, threads = 22121216, 256
    out = np.zeros(4, np.int64)
    last[blocks, threads](out, blocks * threads - 4)
    assert out.tolist() == [5663031292, 5663031293, 5663031294, 5663031295]


def test_reversed_and_empty_device_views():
    there = cuda.to_device(np.arange(4))
    assert there[::-1].shape == (4,) and there[::-1][0] == 3 and there[slice(-3, 3)][0] == 1
    assert there[::-2].copy_to_host().tolist() == [3, 1] and there[0:0].shape == (0,)
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        there[::0]
    view = np.arange(12).reshape(3, 4).T[::-1]
    seen = cuda.to_device(np.arange(12).reshape(3, 4)).T[::-1]
    assert (seen.shape, seen.strides) == ((4, 3), (-8, 32)) and seen[0].copy_to_host().tolist() == view[
        0
    ].tolist()
