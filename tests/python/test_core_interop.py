"""Other libraries' arrays in and ours out, without a copy. What a GPU's libraries do is in test_cuda_libraries.py."""

import array
import ctypes
import gc
import weakref

import numpy as np
import pytest
import xcuda.core as cuda
from xcuda.core.signatures import types_from

on_cpu = cuda.Device().kind == "cpu"
cpu_only = pytest.mark.skipif(not on_cpu, reason="host memory is the device's on the CPU device only")


@cuda.kernel
def add_one(a):
    i = cuda.grid(1)
    if i < a.shape[0]:
        a[i] += 1


@cuda.kernel
def copy(out, a):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = a[i]


class Legacy:
    """An array that speaks DLPack from before its versions, and nothing else."""

    def __init__(self, array, **told):
        self.array, self.asked = array, []
        self.device = told.get("device", (1, 0))

    def __dlpack__(self, **wanted):
        self.asked.append(wanted)
        if "max_version" in wanted:
            raise TypeError("unexpected keyword argument 'max_version'")
        return self.array.__dlpack__(**wanted)

    def __dlpack_device__(self):
        return self.device


class Versioned(Legacy):
    def __dlpack__(self, **wanted):
        self.asked.append(wanted)
        return self.array.__dlpack__(**wanted)


class CudaArray:
    """What `__cuda_array_interface__` says is up to the test."""

    def __init__(self, **told):
        self.told = {"version": 3, "shape": (3,), "typestr": "<f8", "data": (4096, False)} | told

    @property
    def __cuda_array_interface__(self):
        return self.told


@pytest.mark.parametrize("speaker", [Legacy, Versioned])
def test_dlpack_in_host_memory_is_written_in_place(speaker):
    held = np.arange(6.0)
    add_one(speaker(held))
    cuda.synchronize()
    np.testing.assert_array_equal(held, np.arange(6.0) + 1)
    strided = np.arange(12.0).reshape(3, 4)
    add_one(speaker(strided[:, 1]))
    cuda.synchronize()
    assert list(strided[:, 1]) == [2, 6, 10]
    assert list(strided[:, 2]) == [2, 6, 10]


def test_read_only_dlpack_is_not_written():
    held = np.arange(6.0)
    held.flags.writeable = False
    out = np.zeros(6)
    copy(out, Versioned(held))
    np.testing.assert_array_equal(out, held)
    with pytest.raises(ValueError, match="'a' is read-only, and add_one writes to it"):
        add_one(Versioned(held))


@pytest.mark.parametrize(
    "thing, error, words",
    [
        (Legacy(np.zeros(3), device=(7, 0)), TypeError, r"'a' \(Legacy\) lives on a device of another kind"),
        (CudaArray(typestr="<V2"), TypeError, "elements of type <V2"),
        (Versioned(np.zeros((1,) * 9)), ValueError, "9 dimensions; kernels take arrays of at most 8"),
        (CudaArray(mask=np.zeros(3, bool)), TypeError, "has a mask, which kernels don't see"),
        (CudaArray(typestr=">f8"), TypeError, r"another byte order than the machine \(>f8\)"),
        (CudaArray(typestr="|V6"), TypeError, r"elements of type \|V6"),
        (CudaArray(typestr=None), TypeError, "tells no element type"),
        (CudaArray(shape=None), TypeError, "without a tuple 'shape' or 'data'"),
        (CudaArray(strides=(8, 8)), TypeError, "'strides' that don't fit its shape"),
        (CudaArray(strides=(12,)), ValueError, "a stride of 12 bytes, no multiple of its element size"),
        (CudaArray(data=(4100, False)), ValueError, "does not begin at a multiple of its element size"),
        (CudaArray(stream=0), ValueError, "names the stream 0, which is ambiguous"),
        (CudaArray(shape=("x",)), TypeError, "a length in its __cuda_array_interface__ is no int"),
    ],
)
def test_what_can_not_be_passed_is_told(thing, error, words):
    with pytest.raises(error, match=words):
        add_one(thing)
    a = np.zeros(3)
    add_one(a)
    assert (a == 1).all()


