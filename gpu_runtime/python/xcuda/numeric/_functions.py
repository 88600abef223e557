"""Functions of elements that are no ufuncs, and whole-array ones made of them."""

import numpy

from xcuda import _runtime

from ._array import asarray, ndarray
from ._dtypes import held
from ._fallback import on_host
from ._layouts import own
from ._out import given
from ._registry import TABLE, native
from ._ufuncs import _kind, _operand

_apply = _runtime.numeric_apply
_WHERE = _runtime.numeric_ufunc("where", 3)


@native()
def where(condition, x=None, y=None, /):
    """x where the condition holds, else y."""
    made = _runtime.numeric_call(_WHERE, condition, x, y)
    if made is not None:
        made._scalar = False  # NumPy's is an array, too
        return made
    if x is None and y is None:
        return (
            TABLE["nonzero"].function(condition)
            if "nonzero" in TABLE
            else on_host("where", numpy.where, (condition,), {})
        )
    if x is None or y is None:
        raise ValueError("either both or neither of x and y should be given")
    condition, x, y = map(_operand, (condition, x, y))
    if isinstance(condition, (bool, int, float, complex, numpy.generic)):
        condition = asarray(condition)
    kinds = [_kind(v) for v in (x, y)]
    if all(isinstance(k, type) for k in kinds):
        dtype = numpy.result_type(x, y)
    else:
        dtype = numpy.result_type(
            *(v if isinstance(k, type) else k for v, k in zip((x, y), kinds, strict=True))
        )
    if not held(dtype):
        return on_host("where", numpy.where, (condition, x, y), {})
    x, y = (v if isinstance(v, ndarray) else _choice(v, dtype) for v in (x, y))
    return _apply("where", ["bool", dtype.name, dtype.name], dtype.name, (condition, x, y))


_WRAPS = (
    numpy.lib.NumpyVersion(numpy.__version__) < "2.5.0"
)  # later ones refuse integers that the dtype has not


def _choice(value, dtype):
    if not _WRAPS:
        return numpy.array(value, dtype)[()]
    with numpy.errstate(all="ignore"):
        return numpy.asarray(value).astype(dtype)[()]


def _part_of(name):
    def part(z):
        return (
            _apply(name, [z.dtype.name], z.dtype.type(0).real.dtype.name, (z,)) if z.dtype.kind == "c" else z
        )

    return part


# A new value that fuses with what reads it, where a view would keep the whole complex array in memory.
real_part = _part_of("real")
_imag_of_complex = _part_of("imag")


def imag_part(z):
    """The imaginary parts as a value of their own."""
    return _imag_of_complex(z) if z.dtype.kind == "c" else TABLE["zeros_like"].function(z)


@native()
def real(val):
    """The real part: a view."""
    return asarray(val).real


@native()
def imag(val):
    """The imaginary part: a view; of real numbers, zeros that are read-only."""
    return asarray(val).imag


@native()
def angle(z, deg=False):
    """The angle of complex numbers."""
    z = asarray(z)
    if z.dtype.kind != "c":
        made = TABLE["arctan2"].function(numpy.zeros((), z.dtype if z.dtype.kind == "f" else float)[()], z)
    else:
        made = TABLE["arctan2"].function(imag_part(z), real_part(z))
    return made * (180 / numpy.pi) if deg else made


@native()
def clip(
    a,
    a_min=numpy._NoValue,
    a_max=numpy._NoValue,
    out=None,
    *,
    min=numpy._NoValue,
    max=numpy._NoValue,
    **kwargs,
):
    """Values between two bounds."""
    if (a_min is numpy._NoValue) != (a_max is numpy._NoValue):
        missing = "a_min" if a_min is numpy._NoValue else "a_max"
        raise TypeError(f"clip() missing 1 required positional argument: {missing!r}")
    if a_min is not numpy._NoValue and not (min is numpy._NoValue and max is numpy._NoValue):
        raise ValueError(
            "Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is forbidden."
        )
    low = min if a_min is numpy._NoValue else a_min
    high = max if a_max is numpy._NoValue else a_max
    made = asarray(a)
    low, high = _bound(low, made.dtype, "min"), _bound(high, made.dtype, "max")
    if low is not None:
        made = TABLE["maximum"].function(made, low)
    if high is not None:
        made = TABLE["minimum"].function(made, high)
    if out is not None:
        return given(made, out, kwargs.get("casting", "same_kind"))
    return made if made is not a else +made if made.dtype.kind != "b" else made.copy()


