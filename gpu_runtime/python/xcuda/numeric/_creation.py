"""Arrays from nothing: empty, full, ranges, grids."""

import math

import numpy

from xcuda import _runtime

from . import _dtypes
from ._array import _axes_of, array, asarray, dtype_name, ndarray
from ._layouts import order_of, turned_back
from ._placed import placed
from ._registry import native
from ._shapes import is_integer, lengths


def _shape(shape):
    found = lengths(shape)
    if any(n < 0 for n in found):
        raise ValueError("negative dimensions are not allowed")
    return found


def _held(dtype):
    return dtype is None or _dtypes.held(_dtypes.as_dtype(dtype))


@native()
@placed
def empty(shape, dtype=None, order="C", *, like=None):
    """An array with whatever the memory holds."""
    if not _held(dtype):
        return numpy.empty(shape, dtype, order)
    lengths = _shape(shape)
    return _runtime.numeric_empty(lengths, dtype_name(dtype), _axes_of(order, len(lengths)))


def _constant(shape, number, dtype, order):
    """`full` of 0 or 1, which every dtype has."""
    found = numpy.dtype(float) if dtype is None else _dtypes.as_dtype(dtype)
    if not _dtypes.held(found):  # text is empty there, not "0"; classes of dtypes are NumPy's to read
        return (numpy.ones if number else numpy.zeros)(shape, dtype, order)
    if order not in ("C", "F"):
        return full(shape, number, found, order)
    number = number if found.kind not in "f" else float(number)
    return _runtime.numeric_full(_shape(shape), dtype_name(found), number, order == "F")


@native()
@placed
def full(shape, fill_value, dtype=None, order="C", *, like=None):
    """An array with one value everywhere."""
    if dtype is None:
        dtype = getattr(fill_value, "dtype", None) or numpy.asarray(fill_value).dtype
    if not _held(dtype):
        return numpy.full(shape, fill_value, dtype, order)
    dtype = _dtypes.as_dtype(dtype)
    if isinstance(fill_value, (ndarray, numpy.ndarray, list, tuple)):
        made = empty(shape, dtype, order)
        made[...] = fill_value
        return made
    number = numpy.full((), fill_value, dtype).item()
    return _runtime.numeric_full(_shape(shape), dtype.name, number, order == "F")


@native()
@placed
def zeros(shape, dtype=None, order="C", *, like=None):
    """An array of zeros."""
    return _constant(shape, 0, dtype, order)


@native()
@placed
def ones(shape, dtype=None, order="C", *, like=None):
    """An array of ones."""
    return _constant(shape, 1, dtype, order)


def _like(make, a, dtype, order, shape):
    """`make(shape, dtype, order)` as another array is; its axes lie as the other's do (order "K")."""
    a = a if isinstance(a, ndarray) else asarray(a)
    dtype = a.dtype if dtype is None else dtype
    if order == "A":
        order = "F" if a._f_contiguous and not a._c_contiguous else "C"
    if shape is not None and (is_integer(shape) or len(shape) != a.ndim):
        return make(shape, dtype, "C" if order == "K" else order)
    shape = a.shape if shape is None else tuple(shape)
    if order != "K" or a._c_contiguous:
        return make(shape, dtype, "C" if order == "K" else order)
    order = order_of(a)
    if order == tuple(range(a.ndim)):
        return make(shape, dtype, "C")
    if order == tuple(range(a.ndim))[::-1]:
        return make(shape, dtype, "F")
    return turned_back(make([shape[k] for k in order], dtype, "C"), order)


@native()
@placed
def empty_like(prototype, dtype=None, order="K", subok=True, shape=None):
    """`empty` with the shape and dtype of another array."""
    return _like(empty, prototype, dtype, order, shape)


@native()
@placed
def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None):
    """`full` with the shape and dtype of another array."""
    return _like(lambda s, d, o: full(s, fill_value, d, o), a, dtype, order, shape)


