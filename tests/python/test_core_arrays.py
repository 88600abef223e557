"""Device arrays against NumPy: making, slicing, reshaping, copying, memory."""

import gc
import pickle

import numpy as np
import pytest
import xcuda.core as cuda
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

DTYPES = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (5,), (3, 4), (2, 0, 3), (2, 3, 4)])
def test_round_trip(dtype, shape):
    values = (np.arange(np.prod(shape, dtype=int)) % 7).reshape(shape).astype(dtype)
    there = cuda.to_device(values)
    assert (there.shape, there.dtype) == (values.shape, values.dtype)
    assert there.strides == values.strides or not values.size
    assert (there.size, there.nbytes, there.ndim) == (values.size, values.nbytes, values.ndim)
    back = there.copy_to_host()
    assert back.dtype == values.dtype
    np.testing.assert_array_equal(back, values)


@pytest.mark.parametrize("dtype", ["clongdouble", "datetime64[25s]", "O", "S3"])
def test_dtypes_it_can_not_hold_are_named(dtype):
    with pytest.raises(TypeError, match="device arrays can't hold"):
        cuda.to_device(np.zeros(2, dtype))


def test_making():
    np.testing.assert_array_equal(cuda.zeros((2, 3), np.int32).copy_to_host(), np.zeros((2, 3), np.int32))
    np.testing.assert_array_equal(cuda.ones(3).copy_to_host(), np.ones(3))
    assert cuda.full(3, 2).dtype == np.int64
    assert cuda.full((2,), 2.5, np.float32).copy_to_host().tolist() == [2.5, 2.5]
    like = np.empty((4, 5), np.uint16)
    for made in (
        cuda.empty_like(like),
        cuda.device_array_like(like),
        cuda.zeros_like(like),
        cuda.ones_like(like),
    ):
        assert (made.shape, made.dtype) == (like.shape, like.dtype)
    assert cuda.device_array(7).dtype == np.float64
    assert cuda.device_array((2, 3), dtype=cuda.float32).dtype == np.float32
    with pytest.raises(ValueError, match="can't be negative: -1"):
        cuda.empty(-1)
    with pytest.raises(MemoryError):
        cuda.empty((2**40, 2**40))
    with pytest.raises(MemoryError):
        cuda.empty(2**50)


def keys(shape):
    def axis(n):
        slices = st.builds(
            slice,
            st.none() | st.integers(-n - 2, n + 2),
            st.none() | st.integers(-n - 2, n + 2),
            st.none() | st.sampled_from([1, 2, 3, -1, -2]),
        )
        return slices | (st.integers(-n, n - 1) if n else slices)

    full = st.tuples(*(axis(n) for n in shape))
    return full.flatmap(lambda k: st.integers(0, len(k)).map(lambda m: k[:m])) | full.map(
        lambda k: (*k[:1], None, Ellipsis, *k[2:])
    )


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_views_are_numpys(data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, max_side=6))
    values = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    key = data.draw(keys(shape))
    there, expected = cuda.to_device(values), values[key]
    found = there[key]
    if isinstance(expected, np.ndarray):
        assert found.shape == expected.shape
        np.testing.assert_array_equal(found.copy_to_host(), expected)
        found[...] = -1
        expected[...] = -1
        np.testing.assert_array_equal(there.copy_to_host(), values)
    else:
        assert found == expected and type(found) is type(expected)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_reshape_is_numpys_and_copies_only_where_it_must(data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, max_side=4))
    values = np.arange(np.prod(shape)).reshape(shape)
    flip = tuple(slice(None, None, data.draw(st.sampled_from([1, -1]))) for _ in shape)
    order = data.draw(st.permutations(range(len(shape))))
    values = values[flip].transpose(order)
    there = cuda.to_device(values.transpose(np.argsort(order))[flip])[flip].transpose(order)
    new = data.draw(st.sampled_from([(-1,), (values.size,), (1, -1), values.shape[::-1], (values.size, 1)]))
    np.testing.assert_array_equal(there.reshape(new).copy_to_host(), values.reshape(new))
    shares = np.shares_memory(values.reshape(new), values) and values.size > 1
    if shares:
        there.reshape(new)[...] = -5
        assert (there.copy_to_host() == -5).all()


