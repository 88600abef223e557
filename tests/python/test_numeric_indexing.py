"""Keys of integers, slices, masks and index arrays in any mixture: reads, writes and errors are NumPy's."""

import os

import numpy
import pytest
import xcuda.numeric as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numeric_calls import WAYS, no_fallback, outcome, same_call, to_ours  # noqa: F401

EXAMPLES = int(os.environ.get("XCUDA_EXAMPLES", "100"))
SHAPES = [(5,), (4, 5), (3, 4, 5), (2, 3, 4, 3), (6, 2), (1, 3), (0, 3), ()]
VIEWS = [lambda a: a, lambda a: a[::-1], lambda a: a.T, lambda a: a[..., ::2], lambda a: a[None]]

pytestmark = pytest.mark.usefixtures("no_fallback")


@st.composite
def keys(draw, shape):
    """A key for an array of the shape, now and then out of its range."""
    together = draw(st.sampled_from([(), (1,), (3,), (2, 1), (2, 3), (0,)]))
    key, axis, ellipsis = [], 0, False
    while axis < len(shape):
        n = shape[axis]
        kind = draw(st.sampled_from(["new", "...", "slice", "int", "mask", "bool", *["array"] * 5, "end"]))
        if kind == "new":
            key.append(None)
        elif kind == "..." and not ellipsis:
            key.append(...)
            ellipsis = True
            axis += draw(st.integers(0, len(shape) - axis))
        elif kind == "slice" or not n and kind in ("int", "array"):
            part = st.sampled_from([None, 0, 1, -2, 5])
            key.append(slice(draw(part), draw(part), draw(st.sampled_from([None, 1, -1, 2]))))
            axis += 1
        elif kind == "int":
            key.append(draw(st.integers(-n, n - 1)))
            axis += 1
        elif kind == "mask":
            ndim = draw(st.integers(1, min(2, len(shape) - axis)))
            size = int(numpy.prod(shape[axis : axis + ndim]))
            mask = draw(st.lists(st.booleans(), min_size=size, max_size=size))
            key.append(numpy.array(mask, bool).reshape(shape[axis : axis + ndim]))
            axis += ndim
        elif kind == "bool":
            key.append(draw(st.booleans()))
        elif kind == "array":
            index = draw(st.sampled_from([together, together[-1:], (1,)]))
            size = int(numpy.prod(index))
            beyond = draw(st.integers(0, 15)) == 15
            values = draw(st.lists(st.integers(-n, n - 1 + beyond), min_size=size, max_size=size))
            dtype = draw(st.sampled_from(["i8", "i4", "i1"]))
            array = numpy.array(values, dtype).reshape(index)
            key.append(array.tolist() if array.ndim and draw(st.integers(0, 4)) == 4 else array)
            axis += 1
        elif kind == "end" and key and not ellipsis:
            break
    return key[0] if len(key) == 1 and draw(st.booleans()) else tuple(key)


@st.composite
def programs(draw):
    view = draw(st.sampled_from(VIEWS))
    host = numpy.arange(numpy.prod(shape := draw(st.sampled_from(SHAPES))), dtype=float).reshape(shape)
    if not host.ndim and view is not VIEWS[0]:
        host = host.reshape(1)
    key = draw(keys(view(host).shape))
    return host, view, key, draw(st.integers(0, 4)), draw(st.sampled_from(sorted(WAYS)))


def ours_of(key):
    return tuple(map(to_ours, key)) if isinstance(key, tuple) else to_ours(key)