@native()
@placed
def zeros_like(a, dtype=None, order="K", subok=True, shape=None):
    """`zeros` with the shape and dtype of another array."""
    return _like(zeros, a, dtype, order, shape)


@native()
@placed
def ones_like(a, dtype=None, order="K", subok=True, shape=None):
    """`ones` with the shape and dtype of another array."""
    return _like(ones, a, dtype, order, shape)


@native()
@placed
def arange(start=None, stop=None, step=None, dtype=None, *, like=None):
    """Numbers with a step between them, the stop excluded."""
    given = [x.item() if isinstance(x, ndarray) else x for x in (start, stop, step)]
    if given[0] is None and given[1] is None:
        raise TypeError("arange() requires stop to be specified.")
    if given[1] is None:
        given = [None, given[0], given[2]]
    first, last, by = given[0] or 0, given[1], 1 if given[2] is None else given[2]
    if by == 0:
        raise ZeroDivisionError("division by zero")
    if all(isinstance(end, bool | numpy.bool_) for end in (first, last)):
        return array(numpy.arange(first, last, by, dtype=dtype))  # NumPy's error
    probe = _type_of_range(*given) if dtype is None else _dtypes.as_dtype(dtype)
    length = (last - first) / by if probe.kind in "iuf" else -1
    length = math.ceil(length) if math.isfinite(length) else -1  # NumPy's error
    few = length < (4096 if _runtime.current_device_label() == "cpu" else 1)  # a GPU is given nothing to copy
    if few or probe.kind not in "iuf" or not _dtypes.held(probe):
        return array(numpy.arange(first, last, by, dtype=dtype))
    return _ramp(max(length, 0), probe, first, by)


def _type_of_range(*given):
    """The dtype that NumPy finds for a range, of all that is given: start, stop and step."""
    numbers = [int(x) if isinstance(x, bool | numpy.bool_) else x for x in given if x is not None]
    numbers = [
        type(x)(0) if isinstance(x, float | numpy.floating) else x for x in numbers
    ]  # also for infinities
    return numpy.result_type(*(numpy.arange(x, x, 1).dtype for x in numbers))


def _ramp(length, dtype, first, step):
    """first + i * step, as NumPy computes it: the step is the difference of the first two numbers as stored."""
    first = dtype.type(first)
    with numpy.errstate(all="ignore"):
        by = dtype.type(numpy.asarray(first + step).astype(dtype) - first)
    i = _index_ramp(length).astype(dtype)
    return i if first == 0 and by == 1 else first + i * by


def _index_ramp(length):
    from ._gather import index_ramp

    return index_ramp(length)


def _host_made(name):
    reference = getattr(numpy, name)

    def made(*args, **kwargs):
        from ._fallback import to_host, to_ours

        return to_ours(reference(*to_host(args), **to_host(kwargs)))

    made.__name__ = name
    made.__doc__ = reference.__doc__
    return made


# Small tables that NumPy makes and the device gets: making them is no work.
for _name in (
    "tri",
    "geomspace",
    "fromstring",
    "frombuffer",
    "fromiter",
    "loadtxt",
    "genfromtxt",
    "fromregex",
    "vander",
):
    if hasattr(numpy, _name):
        native(_name, partly="made by NumPy, then copied to the device")(placed(_host_made(_name)))


@native()
def copy(a, order="K", subok=False):
    """A copy of an array."""
    return array(a, order=order, copy=True)


@native()
def ascontiguousarray(a, dtype=None, *, like=None):
    """The array in C order; a copy only where it isn't so."""
    a = asarray(a, dtype)
    a = a if a.ndim else a.reshape(1)
    return a if a._c_contiguous else a.copy("C")


@native()
def asfortranarray(a, dtype=None, *, like=None):
    """The array in Fortran order; a copy only where it isn't so."""
    a = asarray(a, dtype)
    return a if a._f_contiguous else a.copy("F")


@native()
def asnumpy(a):
    """A host array with the values of an array of numeric's; CuPy's name."""
    return a.get() if isinstance(a, ndarray) else numpy.asarray(a)
