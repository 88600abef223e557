"""Long ranges, unit matrices and windows on the device; r_ and c_; arrays of other libraries: against NumPy's."""

import itertools
import warnings

import numpy
import pytest
import xcuda.numeric as np
from numeric_twins import twins
from xcuda import _runtime


@pytest.mark.parametrize("num", [0, 1, 7, 5000])
def test_linspace_and_logspace(num):
    for ends in ((0, 1), (3, -2.5), (2, 2), (0, 1j), (numpy.float32(1), numpy.float32(9)), (-5, 5000)):
        for how in ({}, {"endpoint": False}, {"dtype": "float32"}, {"retstep": True}):
            if num or "retstep" not in how:
                twins(lambda m: m.linspace(*ends, num, **how), tolerance=1e-6 if how.get("dtype") else None)
    twins(lambda m: m.linspace(-5, 5000, num, dtype=int))
    twins(lambda m: m.linspace(m.asarray([0.0, 1]), 3, num, axis=-1))
    twins(lambda m: m.logspace(0, 3, num), tolerance=1e-12)
    twins(lambda m: m.logspace(0, 3, num, base=2, dtype="int32"))
    twins(lambda m: m.geomspace(1, 1000, num), tolerance=1e-12)


def test_linspace_s_errors():
    twins(lambda m: m.linspace(0, 1, -3))
    twins(lambda m: m.linspace(0, 1, 2.5))


@pytest.mark.parametrize("n", [0, 3, 80])
def test_unit_matrices(n):
    for how in ({}, {"M": n + 9}, {"k": 2}, {"k": -1, "dtype": "int16"}, {"dtype": bool}, {"order": "F"}):
        twins(lambda m: m.eye(n, **how))
    twins(lambda m: m.identity(n))
    twins(lambda m: m.identity(n, "complex64"))
    assert np.eye(80, order="F").flags.f_contiguous


@pytest.mark.parametrize("n", [0, 1, 2, 11, 4096, 5001])
def test_windows(n):
    for name in ("hanning", "hamming", "blackman", "bartlett"):
        twins(lambda m: getattr(m, name)(n), tolerance=1e-12)
    twins(lambda m: m.kaiser(n, 14.0), tolerance=1e-11)


A, B = numpy.arange(3.0), numpy.arange(4, dtype="f")


def test_pieces():
    twins(lambda m: m.r_[1, 2, 3:6])
    twins(lambda m, a: m.r_[a, 0, 0, a], A)
    twins(lambda m, a, b: m.r_[a, b, 1:3, 7], A, B)
    twins(lambda m, b: m.r_[b, 1, 2.5], B)
    twins(lambda m, a: m.r_[a[None], a[None]], A)
    twins(lambda m, a: m.c_[a, a], A)
    twins(lambda m, a: m.c_[a, a[:, None] * m.ones((1, 2)), 0:3], A)
    twins(lambda m, a: m.r_["0,2", a, a], A, natively=False)
    twins(lambda m, a, b: m.c_[a, b], A, B)


def test_other_libraries_arrays():
    host = numpy.arange(6.0).reshape(2, 3)
    made = np.from_dlpack(host)
    assert isinstance(made, np.ndarray) and made.tolist() == host.tolist()
    host[0, 0] = 9
    # The same memory on the CPU device, a copy on a GPU.
    assert made[0, 0] == (9 if _runtime.current_device_label() == "cpu" else 0)
    ours = np.arange(4)
    shared = np.from_dlpack(ours)
    shared[0] = 7
    assert ours[0] == 7
    assert np.from_dlpack(ours, copy=True)[0] == 7
    with pytest.raises(TypeError, match="has no __dlpack__"):
        np.from_dlpack([1, 2])


def test_require():
    twins(lambda m, a: m.require(a, requirements=["F"]), numpy.ones((2, 3)))
    assert np.require(np.ones((2, 3)), requirements="F").flags.f_contiguous
    view = np.arange(9).reshape(3, 3).T
    assert np.require(view, requirements=["C"]).flags.c_contiguous
    assert np.require(view, "float32", ["O"]).flags.owndata
    assert np.require(np.broadcast_to(np.ones(1), (3,)), requirements=["W"]).flags.writeable
    twins(lambda m: m.require([1], requirements=["C", "F"]))
    with pytest.raises(KeyError):
        np.require([1], requirements=["X"])


def test_places_are_computed_and_not_read():
    """What is made of a long arange has no memory of it, and writing to one changes no other."""
    from xcuda import _runtime

    limit, host = _runtime.numeric_small_limit(), np.config.host_elements
    _runtime.set_numeric_small_limit(0)
    np.config.host_elements = 0
    try:
        n = 5000
        x = numpy.random.default_rng(5).integers(0, n, (3, n))
        a = np.asarray(x)
        np.flush()
        made, found = _runtime.numeric_watched(lambda: [v._compute() or v for v in [a == np.arange(n)]][0])
        numpy.testing.assert_array_equal(made.get(), x == numpy.arange(n))
        assert found[-1]["bytes_read"] == x.nbytes
        for first, last, step in ((7, 7 + 3 * n, 3), (n, 0, -1), (0, n, 1), (0.5, n, 1)):
            i, j = np.arange(first, last, step), numpy.arange(first, last, step)
            for view in (slice(None), slice(None, None, -1), slice(3, None, 2)):
                numpy.testing.assert_array_equal((i[view] * 2).get(), j[view] * 2)
            numpy.testing.assert_array_equal(i.reshape(50, 100).T.get(), j.reshape(50, 100).T)
            assert i.sum().item() == pytest.approx(j.sum())
        i = np.arange(n)
        i[3] = -1
        numpy.testing.assert_array_equal((i + 0).get()[:5], [0, 1, 2, -1, 4])
        numpy.testing.assert_array_equal(np.arange(n).get(), numpy.arange(n))
    finally:
        _runtime.set_numeric_small_limit(limit)
        np.config.host_elements = host


NUMBERS = [
    1,
    5000.0,
    numpy.int8(1),
    numpy.uint16(5000),
    numpy.float32(5000),
    numpy.uint64(1),
    numpy.float16(1),
    True,
]


@pytest.mark.parametrize(
    "given",
    [
        *itertools.product(NUMBERS),
        *itertools.product(NUMBERS, repeat=2),
        *itertools.product(NUMBERS, repeat=3),
    ],
)
def test_a_range_has_the_dtype_of_all_that_is_given(given):
    """Long ranges, and all on a GPU, are computed there: 5000.0 after 0 made int64 of them once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = numpy.arange(*given)
        except (TypeError, ValueError, MemoryError) as e:  # one before an unsigned one counts to 2^64
            with pytest.raises((type(e), MemoryError)):  # a GPU's memory has its own
                np.arange(*given)
            return
        found = np.arange(*given)
    assert found.dtype == expected.dtype
    numpy.testing.assert_array_equal(found.get(), expected)