@pytest.mark.skipif(
    any(d.kind == "cuda" for d in cuda.devices()), reason="there is a GPU here, where it could live"
)
def test_an_array_on_a_gpu_needs_one():
    with pytest.raises(TypeError, match=r"'a' lives on a GPU \(CudaArray\), and this launch runs on the CPU"):
        add_one(CudaArray())
    with pytest.raises(TypeError, match="'a' .* lives on a GPU, and this launch runs on the CPU device"):
        add_one(Legacy(np.zeros(3), device=(2, 0)))


class Tensor(Versioned):
    """torch's: its dtype is no NumPy dtype, its strides a method."""

    dtype, shape = "float32 of its own", (6,)

    def stride(self):
        return (1,)


HELD = np.arange(6, dtype="f")


@pytest.mark.parametrize(
    "given", [Tensor(HELD), Legacy(HELD), memoryview(HELD), array.array("f", HELD), (ctypes.c_float * 6)()]
)
def test_examples_are_read_as_a_launch_reads_them(given):
    """Types from arguments, compilation and reports know every array that a call takes."""
    assert types_from((given, 3)) == types_from((HELD, 3))
    assert copy.compile((HELD, given))["signature"] == copy.compile((HELD, HELD))["signature"]
    out = np.zeros(6, "f")
    copy(out, given)
    assert list(out) == list(np.asarray(given) if isinstance(given, ctypes.Array) else HELD)


def test_examples_with_gaps_and_of_other_kinds():
    wide = np.zeros((4, 6), "i2")
    for seen in (wide, wide[:, ::2], wide[:, 1:], wide.T, wide[:0], wide[0, 0]):
        assert types_from((Tensor(seen) if seen.ndim else seen,)) == types_from((seen,))
    with pytest.raises(TypeError, match="is no dtype"):
        types_from(([1, 2],))


def test_an_object_may_have_the_interface_for_some_arrays_only():
    class Either:
        def __init__(self, array):
            self.array = array

        @property
        def __cuda_array_interface__(self):
            raise AttributeError("not on a GPU")

        def __dlpack__(self, **wanted):
            return self.array.__dlpack__(**wanted)

        def __dlpack_device__(self):
            return (1, 0)

    a = np.zeros(3)
    add_one(Either(a))
    assert (a == 1).all()


@cpu_only
@pytest.mark.parametrize("speaker", [Legacy, Versioned])
def test_a_device_array_over_others_memory_keeps_it(speaker):
    held = np.arange(6.0)
    gone = weakref.ref(held)
    theirs = speaker(held)
    a = cuda.as_device_array(theirs)
    add_one(a)
    assert held[5] == 6
    view = a[2:]
    del held, theirs, a
    gc.collect()
    assert gone() is not None
    add_one(view)
    assert list(view.copy_to_host()) == [4, 5, 6, 7]
    del view
    gc.collect()
    assert gone() is None


@cpu_only
def test_others_memory_stays_until_the_work_on_it_is_done():
    held = np.zeros(200_000)
    gone = weakref.ref(held)
    stream = cuda.stream()
    with stream:
        a = cuda.from_dlpack(held)
        for _ in range(20):
            add_one(a)
    out = cuda.zeros(200_000)
    with stream:
        copy(out, a)
    del held, a
    stream.synchronize()
    assert (out.copy_to_host() == 20).all()
    cuda.synchronize()
    gc.collect()
    assert gone() is None


@cpu_only
def test_read_only_memory_stays_so():
    held = np.arange(3.0)
    held.flags.writeable = False
    a = cuda.from_dlpack(held)
    assert a.flags["WRITEABLE"] is False
    with pytest.raises(ValueError, match="'a' is read-only, and add_one writes to it"):
        add_one(a)
    with pytest.raises(ValueError, match="the array is read-only"):
        a[:] = 1
    assert not np.asarray(a).flags.writeable
    with pytest.raises(BufferError, match="read-only, which DLPack before 1.0 can't tell"):
        a.__dlpack__()
    assert not np.from_dlpack(a).flags.writeable
    assert a.copy().flags["WRITEABLE"]


