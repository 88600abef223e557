"""numpy.fft on the device: transforms of any axes and lengths, NumPy's normalisations, dtypes and errors."""

import functools
import math
import warnings

import numpy
from numpy.lib.array_utils import normalize_axis_index

from xcuda._dense import fourier

from .._array import asarray
from .._out import given
from .._registry import TABLE, native
from .._shapes import is_integer
from .._stacks import device_array, ours

_SCALES = {None: (False, True), "backward": (False, True), "ortho": (True, True), "forward": (True, False)}


def _scale(norm, n, inverse, a):
    """What the unscaled transform is multiplied with, in the precision of the array's dtype, as NumPy has it."""
    if norm not in _SCALES:
        blank = " " if inverse else ""  # NumPy's words
        raise ValueError(f'Invalid norm value {norm}; should be "backward",{blank}"ortho" or "forward".')
    if not _SCALES[norm][inverse]:
        return 1
    real = _real(a)
    return numpy.reciprocal(
        numpy.sqrt(n, dtype=real) if norm == "ortho" else numpy.asarray(n, real), dtype=real
    )


def _real(a):
    return numpy.result_type(numpy.zeros(0, a.dtype).real.dtype, 1.0)


def _working(a, complex_input=True):
    """float32 and complex64 stay single; float16 becomes so; everything else is double."""
    if a.dtype.kind not in "biufc":
        raise TypeError(f"a Fourier transform of {a.dtype}")
    single = a.dtype.name in ("float16", "float32", "complex64", "bfloat16")
    if complex_input:
        kind = numpy.dtype("complex64" if single else "complex128")
    else:
        if a.dtype.kind == "c":
            raise TypeError("ufunc 'rfft_n_even' did not contain a loop with signature matching types")
        kind = numpy.dtype("float32" if single else "float64")
    return a if a.dtype == kind else a.astype(kind)


def _fitted(a, n, axis):
    """Cut, or filled with zeros, to `n` along the axis."""
    have = a.shape[axis]
    if n == have:
        return a
    before = (slice(None),) * axis
    if n < have:
        return a[(*before, slice(0, n))]
    shape = list(a.shape)
    shape[axis] = n
    made = TABLE["zeros"].function(shape, a.dtype)
    made[(*before, slice(0, have))] = a
    return made


def _length(n):
    if n < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified.")
    return n


def _over(a, axes, transform):
    """`transform(contiguous DeviceArray, first, rank)` over different axes, in whatever order they lie."""
    axes = sorted(axes)
    rank = len(axes)
    if axes == list(range(axes[0], axes[0] + rank)):
        return ours(transform(device_array(a), axes[0], rank))
    move = TABLE["moveaxis"].function
    ends = list(range(a.ndim - rank, a.ndim))
    made = ours(transform(device_array(move(a, axes, ends)), a.ndim - rank, rank))
    return move(made, ends, axes)


def _finished(made, scale, out):
    if scale != 1:
        made = made * made.dtype.type(scale).real
    return given(made, out)


def _complex(a, n, axis, norm, inverse, out):
    a = asarray(a)
    n = _length(a.shape[axis] if n is None else n)
    scale = _scale(norm, n, inverse, a)
    axis = normalize_axis_index(axis, a.ndim)
    a = _fitted(_working(a), n, axis)
    return _finished(_over(a, [axis], functools.partial(_c2c, inverse=inverse)), scale, out)


def _c2c(a, first, rank, inverse):
    return fourier.complex_to_complex(a, first, rank, inverse)


@native("fft.fft")
def fft(a, n=None, axis=-1, norm=None, out=None):
    """numpy.fft.fft."""
    return _complex(a, n, axis, norm, False, out)


@native("fft.ifft")
def ifft(a, n=None, axis=-1, norm=None, out=None):
    """numpy.fft.ifft."""
    return _complex(a, n, axis, norm, True, out)


@native("fft.rfft")
def rfft(a, n=None, axis=-1, norm=None, out=None):
    """numpy.fft.rfft."""
    a = asarray(a)
    n = _length(a.shape[axis] if n is None else n)
    scale = _scale(norm, n, False, a)
    axis = normalize_axis_index(axis, a.ndim)
    a = _fitted(_working(a, complex_input=False), n, axis)
    return _finished(_over(a, [axis], fourier.real_to_complex), scale, out)