def test_indexing_faults():
    a = cuda.zeros((3, 4))
    with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 with size 3"):
        a[3]
    with pytest.raises(IndexError, match="too many indices for an array of 2 dimensions: 3"):
        a[0, 0, 0]
    with pytest.raises(TypeError, match="indexed by ints, slices"):
        a[[0, 1]]
    with pytest.raises(ValueError, match=r"shape \(3,\) don't fit into an array of shape \(3, 4\)"):
        a[...] = [1, 2, 3]
    with pytest.raises(ValueError, match=r"12 elements can't have the shape \(5, 2\)"):
        a.reshape(5, 2)


def test_assigning_broadcasts_and_converts():
    expected = np.zeros((3, 4), np.float32)
    there = cuda.to_device(expected)
    for key, value in [((1,), 5), ((slice(None), 0), [7, 8, 9]), ((2, 3), 1.5), ((slice(None, None, 2),), 3)]:
        expected[key] = value
        there[key] = value
    np.testing.assert_array_equal(there.copy_to_host(), expected)
    there[:, 1] = there[:, 0]
    expected[:, 1] = expected[:, 0]
    np.testing.assert_array_equal(there.copy_to_host(), expected)


def test_copies_to_an_array_that_is_there():
    there = cuda.to_device(np.arange(6.0).reshape(2, 3))
    out = np.zeros((2, 3))
    assert there.copy_to_host(out) is out and out[1, 2] == 5
    with pytest.raises(ValueError, match=r"'out' has shape \(3, 2\), the array has \(2, 3\)"):
        there.copy_to_host(np.zeros((3, 2)))
    with pytest.raises(TypeError, match="'out' is of float32, the array of float64"):
        there.copy_to_host(np.zeros((2, 3), np.float32))
    other = cuda.zeros((2, 3))
    other.copy_to_device(there.T.T)
    np.testing.assert_array_equal(other.copy_to_host(), out)
    assert cuda.to_device(np.ones((2, 3)), to=other) is other and other[0, 0] == 1


def test_numpy_and_python_protocols():
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    there = cuda.to_device(values)
    np.testing.assert_array_equal(np.asarray(there), values)
    assert np.asarray(there, dtype=np.float64).dtype == np.float64
    assert len(there) == 2 and bool(cuda.to_device(np.ones(1))) and cuda.full(1, 7).item() == 7
    assert [row.copy_to_host().tolist() for row in there] == values.tolist()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(there)).copy_to_host(), values)
    np.testing.assert_array_equal(there.view(np.uint32).copy_to_host(), values.view(np.uint32))
    np.testing.assert_array_equal(there.view(np.int16).copy_to_host(), values.view(np.int16))
    assert there.astype(int).dtype == np.int64
    assert "2x3 float32 on " in repr(there) and "strides" in repr(there.T)


def test_memory_goes_back_with_the_last_view():
    gc.collect()
    device = cuda.get_current_device()
    before = device.memory()["used"]
    view = cuda.zeros(100_000)[::2]
    assert device.memory()["used"] >= before + 800_000
    view = view.reshape(-1, 2)
    assert device.memory()["used"] >= before + 800_000
    del view
    gc.collect()
    assert device.memory()["used"] == before


@pytest.mark.skipif(
    cuda.get_current_device().kind != "cpu", reason="host memory in place is the CPU device's"
)
def test_numpy_sees_the_cpu_devices_memory_in_place():
    there = cuda.zeros((2, 3))
    seen = np.asarray(there)
    seen[1, 2] = 9
    assert there[1, 2] == 9
    dlpack = np.from_dlpack(there)
    there[0, 0] = 4
    assert dlpack[0, 0] == 4
    del there
    gc.collect()
    assert seen[1, 2] == 9  # the view keeps the memory
