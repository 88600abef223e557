"""Linear algebra: numeric's functions, `solve` and `matmul` tunable, and `Matmul`, planned once."""

from __future__ import annotations

from . import _structured
from ._namespace import Function, Namespace
from ._plans import Plan

_names = Namespace("linalg")


def _solve(a, b):
    """numpy.linalg.solve; within `nvmath.optimization.auto_tune()` by the method that measures fastest."""
    return _structured.tuned_solve(a, b, None)


def _matmul(x1, x2, /):
    """numpy.linalg.matmul; within `nvmath.optimization.auto_tune()` in the layout that measures fastest."""
    return _structured.tuned_product(x1, x2)


def _lstsq(a, b, rcond=None):
    """numpy.linalg.lstsq, of stacks too: (x, residuals, rank, singular values), each with the axes of the stack."""
    return _structured.least_squares(a, b, rcond)


lstsq = Function("linalg.lstsq", _lstsq)
solve = Function("linalg.solve", _solve)
matmul = Function("linalg.matmul", _matmul)


class Matmul(Plan):
    """epilog(alpha * (prolog_a(a) @ prolog_b(b)) + beta * c), planned once and run often.

        with nvmath.linalg.Matmul(a, b, epilog=lambda y: nvmath.maximum(y, 0)) as mm:
            mm.plan()
            y = mm.execute()
            mm.reset_operands(a=a2)
            y2 = mm.execute()

    The prologs and the epilog are plain functions of arrays; they are captured, so that an epilog is one kernel after
    the product. Results are where the operands are. float16 and bfloat16 operands are summed in float32.
    """

    def __init__(self, a, b, c=None, *, alpha=1.0, beta=0.0, prolog_a=None, prolog_b=None, epilog=None,
                 precision="numpy"):  # fmt: skip
        if c is None and beta:
            raise ValueError(f"beta is {beta!r}, and there is no c that it could scale")
        super().__init__({"a": a, "b": b, "c": c}, precision)

        def product(a, b, c, alpha, beta):
            left = a if prolog_a is None else prolog_a(a)
            right = b if prolog_b is None else prolog_b(b)
            made = left @ right
            if scaled:
                made = alpha * made
            if c is not None:
                made = made + beta * c
            return made if epilog is None else epilog(made)

        scaled = alpha != 1
        self._numbers = (float(alpha), float(beta) if c is not None and beta else 1.0)
        self._function = product

    def _arguments(self):
        a, b, c = (self._operands[k] for k in "abc")
        return (a, b, c, *self._numbers)


def __getattr__(name):
    return _names.get(__name__, globals(), name)


def __dir__():
    return _names.names(globals())
