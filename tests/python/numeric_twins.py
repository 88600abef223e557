"""A call with numeric and the same one with NumPy: results, dtypes, shapes and errors are alike."""

import numpy
import xcuda.numeric as np
from xcuda.numeric import _fallback


def ours(value):
    return np.asarray(value) if isinstance(value, numpy.ndarray) else value


def outcome(function, module, arrays):
    try:
        return function(module, *arrays), None
    except Exception as error:
        return None, error


def twins(function, *arrays, tolerance=None, natively=True):
    """function(module, *arrays), with either module. `natively`: nothing runs in NumPy on the host."""
    want, theirs = outcome(function, numpy, arrays)
    _fallback.counts.clear()
    before, np.config.fallback = np.config.fallback, "silent"
    try:
        got, mine = outcome(function, np, [ours(a) for a in arrays])
    finally:
        np.config.fallback = before
    if mine is not None and theirs is None:
        raise mine
    assert (type(mine), str(mine)) == (type(theirs), str(theirs))
    assert not natively or not _fallback.counts, dict(_fallback.counts)
    if theirs is None:
        alike(got, want, tolerance)


def alike(got, want, tolerance=None):
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            alike(g, w, tolerance)
        return
    got, want = numpy.asarray(got), numpy.asarray(want)
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    if tolerance is None:
        tolerance = 200 * numpy.finfo(want.dtype).eps if want.dtype.kind in "fc" else 0
    greatest = 1.0
    if want.dtype.kind in "fc" and want.size and numpy.isfinite(want).any():
        greatest = max(1.0, float(numpy.abs(want[numpy.isfinite(want)]).max()))
    numpy.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * greatest)
