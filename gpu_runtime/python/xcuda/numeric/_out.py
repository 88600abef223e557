"""`out=` of functions that are no ufuncs: results into an array that the caller gave."""

import numpy

from ._array import ndarray


def given(made, out, casting="same_kind"):
    """`made`, or `out` with its elements: of the same shape, and of a dtype that `casting` allows."""
    if out is None:
        return made
    if isinstance(out, tuple):
        (out,) = out
    if not isinstance(out, (ndarray, numpy.ndarray)):
        raise TypeError(f"return arrays must be of ArrayType, not {type(out).__name__}")
    if out.shape != made.shape:
        raise ValueError(f"output array has wrong shape: {out.shape}, the result has {made.shape}")
    if not numpy.can_cast(made.dtype, out.dtype, casting):
        raise TypeError(f"Cannot cast from {made.dtype!r} to {out.dtype!r} with casting rule '{casting}'")
    if isinstance(out, ndarray):
        out[...] = made
    else:
        numpy.copyto(out, numpy.asarray(made), casting)
    return out
