"""One call in NumPy and in numeric, both of its native ways: results, what is written to and errors are the same."""

import contextlib
import copy
import warnings

import numpy
import pytest
import xcuda.numeric as np
from xcuda.numeric import _paths

WAYS = {"numpy": contextlib.nullcontext, "kernels": _paths.kernels_everywhere}


def found(module, path):
    for name in path.split("."):
        module = getattr(module, name)
    return module


def to_ours(value):
    if isinstance(value, numpy.ndarray):
        return np.array(value)
    if type(value) in (list, tuple):
        return type(value)(map(to_ours, value))
    return {k: to_ours(v) for k, v in value.items()} if type(value) is dict else value


def outcome(function, args, kwargs):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(*args, **kwargs), None
    except Exception as error:
        return None, error


def compare(ours, theirs, what, tolerance=None):
    if type(theirs) in (list, tuple) or hasattr(theirs, "_fields"):
        assert len(ours) == len(theirs), what
        for a, b in zip(ours, theirs, strict=True):
            compare(a, b, what, tolerance)
        return
    if isinstance(theirs, (numpy.ndarray, numpy.generic)):
        assert isinstance(ours, (np.ndarray, numpy.generic, numpy.ndarray)), (what, type(ours))
        got, want = numpy.asarray(ours.get() if isinstance(ours, np.ndarray) else ours), numpy.asarray(theirs)
        assert (got.dtype, got.shape) == (want.dtype, want.shape), (what, got, want)
        if tolerance is None or want.dtype.kind in "biu":
            numpy.testing.assert_array_equal(got, want, str(what))
        else:
            numpy.testing.assert_allclose(got, want, tolerance, tolerance, err_msg=str(what))
        return
    if isinstance(theirs, (float, complex)) and tolerance is not None:
        numpy.testing.assert_allclose(ours, theirs, tolerance, tolerance, err_msg=str(what))
        return
    assert ours == theirs or ours is theirs is None, (what, ours, theirs)


@pytest.fixture
def no_fallback():
    """What has no native form is an error."""
    before, np.config.fallback = np.config.fallback, "error"
    yield
    np.config.fallback = before


def same_call(path, *args, tolerance=None, texts=True, ways=tuple(WAYS), **kwargs):
    """`path` is a name in numpy, such as "add.reduceat" or "ndarray.put"."""
    theirs_args, theirs_kwargs = copy.deepcopy(args), copy.deepcopy(kwargs)
    theirs, their_error = outcome(found(numpy, path), theirs_args, theirs_kwargs)
    for way in ways:
        what = (path, way, args, kwargs)
        with WAYS[way]():
            ours_args, ours_kwargs = to_ours(args), to_ours(kwargs)
            ours, our_error = outcome(found(np, path), ours_args, ours_kwargs)
            if their_error is not None or our_error is not None:
                assert type(our_error) is type(their_error), (
                    what,
                    repr(our_error),
                    repr(their_error),
                    theirs,
                )
                if texts:
                    assert str(our_error) == str(their_error), (what, our_error, their_error)
                continue
            compare(ours, theirs, what, tolerance)
            for a, b in zip(
                (*ours_args, *ours_kwargs.values()), (*theirs_args, *theirs_kwargs.values()), strict=True
            ):
                if isinstance(b, numpy.ndarray):
                    compare(a, b, ("written by", *what), tolerance)
    return theirs
