"""Functions that ask for dtypes, shapes and text: NumPy answers without the elements, and nothing is copied for it."""

import numpy

from xcuda.core.arrays import DeviceArray

from ._array import asarray, ndarray
from ._functions import imag_part
from ._registry import TABLE, native

# Settings, text of numbers, dates: no array takes part, so NumPy's own function is numeric's.
HOST_ONLY = frozenset(
    """base_repr binary_repr busday_count busday_offset is_busday datetime_as_string datetime_data
    format_float_positional format_float_scientific frompyfunc get_include get_printoptions set_printoptions
    printoptions getbufsize setbufsize geterr seterr geterrcall seterrcall info show_config show_runtime test
    nested_iters broadcast_shapes isdtype issubdtype promote_types typename mintypecode isscalar""".split()
)


def hull(value):
    """A NumPy array of that dtype and shape without the elements, for an array of numeric's; lists hold hulls."""
    if isinstance(value, ndarray):
        return numpy.broadcast_to(numpy.empty((), value.dtype), value.shape)
    return type(value)(map(hull, value)) if type(value) in (list, tuple) else value


def _by_hull(name):
    reference = getattr(numpy, name)

    def asked(*args, **kwargs):
        return reference(*map(hull, args), **{k: hull(v) for k, v in kwargs.items()})

    asked.__name__ = name
    asked.__doc__ = reference.__doc__
    native(name)(asked)


for _name in ("result_type", "can_cast", "common_type", "iscomplexobj", "isrealobj", "iterable"):
    _by_hull(_name)


@native()
def min_scalar_type(a, /):
    """The smallest dtype that holds a number; an array's own dtype."""
    if isinstance(a, ndarray):
        return a.dtype if a.ndim else numpy.min_scalar_type(a.get())
    return numpy.min_scalar_type(a)


@native()
def isfortran(a):
    """True for arrays in Fortran order that are not in C order too."""
    return asarray(a).flags.fnc


class _Addresses:
    """Where an array lies, for NumPy's arithmetic of addresses: what is there is never read."""

    def __init__(self, a):
        self.__array_interface__ = {
            "version": 3,
            "data": (a._into(DeviceArray)._address, False),
            "shape": a.shape,
            "strides": a.strides,
            "typestr": numpy.dtype(f"V{a.itemsize}").str,
        }


def _overlap(name):
    reference = getattr(numpy, name)

    def overlap(a, b, /, max_work=None):
        both = a, b
        if all(isinstance(x, ndarray) for x in both):
            if a._device_label != b._device_label or not (a.size and b.size):
                return False
            if not a._same_memory(b) and (a._pending or b._pending):
                return False
            both = tuple(numpy.asarray(_Addresses(x)) for x in both)
        else:
            both = tuple(x._host() if isinstance(x, ndarray) else x for x in both)
        return reference(*both) if max_work is None else reference(*both, max_work)

    overlap.__name__ = name
    overlap.__doc__ = reference.__doc__
    native(name)(overlap)


_overlap("shares_memory")
_overlap("may_share_memory")


def _text(name):
    reference = getattr(numpy, name)

    def text(a, *args, **kwargs):
        return reference(a.get() if isinstance(a, ndarray) else a, *args, **kwargs)

    text.__name__ = name
    text.__doc__ = reference.__doc__
    native(name)(text)


for _name in ("array2string", "array_repr", "array_str"):
    _text(_name)


@native()
def iscomplex(x):
    """Where elements have an imaginary part that is not zero."""
    x = asarray(x)
    return imag_part(x) != 0 if x.dtype.kind == "c" else TABLE["zeros_like"].function(x, bool)


@native()
def isreal(x):
    """Where elements have no imaginary part."""
    return imag_part(asarray(x)) == 0


def _infinite(name, positive):
    def signed_infinity(x, out=None):
        x = asarray(x)
        if x.dtype.kind == "c":
            raise TypeError(
                f"This operation is not supported for {x.dtype} values because it would be ambiguous."
            )
        signbit = TABLE["signbit"].function(x) if x.dtype.kind in "fiu" else x != x
        return TABLE["logical_and"].function(
            TABLE["isinf"].function(x), ~signbit if positive else signbit, out
        )

    signed_infinity.__name__ = name
    signed_infinity.__doc__ = getattr(numpy, name).__doc__
    native(name)(signed_infinity)


_infinite("isposinf", True)
_infinite("isneginf", False)


@native()
def array_equiv(a1, a2):
    """True where two arrays are equal after broadcasting."""
    a1, a2 = asarray(a1), asarray(a2)
    try:
        numpy.broadcast_shapes(a1.shape, a2.shape)
    except ValueError:
        return False
    return bool((a1 == a2).all())


@native()
def asarray_chkfinite(a, dtype=None, order=None):
    """`asarray` that raises ValueError for nan and infinities."""
    a = asarray(a, dtype, order)
    if a.dtype.kind in "fc" and not bool(TABLE["isfinite"].function(a).all()):
        raise ValueError("array must not contain infs or NaNs")
    return a


@native()
def astype(x, dtype, /, *, copy=True, device=None):
    """The array as another dtype."""
    if isinstance(x, (numpy.ndarray, numpy.generic)):
        x = asarray(x)
    if not isinstance(x, ndarray):
        raise TypeError(f"Input should be a NumPy array. It is of type {type(x)}.")
    return x.astype(dtype, copy=copy, device=device)
