"""numeric.fft against NumPy's, with nothing left to the fallback."""

import re

import numpy
import pytest
import xcuda.numeric as np
from hypothesis import given, settings
from hypothesis import strategies as st

ONE_AXIS = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
SEVERAL = ["fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2"]


@pytest.fixture(autouse=True)
def no_fallback():
    before, np.config.fallback = np.config.fallback, "error"
    yield
    np.config.fallback = before


def values(shape, dtype):
    rng = numpy.random.default_rng(3)
    made = rng.standard_normal(shape) * 4
    if numpy.dtype(dtype).kind == "c":
        made = made + 1j * rng.standard_normal(shape)
    return made.astype(dtype)


def same(got, want):
    got = numpy.asarray(got)
    assert got.dtype == want.dtype and got.shape == want.shape
    epsilon = numpy.finfo(want.dtype).eps * 50
    numpy.testing.assert_allclose(
        got, want, rtol=epsilon, atol=epsilon * max(1, numpy.abs(want).max(initial=0))
    )


def call(m, name, a, *args, **how):
    return getattr(m.fft, name)(a, *args, **how)


def is_real_transform(name):
    return name in ("rfft", "ihfft", "rfftn", "rfft2")


@pytest.mark.parametrize("name", ONE_AXIS)
@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "complex64", "complex128", "int32", "float16", "bool"]
)
@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
def test_one_axis(name, dtype, norm):
    if is_real_transform(name) and dtype.startswith("complex"):
        pytest.skip("of real numbers")
    a = values((3, 8, 5), dtype)
    for axis in (-1, 0, 1):
        for n in (None, 4, 7, 12):
            want = call(numpy, name, a, n, axis, norm)
            same(call(np, name, np.asarray(a), n, axis, norm), want)


@pytest.mark.parametrize("name", SEVERAL)
@pytest.mark.parametrize("dtype", ["float32", "complex128", "int64"])
def test_several_axes(name, dtype):
    if is_real_transform(name) and dtype.startswith("complex"):
        pytest.skip("of real numbers")
    a = values((4, 6, 5), dtype)
    for how in (
        {},
        {"norm": "ortho"},
        {"s": (3, 8), "axes": (0, 2)},
        {"axes": (2, 0)},
        {"axes": (1, 2), "norm": "forward"},
    ):
        same(call(np, name, np.asarray(a), **how), call(numpy, name, a, **how))


@settings(deadline=None, max_examples=60)
@given(
    shape=st.lists(st.integers(1, 6), min_size=1, max_size=4),
    name=st.sampled_from(["fftn", "ifftn", "rfftn", "irfftn"]),
    data=st.data(),
)
def test_random_shapes_axes_and_strides(shape, name, data):
    axes = data.draw(st.lists(st.integers(0, len(shape) - 1), min_size=1, max_size=3))
    order = data.draw(st.permutations(range(len(shape))))
    step = data.draw(st.sampled_from([1, 2, -1]))
    dtype = "float64" if is_real_transform(name) else "complex128"
    a = values([2 * n for n in shape], dtype)
    cut = tuple(slice(None, None, step) for _ in shape)
    view, theirs = np.asarray(a)[cut].transpose(order), a[cut].transpose(order)
    try:
        want = call(numpy, name, theirs, axes=axes)
    except ValueError as error:  # an inverse of one number of a real transform
        with pytest.raises(ValueError, match=re.escape(str(error))):
            call(np, name, view, axes=axes)
    else:
        same(call(np, name, view, axes=axes), want)


def test_frequencies_and_shifts():
    for n in (1, 8, 9):
        same(np.fft.fftfreq(n, 0.5), numpy.fft.fftfreq(n, 0.5))
        same(np.fft.rfftfreq(n, 0.5), numpy.fft.rfftfreq(n, 0.5))
    a = values((4, 5, 3), "float32")
    for axes in (None, 0, (1, 2), (-1,)):
        same(np.fft.fftshift(np.asarray(a), axes), numpy.fft.fftshift(a, axes))
        same(np.fft.ifftshift(np.asarray(a), axes), numpy.fft.ifftshift(a, axes))


def test_out_is_filled_and_given_back():
    a = values((4, 8), "complex128")
    out = np.zeros((4, 8), "complex128")
    assert np.fft.fft(np.asarray(a), out=out) is out
    same(out, numpy.fft.fft(a))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda m: m.fft.fft(m.zeros(3), 0),
        lambda m: m.fft.fft(m.zeros(3), norm="none"),
        lambda m: m.fft.fft(m.zeros(3), axis=2),
        lambda m: m.fft.fftn(m.zeros((3, 3)), s=(1, 2), axes=(0,)),
        lambda m: m.fft.irfft(m.zeros(1)),
    ],
)
def test_errors_are_numpy_s(wrong):
    with pytest.raises(Exception) as theirs:
        wrong(numpy)
    with pytest.raises(type(theirs.value)) as mine:
        wrong(np)
    assert str(mine.value) == str(theirs.value)
