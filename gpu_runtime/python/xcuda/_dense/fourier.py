"""Fourier transforms of neighbouring axes, unscaled: NumPy's on the CPU device, cuFFT's on a GPU."""

import numpy

from xcuda._dense.layout import copied, empty, from_host, gpu, host, on_host


def complex_to_complex(a, first, rank, inverse):
    """exp(-i) forward, exp(+i) inverse, over the axes from `first` on; complex64 and complex128."""
    if on_host(a):
        return from_host(_numpy(numpy.fft.ifftn if inverse else numpy.fft.fftn, a, first, rank, inverse), a)
    out = a
    for at, some in _threes(first, rank):
        made = empty(a.shape, a.dtype, a)
        if a.size:
            gpu().fourier(out, made, at, some, inverse)
        out = made
    return out


def real_to_complex(a, first, rank):
    """float32 to complex64, float64 to complex128; n // 2 + 1 along the last transformed axis."""
    if on_host(a):
        return from_host(_numpy(numpy.fft.rfftn, a, first, rank, False), a)
    *before, (at, some) = _threes(first, rank)
    shape = list(a.shape)
    shape[first + rank - 1] = shape[first + rank - 1] // 2 + 1
    out = empty(shape, numpy.result_type(a.dtype, numpy.complex64), a)
    if out.size:
        gpu().fourier(a, out, at, some, False)
    for at, some in before:
        made = empty(shape, out.dtype, a)
        gpu().fourier(out, made, at, some, False)
        out = made
    return out


def complex_to_real(a, n, first, rank):
    """The inverse of real_to_complex, of length `n` along the last transformed axis."""
    shape = list(a.shape)
    shape[first + rank - 1] = n
    if on_host(a):
        axes = range(first, first + rank)
        values = numpy.fft.irfftn(host(a), s=[shape[i] for i in axes], axes=list(axes), norm="forward")
        return from_host(values, a)
    *before, (at, some) = _threes(first, rank)
    for each, few in before:
        made = empty(a.shape, a.dtype, a)
        gpu().fourier(a, made, each, few, True)
        a = made
    if not before:
        a = copied(a)  # cuFFT overwrites its input
    out = empty(shape, numpy.zeros(0, a.dtype).real.dtype, a)
    if out.size:
        gpu().fourier(a, out, at, some, True)
    return out


def _threes(first, rank):
    """cuFFT does up to three axes at once: groups of them, the last ones last."""
    groups = []
    end = first + rank
    while end > first:
        some = min(3, end - first)
        groups.insert(0, (end - some, some))
        end -= some
    return groups


def _numpy(function, a, first, rank, inverse):
    return function(host(a), axes=list(range(first, first + rank)), norm="forward" if inverse else "backward")