def values_for(shape, choice):
    """Values of the selection's shape, of one that broadcasts to it, or of one that doesn't."""
    numbers = -1.0 - numpy.arange(numpy.prod(shape))
    return [
        7.5,
        numbers.reshape(shape),
        numbers.reshape(shape)[..., :1] if shape else 3,
        numbers.reshape(shape).astype("i4")[None],
        numpy.ones(9),
    ][choice]


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    database=None,
)
@given(programs())
def test_reads_and_writes(program):
    host, view, key, choice, way = program
    with WAYS[way]():
        ours = np.array(host)
        want, error = outcome(lambda: view(host)[key], (), {})
        got, our_error = outcome(lambda: view(ours)[ours_of(key)].get(), (), {})
        assert (type(our_error), str(our_error)) == (type(error), str(error))
        if error is not None:
            return
        numpy.testing.assert_array_equal(got, want)
        assert (got.shape, got.dtype) == (numpy.shape(want), host.dtype)
        value = values_for(numpy.shape(want), choice)

        def write(array, key, value):
            array[key] = value

        if numpy.size(want) or choice < 4:  # of nothing, NumPy takes values of any shape
            _, error = outcome(write, (view(host), key, value), {})
            _, our_error = outcome(write, (view(ours), ours_of(key), to_ours(value)), {})
            assert (type(our_error), str(our_error)) == (type(error), str(error))
        numpy.testing.assert_array_equal(ours.get(), host)

        def add(array, key, value):
            array[key] += value

        outcome(add, (view(host), key, 2), {})
        outcome(add, (view(ours), ours_of(key), 2), {})
        numpy.testing.assert_array_equal(ours.get(), host)


@pytest.mark.parametrize("way", WAYS)
def test_the_last_write_stays(way):
    host = numpy.zeros(50)
    index = numpy.random.default_rng(0).integers(0, 50, 4000)
    with WAYS[way]():
        ours = np.array(host)
        ours[np.array(index)] = np.arange(4000.0)
        host[index] = numpy.arange(4000.0)
        numpy.testing.assert_array_equal(ours.get(), host)
        ours[np.array([3, 3, 3])] += 1
        assert ours[3].item() == host[3] + 1


@pytest.mark.parametrize("way", WAYS)
def test_a_write_takes_what_was_there_before(way):
    """The values, the index and lazy readers are of the time before the write."""
    with WAYS[way]():
        a = np.arange(6.0)
        before = a * 2
        a[np.array([0, 1, 2])] = a[::-1][:3]
        numpy.testing.assert_array_equal(a.get(), [5, 4, 3, 3, 4, 5])
        numpy.testing.assert_array_equal(before.get(), [0, 2, 4, 6, 8, 10])
        i = np.array([2, 0, 1])
        i[i] = np.array([7, 8, 9])
        numpy.testing.assert_array_equal(i.get(), [8, 9, 7])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("key", "value"),
    [
        (numpy.array([1.0]), 0),
        ("x", 0),
        (numpy.array([9]), 0),
        (numpy.array([True] * 3), 0),
        ((0, 0, 0), 0),
        (numpy.array([0, 1]), [1, 2, 3]),
        (numpy.array([True, False, True, True]), [1, 2]),
        (([0, 1], [0, 1, 2]), 0),
        (0, [1, 2]),
        ([0], "word"),
        ([0], 1j),
    ],
    ids=str,
)
def test_errors(way, key, value):
    shape = (
        (4, 3) if isinstance(key, tuple) or isinstance(key, numpy.ndarray) and key.dtype.kind == "f" else (4,)
    )
    with WAYS[way]():
        # Of a list for one integer NumPy complains as int() does.
        for host in (numpy.zeros(shape), numpy.zeros(shape, "f4" if type(key) is int else "i1")):
            ours = np.array(host)
            _, error = outcome(lambda a, v: a.__setitem__(key, v), (host, value), {})
            _, our_error = outcome(lambda a, v: a.__setitem__(ours_of(key), v), (ours, value), {})
            assert type(our_error) is type(error), (our_error, error)
            if error is not None and not isinstance(value, (str, complex)):
                assert str(our_error) == str(error)


def test_a_read_only_array_is_not_written():
    for way in WAYS.values():
        with way():
            a = np.broadcast_to(np.arange(3), (2, 3))
            with pytest.raises(ValueError, match="read-only"):
                a[np.array([0])] = 1
            with pytest.raises(ValueError, match="read-only"):
                a[np.ones((2, 3), bool)] = 1


def test_methods_of_arrays():
    A = numpy.arange(12.0).reshape(3, 4)
    same_call("ndarray.take", A, [1, 0], 1)
    same_call("ndarray.put", A, [1, 0], [5, 6])
    same_call("ndarray.compress", A, [True, False, True], 0)
    same_call("ndarray.nonzero", A)
    same_call("ndarray.repeat", A, 2, 0)
    same_call("ndarray.cumsum", A, 1)
    same_call("ndarray.argmax", A, 0)
    same_call("ndarray.searchsorted", A[0], [1.5])
