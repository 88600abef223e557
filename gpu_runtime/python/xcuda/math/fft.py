"""Fourier transforms: numeric's functions, and `FFT`, a transform that is planned once."""

from __future__ import annotations

import numpy
from numpy.lib.array_utils import normalize_axis_tuple

from ._namespace import Namespace
from ._plans import Plan

_names = Namespace("fft")
_DIRECTIONS = ("forward", "inverse")


class FFT(Plan):
    """epilog(fftn(prolog(a), axes=axes)), planned once and run often; `execute("inverse")` is ifftn.

    axes: all of them by default. norm: numpy.fft's "backward", "ortho" or "forward". Prolog and epilog are plain
    functions of arrays: they are captured, one kernel before and one after the transform. Results are where `a` is.
    """

    def __init__(self, a, *, axes=None, norm=None, prolog=None, epilog=None, precision="numpy"):
        super().__init__({"a": a}, precision)
        axes = None if axes is None else normalize_axis_tuple(axes, numpy.ndim(a), "axes")
        if norm not in (None, "backward", "ortho", "forward"):
            raise ValueError(f"norm is 'backward', 'ortho' or 'forward', not {norm!r}")

        def transform(a, direction):
            from xcuda.math import fft

            given = a if prolog is None else prolog(a)
            whole = fft.fftn if direction == "forward" else fft.ifftn
            made = whole(given, axes=axes, norm=norm)
            return made if epilog is None else epilog(made)

        self._function = transform
        self._direction = "forward"

    def execute(self, direction="forward"):
        """The transform of the operand as it is now."""
        if direction not in _DIRECTIONS:
            raise ValueError(f"the direction is {' or '.join(map(repr, _DIRECTIONS))}, not {direction!r}")
        self._direction = direction
        return super().execute()

    def _arguments(self):
        return self._operands["a"], self._direction


def __getattr__(name):
    return _names.get(__name__, globals(), name)


def __dir__():
    return _names.names(globals())