def _bound(value, dtype, end):
    """The bound; None where there is none, as with a Python integer that lies beyond all that the dtype has."""
    if value is numpy._NoValue or value is None:
        return None
    if type(value) is int and dtype.kind in "iu":
        most = getattr(numpy.iinfo(dtype), end)
        return None if (value < most if end == "min" else value > most) else value
    return value


@native("round", "around")
def round_(a, decimals=0, out=None):
    """Rounds to decimals, halves to even."""
    a = asarray(a)
    if a.dtype.kind in "biu" and decimals >= 0:
        made = a.copy("K") if a.dtype.kind != "b" else a.astype("float16")
    elif a.dtype.kind == "f" and a.dtype.itemsize > 2 or decimals == 0:
        rint = TABLE["rint"].function
        if decimals == 0:
            made = rint(a)
        elif decimals > 0:
            made = rint(a * 10.0**decimals) / 10.0**decimals
        else:
            made = rint(a / 10.0**-decimals) * 10.0**-decimals
    else:
        return on_host("round", numpy.round, (a, decimals), {} if out is None else {"out": out})
    return given(made, out, "unsafe")


@native()
def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """Numbers in place of nan and infinities."""
    x = asarray(x)
    if x.dtype.kind == "c":
        made = x.copy("K")
        for part in (made.real, made.imag):
            nan_to_num(part, False, nan, posinf, neginf)
    elif x.dtype.kind != "f":
        made = x
    else:
        bounds = numpy.finfo(x.dtype)
        high = float(bounds.max) if posinf is None else posinf
        low = float(bounds.min) if neginf is None else neginf
        of = own(x) if copy else x
        isinf = TABLE["isinf"].function(of)
        made = where(TABLE["isnan"].function(of), nan, of)
        made = where(isinf & (of > 0), high, made)
        made = where(isinf & (of < 0), low, made)
    if copy:
        return made if made is not x else x.copy("K")
    if made is not x:
        x[...] = made
    return x


@native()
def isclose(a, b, rtol=1.0e-5, atol=1.0e-8, equal_nan=False):
    """Where two arrays are equal within tolerances."""
    a, b = map(_operand, (a, b))
    if not any(isinstance(v, ndarray) for v in (a, b)):
        return numpy.isclose(a, b, rtol, atol, equal_nan)
    if isinstance(b, int):
        b = float(b)
    elif hasattr(b, "dtype"):
        b = b.astype(
            numpy.result_type(b.dtype, 1.0), copy=False
        )  # differences of integers may be beyond them
    f = TABLE
    size = (
        abs(b) if isinstance(b, (bool, int, float, complex)) else f["absolute"].function(b)
    )  # Python's stay weak
    near = f["less_equal"].function(f["absolute"].function(f["subtract"].function(a, b)), atol + rtol * size)
    made = (near & f["isfinite"].function(b)) | f["equal"].function(a, b)
    if equal_nan:
        made = made | (f["isnan"].function(a) & f["isnan"].function(b))
    return made


@native()
def allclose(a, b, rtol=1.0e-5, atol=1.0e-8, equal_nan=False):
    """True where all of two arrays is equal within tolerances."""
    return bool(asarray(isclose(a, b, rtol, atol, equal_nan)).all())


@native()
def array_equal(a1, a2, equal_nan=False):
    """True where two arrays have the same shape and elements."""
    a1, a2 = asarray(a1), asarray(a2)
    if a1.shape != a2.shape:
        return False
    same = a1 == a2
    if equal_nan and a1.dtype.kind in "fc" and a2.dtype.kind in "fc":
        same = same | (TABLE["isnan"].function(a1) & TABLE["isnan"].function(a2))
    return bool(same.all())
