"""ndarray as Python sees it: attributes, views, indexing, printing, fallback, named arrays, the article's programs."""

import copy
import pickle
import warnings

import numpy
import pytest
import xcuda.numeric as np
from xcuda import core as cuda
from xcuda.numeric._fallback import wrapped


def test_attributes_and_views():
    h = numpy.arange(24.0).reshape(2, 3, 4)
    a = np.array(h)
    for f in (
        lambda m, x: x.T, lambda m, x: x[1], lambda m, x: x[:, ::-1, 1], lambda m, x: x[..., None, 0], lambda m, x: x.swapaxes(0, 2),
        lambda m, x: m.moveaxis(x, 0, -1), lambda m, x: x.reshape(6, -1), lambda m, x: x.reshape(4, 6, order="F"),
        lambda m, x: m.squeeze(x[:1]), lambda m, x: m.expand_dims(x, (0, 2)), lambda m, x: m.flip(x, 1), lambda m, x: m.rot90(x),
        lambda m, x: m.broadcast_to(x[0], (5, 3, 4)), lambda m, x: x.diagonal(), lambda m, x: m.ravel(x.T), lambda m, x: m.atleast_3d(x[0]),
        lambda m, x: x.T.copy("F"), lambda m, x: (x.T + 1), lambda m, x: x.mT, lambda m, x: m.transpose(x, (1, 0, 2)),
    ):  # fmt: skip
        ours, theirs = f(np, a), f(numpy, h)
        assert (ours.shape, ours.dtype, ours.strides) == (theirs.shape, theirs.dtype, theirs.strides)
        numpy.testing.assert_array_equal(ours.get(), theirs)
    assert (a.size, a.ndim, a.nbytes, a.itemsize, len(a)) == (24, 3, 192, 8, 2)
    assert a.flags.c_contiguous and not a.T.flags["C_CONTIGUOUS"]


def test_errors_of_indexing_are_numpys():
    for key in (7, (0, 5), (0, 0, 0), (..., ...), 2.5, "x"):
        with pytest.raises(IndexError) as theirs:
            numpy.zeros((3, 2))[key]
        with pytest.raises(IndexError) as ours:
            np.zeros((3, 2))[key]
        assert str(ours.value).split(" (")[0] == str(theirs.value).split(" (")[0]
    for f in (lambda m: m.zeros(3).reshape(2), lambda m: len(m.zeros(())), lambda m: bool(m.zeros(2)), lambda m: float(m.zeros(2)),
              lambda m: m.zeros(3).__setitem__(slice(None), m.zeros(2)), lambda m: m.zeros(4).transpose(1, 0)):  # fmt: skip
        with pytest.raises(Exception) as theirs:
            f(numpy)
        with pytest.raises(type(theirs.value)) as ours:
            f(np)
        assert str(ours.value) == str(theirs.value)


def test_looks_like_numpys():
    for h in (
        numpy.arange(3),
        numpy.arange(4.0).reshape(2, 2) / 3,
        numpy.array(2.5),
        numpy.array([True]),
        numpy.zeros((2000, 700)),
    ):
        a = np.array(h)
        assert repr(a) == repr(h)
        assert str(a) == str(h)
    html = np.arange(6.0).reshape(2, 3)._repr_html_()
    assert "2 × 3" in html and "float64" in html and "<td>5.</td>" in html
    assert f"{np.array(2.5):.2f}" == "2.50"


def test_numbers_and_copies():
    a = np.array([1.5, 2.5])
    assert (float(a[0]), int(a[1]), a.item(1), a.tolist()) == (1.5, 2, 2.5, [1.5, 2.5])
    assert [10, 20, 30][np.array(2)] == 30
    for made in (copy.copy(a), copy.deepcopy(a), pickle.loads(pickle.dumps(a))):
        made[0] = 9
        assert a.tolist() == [1.5, 2.5]
        assert isinstance(made, np.ndarray)
    assert 2.5 in a and 7 not in a
    assert numpy.asarray(a).tolist() == [1.5, 2.5]