@native("fft.irfft")
def irfft(a, n=None, axis=-1, norm=None, out=None):
    """numpy.fft.irfft."""
    a = asarray(a)
    n = _length((a.shape[axis] - 1) * 2 if n is None else n)
    scale, real = _scale(norm, n, True, a), _real(a)
    axis = normalize_axis_index(axis, a.ndim)
    a = _fitted(_working(a), n // 2 + 1, axis)
    made = _over(a, [axis], lambda d, first, rank: fourier.complex_to_real(d, n, first, rank))
    made = made if scale == 1 else made * made.dtype.type(scale)
    return _finished(made if made.dtype == real else made.astype(real), 1, out)


_OTHER_WAY = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def _other_way(norm):
    if norm not in _OTHER_WAY:
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    return _OTHER_WAY[norm]


@native("fft.hfft")
def hfft(a, n=None, axis=-1, norm=None, out=None):
    """numpy.fft.hfft."""
    a = asarray(a)
    n = (a.shape[axis] - 1) * 2 if n is None else n
    return irfft(a.conj() if a.dtype.kind == "c" else a, n, axis, _other_way(norm), out)


@native("fft.ihfft")
def ihfft(a, n=None, axis=-1, norm=None, out=None):
    """numpy.fft.ihfft."""
    made = rfft(a, n, axis, _other_way(norm)).conj()
    return _finished(made, 1, out)


def _deprecated(what):
    warnings.warn(
        f"{what} (deprecated in NumPy 2.0, an error in a later version)", DeprecationWarning, stacklevel=5
    )


def _axes_and_lengths(a, s, axes, last_of_inverse=False):
    if axes is None and s is not None:
        _deprecated("`axes` should not be `None` if `s` is not: name the axes that the lengths are of")
    if axes is None:
        axes = list(range(-len(s), 0)) if s is not None else list(range(a.ndim))
    axes = list(axes)
    if s is None:
        s = [a.shape[axis] for axis in axes]
        if last_of_inverse:
            s[-1] = (a.shape[axes[-1]] - 1) * 2
    else:
        s = given_lengths = list(s)
        if len(s) != len(axes):
            raise ValueError("Shape and axes have different lengths.")
        if None in s:
            _deprecated(
                "Passing an array containing `None` values to `s` is deprecated: -1 stands for an axis' whole length"
            )
            s = [a.shape[axis] if n is None else n for n, axis in zip(s, axes, strict=True)]
            if last_of_inverse and given_lengths[-1] is None:
                s[-1] = (s[-1] - 1) * 2
        s = [a.shape[axis] if n == -1 else n for n, axis in zip(s, axes, strict=True)]
    axes = [normalize_axis_index(axis, a.ndim) for axis in axes]
    return [_length(n) for n in s], axes


def _several(a, s, axes, norm, inverse, out):
    a = asarray(a)
    s, axes = _axes_and_lengths(a, s, axes)
    if not axes:
        return _finished(_working(a).copy(), 1, out)
    if len(set(axes)) < len(axes):  # one after the other, the last first, as NumPy does
        for n, axis in list(zip(s, axes, strict=True))[::-1]:
            a = _complex(a, n, axis, norm, inverse, None)
        return _finished(a, 1, out)
    scale = math.prod(float(_scale(norm, n, inverse, a)) for n in s)
    a = _working(a)
    for n, axis in zip(s, axes, strict=True):
        a = _fitted(a, n, axis)
    return _finished(_over(a, axes, functools.partial(_c2c, inverse=inverse)), scale, out)


@native("fft.fftn")
def fftn(a, s=None, axes=None, norm=None, out=None):
    """numpy.fft.fftn."""
    return _several(a, s, axes, norm, False, out)


@native("fft.ifftn")
def ifftn(a, s=None, axes=None, norm=None, out=None):
    """numpy.fft.ifftn."""
    return _several(a, s, axes, norm, True, out)


@native("fft.fft2")
def fft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """numpy.fft.fft2."""
    return _several(a, s, axes, norm, False, out)


@native("fft.ifft2")
def ifft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """numpy.fft.ifft2."""
    return _several(a, s, axes, norm, True, out)


@native("fft.rfftn")
def rfftn(a, s=None, axes=None, norm=None, out=None):
    """numpy.fft.rfftn."""
    a = asarray(a)
    s, axes = _axes_and_lengths(a, s, axes)
    if len(set(axes)) == len(axes) and axes == sorted(axes):
        scale = math.prod(float(_scale(norm, n, False, a)) for n in s)
        a = _working(a, complex_input=False)
        for n, axis in zip(s, axes, strict=True):
            a = _fitted(a, n, axis)
        return _finished(_over(a, axes, fourier.real_to_complex), scale, out)
    a = rfft(a, s[-1], axes[-1], norm)
    for n, axis in list(zip(s[:-1], axes[:-1], strict=True))[::-1]:
        a = fft(a, n, axis, norm)
    return _finished(a, 1, out)


@native("fft.rfft2")
def rfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """numpy.fft.rfft2."""
    return rfftn(a, s, axes, norm, out)


@native("fft.irfftn")
def irfftn(a, s=None, axes=None, norm=None, out=None):
    """numpy.fft.irfftn."""
    a = asarray(a)
    s, axes = _axes_and_lengths(a, s, axes, last_of_inverse=True)
    for n, axis in zip(s[:-1], axes[:-1], strict=True):
        a = ifft(a, n, axis, norm)
    return irfft(a, s[-1], axes[-1], norm, out)


@native("fft.irfft2")
def irfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """numpy.fft.irfft2."""
    return irfftn(a, s, axes, norm, out)


@native("fft.fftfreq")
def fftfreq(n, d=1.0, device=None):
    """numpy.fft.fftfreq."""
    return asarray(numpy.fft.fftfreq(n, d))


@native("fft.rfftfreq")
def rfftfreq(n, d=1.0, device=None):
    """numpy.fft.rfftfreq."""
    return asarray(numpy.fft.rfftfreq(n, d))


def _shifted(x, axes, by):
    x = asarray(x)
    axes = range(x.ndim) if axes is None else (axes,) if is_integer(axes) else axes
    for axis in (normalize_axis_index(each, x.ndim) for each in axes):
        n = x.shape[axis]
        at = by(n)
        if n < 2 or at % n == 0:
            continue
        before = (slice(None),) * axis
        made = TABLE["empty_like"].function(x)
        made[(*before, slice(at, None))] = x[(*before, slice(0, n - at))]
        made[(*before, slice(0, at))] = x[(*before, slice(n - at, None))]
        x = made
    return x.copy("K") if x.size else x


@native("fft.fftshift")
def fftshift(x, axes=None):
    """numpy.fft.fftshift: the zero frequency to the middle."""
    return _shifted(x, axes, lambda n: n // 2)


@native("fft.ifftshift")
def ifftshift(x, axes=None):
    """numpy.fft.ifftshift, the inverse of fftshift."""
    return _shifted(x, axes, lambda n: n - n // 2)
