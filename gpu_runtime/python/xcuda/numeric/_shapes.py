"""Shapes as callers write them."""

import operator

import numpy


def is_integer(value):
    """True for one integer: of Python, of NumPy, an array without axes."""
    kind = type(value)
    if kind is int or kind is tuple or kind is list:
        return kind is int
    return hasattr(value, "__index__") and numpy.ndim(value) == 0


def lengths(shape):
    """A list of ints; -1 may stand for what is left."""
    return [_length(n) for n in ((shape,) if is_integer(shape) else shape)]


def _length(n):
    if type(n) is int and n < 2**63:
        return n
    if isinstance(n, (bool, numpy.bool)):
        raise TypeError(f"an axis' length is an integer, not {n!r}")
    n = operator.index(n)
    if n >= 2**63:
        raise ValueError(f"Maximum allowed dimension exceeded: an axis has {n} elements")
    return n