def test_masks_and_integers_index():
    np.config.fallback = "silent"
    try:
        h = numpy.arange(12).reshape(3, 4)
        a = np.array(h)
        for key in (a > 5, np.array([2, 0]), [1, 1]):
            host = key.get() if isinstance(key, np.ndarray) else key
            numpy.testing.assert_array_equal(a[key].get(), h[host])
        a[a > 5] = -1
        h[h > 5] = -1
        a[np.array([0, 2]), 1] = 50
        h[[0, 2], 1] = 50
        numpy.testing.assert_array_equal(a.get(), h)
    finally:
        np.config.fallback = "warn"


def test_fallback_warns_once_a_place_and_can_be_an_error():
    a = np.arange(5.0)
    not_native = wrapped("not_native", numpy.ediff1d)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _ in range(3):
            assert isinstance(not_native(a), np.ndarray)
    assert [str(w.message) for w in told] == ["numeric.not_native runs in NumPy on the host"]
    assert told[0].filename == __file__
    np.config.fallback = "error"
    try:
        with pytest.raises(NotImplementedError, match="numeric.not_native has no native form"):
            not_native(a)
    finally:
        np.config.fallback = "warn"
    with pytest.raises(ValueError, match="one of 'warn', 'silent', 'error'"):
        np.config.fallback = "no"


def test_every_public_name_of_numpy_is_there():
    import numpy.fft
    import numpy.linalg
    import numpy.random

    for theirs, ours in (
        (numpy, np),
        (numpy.linalg, np.linalg),
        (numpy.fft, np.fft),
        (numpy.random, np.random),
    ):
        missing = [n for n in theirs.__all__ if not hasattr(ours, n)]
        assert not missing
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        np.nothing


def test_numpys_functions_take_ours():
    a = np.arange(6.0)
    assert isinstance(numpy.sum(a), np.ndarray)
    assert isinstance(numpy.where(a > 2, a, 0), np.ndarray)
    assert float(numpy.mean(a)) == 2.5


def test_named_arrays(tmp_path):
    a = np.arange(5.0)
    assert np.store_in_gpu_memory("numbers", a) is a
    assert np.load_from_gpu_memory("numbers") is a
    file = tmp_path / "x.npy"
    numpy.save(file, numpy.arange(3))
    first = np.load_from_gpu_memory(str(file))
    assert first.tolist() == [0, 1, 2]
    assert np.load_from_gpu_memory(file) is first
    numpy.save(file, numpy.arange(4))
    assert np.load_from_gpu_memory(file).tolist() == [0, 1, 2, 3]
    with pytest.raises(KeyError, match="no array is stored as 'other'"):
        np.load_from_gpu_memory("other")
    np.forget_gpu_memory()


@pytest.mark.filterwarnings("ignore::xcuda.numeric.FallbackWarning")
def test_the_articles_programs(tmp_path):
    import xcuda

    xcuda.install_names()
    import cupy.numeric as np

    a = np.random.rand(100, 100)
    b = np.random.rand(100, 100)
    c = np.dot(a, b)
    numpy.testing.assert_allclose(c.get(), a.get() @ b.get())
    threshold = 3.0
    host = numpy.random.default_rng(1).random((32, 48))
    numpy.save(tmp_path / "large_dataset.npy", host)
    data = np.load_from_gpu_memory(str(tmp_path / "large_dataset.npy"))
    freq_domain = np.fft.fft2(data)
    filtered = np.where(np.abs(freq_domain) > threshold, freq_domain, 0)
    result = np.fft.ifft2(filtered).real
    f = numpy.fft.fft2(host)
    theirs = numpy.fft.ifft2(numpy.where(numpy.abs(f) > threshold, f, 0)).real
    numpy.testing.assert_allclose(result.get(), theirs, atol=1e-12)
    np.forget_gpu_memory()


@pytest.mark.parametrize("values", [numpy.array(["2026-12-01"], "M8[D]"), numpy.array([3], "m8[s]")])
def test_device_arrays_of_times_are_refused(values):
    with pytest.raises(TypeError, match="numeric has no arrays of (datetime|timedelta)64"):
        np.asarray(cuda.to_device(values))