def test_from_dlpack_copies_when_asked():
    host = np.arange(4.0)
    made = cuda.from_dlpack(host, copy=True)
    host[:] = 0
    assert list(made.copy_to_host()) == [0, 1, 2, 3]
    ours = cuda.to_device(np.arange(3))
    assert cuda.from_dlpack(ours) is ours
    assert cuda.from_dlpack(ours, copy=True) is not ours
    assert cuda.from_dlpack(ours, device=cuda.Device()) is ours
    with pytest.raises(TypeError, match="list has no __dlpack__"):
        cuda.from_dlpack([1])
    with pytest.raises(TypeError, match="is no array of another library"):
        cuda.as_device_array([1])
    assert cuda.as_cuda_array(ours) is ours


def test_ours_out_by_dlpack():
    a = cuda.to_device(np.arange(12.0).reshape(3, 4))
    where = a.__dlpack_device__()
    assert where == ((1, 0) if on_cpu else (2, cuda.Device().ordinal))
    assert "dltensor_versioned" in repr(a.__dlpack__(max_version=(1, 1)))
    assert '"dltensor"' in repr(a.__dlpack__(max_version=(0, 8))) and '"dltensor"' in repr(a.__dlpack__())
    host = np.from_dlpack(a) if on_cpu else np.from_dlpack(a, device="cpu")
    np.testing.assert_array_equal(host, np.arange(12.0).reshape(3, 4))
    with pytest.raises(BufferError, match="lives on DLPack's device"):
        a.__dlpack__(dl_device=(10, 0))
    back = cuda.from_dlpack(Versioned(a.T, device=where))
    assert back.strides == a.T.strides and back.shape == (4, 3)
    np.testing.assert_array_equal(back.copy_to_host(), np.arange(12.0).reshape(3, 4).T)
    old = cuda.from_dlpack(Legacy(a[1:, ::2], device=where))
    np.testing.assert_array_equal(old.copy_to_host(), np.arange(12.0).reshape(3, 4)[1:, ::2])


def test_handed_out_memory_outlives_our_array():
    before = cuda.Device().memory()["used"]
    a = cuda.to_device(np.arange(1000.0))
    theirs = cuda.from_dlpack(Versioned(a, device=a.__dlpack_device__()))
    del a
    gc.collect()
    assert theirs.copy_to_host()[999] == 999
    del theirs
    gc.collect()
    cuda.synchronize()
    assert cuda.Device().memory()["used"] <= before


def test_capsules_that_nobody_takes_are_freed():
    before = cuda.Device().memory()["used"]
    a = cuda.zeros(1000)
    for _ in range(10):
        a.__dlpack__(max_version=(1, 0))
        a.__dlpack__()
    del a
    gc.collect()
    cuda.synchronize()
    assert cuda.Device().memory()["used"] <= before


@cpu_only
def test_the_cpu_device_has_no_cuda_interface():
    a = cuda.zeros(3)
    assert not hasattr(a, "__cuda_array_interface__")
    with pytest.raises(ValueError, match="has no stream"):
        a.__dlpack__(stream=1)


def test_torch_tensors_on_the_host():
    torch = pytest.importorskip("torch", reason="torch is not installed here")
    t = torch.arange(6, dtype=torch.float64)
    add_one(t)
    cuda.synchronize()
    assert t.tolist() == [1, 2, 3, 4, 5, 6]
    if on_cpu:
        a = cuda.from_dlpack(t)
        add_one(a)
        assert t[0] == 2
        assert torch.from_dlpack(cuda.to_device(np.arange(3.0))).tolist() == [0, 1, 2]
    with pytest.raises((TypeError, ValueError), match="gradient|grad"):
        add_one(torch.zeros(3, requires_grad=True, dtype=torch.float64))


def test_jax_arrays_are_read():
    jax = pytest.importorskip("jax", reason="JAX is not installed here")
    a = jax.numpy.arange(6, dtype="float32")
    out = np.zeros(6, np.float32)
    copy(out, a)
    np.testing.assert_array_equal(out, np.arange(6))
    with pytest.raises(ValueError, match="'a' .*, and add_one writes to it"):
        add_one(a)
