"""Special functions as functions of elements: one loop each, that fuses with what is around it."""

from __future__ import annotations

import numpy

from xcuda import _runtime
from xcuda.numeric._array import array, ndarray

from . import _infer
from ._graph import Spec

# name: (how many operands, SciPy's name, what it is)
TABLE = {
    "erf": (1, "erf", "The error function."),
    "erfc": (1, "erfc", "1 - erf(x)."),
    "erfinv": (1, "erfinv", "Where erf is x, for -1 <= x <= 1."),
    "erfcinv": (1, "erfcinv", "Where erfc is x, for 0 <= x <= 2."),
    "ndtr": (1, "ndtr", "The normal distribution function."),
    "ndtri": (1, "ndtri", "Where ndtr is x: the normal distribution's quantile."),
    "gamma": (1, "gamma", "The gamma function."),
    "gammaln": (1, "gammaln", "The logarithm of |gamma(x)|."),
    "lgamma": (1, "gammaln", "The logarithm of |gamma(x)|."),
    "beta": (2, "beta", "gamma(a) gamma(b) / gamma(a + b)."),
    "betaln": (2, "betaln", "The logarithm of |beta(a, b)|."),
    "digamma": (1, "digamma", "The logarithmic derivative of gamma."),
    "psi": (1, "digamma", "The logarithmic derivative of gamma."),
    "j0": (1, "j0", "The Bessel function of the first kind of order 0."),
    "j1": (1, "j1", "The Bessel function of the first kind of order 1."),
    "y0": (1, "y0", "The Bessel function of the second kind of order 0."),
    "y1": (1, "y1", "The Bessel function of the second kind of order 1."),
    "i0": (1, "i0", "The modified Bessel function of the first kind of order 0."),
    "i1": (1, "i1", "The modified Bessel function of the first kind of order 1."),
    "i0e": (1, "i0e", "exp(-|x|) i0(x)."),
    "i1e": (1, "i1e", "exp(-|x|) i1(x)."),
    "expit": (1, "expit", "The logistic function 1 / (1 + exp(-x))."),
    "logit": (1, "logit", "log(x / (1 - x))."),
    "log_expit": (1, "log_expit", "log(expit(x))."),
    "exprel": (1, "exprel", "(exp(x) - 1) / x."),
    "sinc": (1, "sinc", "sin(pi x) / (pi x)."),
    "xlogy": (2, "xlogy", "x log(y), 0 where x is 0."),
    "xlog1py": (2, "xlog1py", "x log(1 + y), 0 where x is 0."),
    "entr": (1, "entr", "-x log(x)."),
    "rel_entr": (2, "rel_entr", "x log(x / y)."),
    "kl_div": (2, "kl_div", "x log(x / y) - x + y."),
}


def _dtype(name, operands):
    found = numpy.result_type(_infer.result_dtype(*operands))
    if found.kind in "biu":
        return numpy.dtype(float)
    if found.kind != "f" and found.name != "bfloat16":
        raise TypeError(f"nvmath.{name} is of real numbers: an operand is {found}")
    return found


def infer(name, *operands):
    """The result's Spec."""
    count = TABLE[name][0]
    if len(operands) != count:
        raise TypeError(f"{name}() takes {count} operand{'s' * (count > 1)}, {len(operands)} were given")
    return Spec(_infer.broadcast(operands), _dtype(name, operands))


def call(name, *operands):
    """The function of arrays and numbers, as a pending array of numeric's."""
    count, loop, _ = TABLE[name]
    if len(operands) != count:
        raise TypeError(f"{name}() takes {count} operand{'s' * (count > 1)}, {len(operands)} were given")
    numbers = (bool, int, float, complex, numpy.generic)
    given = [o if isinstance(o, (ndarray, *numbers)) else array(o) for o in operands]
    dtype = _dtype(name, given)
    given = [o if isinstance(o, ndarray) else numpy.asarray(o, dtype)[()] for o in given]
    if not any(isinstance(o, ndarray) for o in given):
        given[0] = array(given[0])
    made = _runtime.numeric_apply(loop, [dtype.name] * count, dtype.name, tuple(given))
    if made is None:
        raise TypeError(f"nvmath.{name} has no loop for {dtype}")
    return made


def accuracy():
    """{name: {device: {dtype: most ulp that a result is off}}}, as the functions' table states it."""
    stated = _runtime.kernel_accuracy()
    names = {"gammaln": "lgamma"}
    return {name: stated[names.get(row[1], row[1])] for name, row in TABLE.items()}
