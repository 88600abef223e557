"""`ndarray`: NumPy's array in a device's memory, its values computed when somebody needs them."""

import builtins

import numpy

from xcuda import _runtime
from xcuda.core.arrays import DeviceArray, as_device_array, to_device
from xcuda.core.devices import Device
from xcuda.core.dtypes import name_of
from xcuda.core.views import put_back, slowest_first

from . import _dtypes
from ._flags import Flags, Flat
from ._layouts import order_of, turned, turned_back
from ._placed import placed
from ._registry import TABLE, NotHeldError, native
from ._shapes import is_integer
from ._shown import shown

_apply = _runtime.numeric_apply
_part = _runtime.numeric_part
_product = _runtime.numeric_product


class ndarray(_runtime.NumericBase):
    """NumPy's ndarray on the device. Operations build a graph that is computed when a value is looked at.

    Basic slices, `reshape`, `transpose` and the like share memory. `x.get()` or `numpy.asarray(x)` give host arrays.
    """

    __slots__ = ()
    __array_priority__ = 100
    __hash__ = None

    def __new__(cls, shape, dtype=float, buffer=None, offset=0, strides=None, order=None):
        if buffer is not None or strides is not None or offset:
            return array(numpy.ndarray(shape, dtype, buffer, offset, strides, order))
        from ._creation import empty

        return empty(shape, dtype, order or "C")

    def __init__(self, *args, **kwargs):
        pass

    # -- to the host and to others -------------------------------------------------------------------

    def get(self):
        """A NumPy array with its values: a copy, whose axes lie as those of NumPy's `copy("K")` do."""
        if self.ndim > 8:
            order = order_of(self)
            seen = turned(self, order)
            host = seen.copy().reshape(-1).get().reshape(seen.shape)
            return host.transpose(put_back(order))
        return self._into(DeviceArray).copy_to_host()

    numpy = get

    def _host(self):
        """A NumPy array of the same strides: of the same memory on the CPU device, else of a copy."""
        if self.ndim > 8:
            return self.get()
        if not self._host_accessible:
            host, _ = self._into(DeviceArray)._host_memory()
            host.flags.writeable = not self._readonly
            return host
        return numpy.asarray(memoryview(self._into(DeviceArray))).view(self.dtype)

    def __array__(self, dtype=None, copy=None):
        if copy is False and not self._host_accessible:
            raise ValueError("the array lives on a GPU: NumPy can only have a copy of it")
        host = self.get() if copy or not self._host_accessible else self._host()
        return host if dtype is None else host.astype(dtype, copy=False)

    def __array_wrap__(self, values, context=None, return_scalar=False):
        return asarray(values)

    @property
    def __cuda_array_interface__(self):
        seen = self._into(DeviceArray).__cuda_array_interface__
        self._expose_for_good()
        return seen

    def __dlpack__(self, **how):
        return self._into(DeviceArray).__dlpack__(**how)

    def __dlpack_device__(self):
        return self._into(DeviceArray).__dlpack_device__()

    def __sizeof__(self):
        return object.__sizeof__(self) + (self.nbytes if self._owns else 0)

    def to_device_array(self):
        """core's DeviceArray over the same memory."""
        return self._into(DeviceArray)

    @property
    def device(self):
        """The Device that it lives on."""
        return Device(self._device_label)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        ours = TABLE.get(ufunc.__name__)
        if ours is None:
            from ._fallback import on_host

            return on_host(ufunc.__name__, getattr(ufunc, method), inputs, kwargs)
        out = kwargs.get("out")
        if isinstance(out, tuple) and len(out) == 1:
            kwargs["out"] = out[0]
        return getattr(ours.function, method)(*inputs, **kwargs)

    def __array_function__(self, function, types, args, kwargs):
        from xcuda import numeric

        name = function.__name__
        module = getattr(function, "__module__", "numpy").removeprefix("numpy").lstrip(".")
        place = numeric if not module else getattr(numeric, module, None)
        ours = getattr(place, name, None) if place is not None else None
        if ours is None:
            from ._fallback import on_host

            return on_host(name, function, args, kwargs)
        return ours(*args, **kwargs)

    def __reduce__(self):
        return array, (self.get(),)

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        return self.copy()

    # -- how it looks --------------------------------------------------------------------------------

    def __repr__(self):
        return repr(shown(self))

    def __str__(self):
        return str(shown(self))

    def __format__(self, spec):
        return format(self.item(), spec) if self.ndim == 0 else format(self.get(), spec)

    def _repr_html_(self):
        from ._html import array_html

        return array_html(self)

    # -- as numbers ----------------------------------------------------------------------------------

    def item(self, *args):
        """One element as a Python number."""
        if args:
            index = args[0] if len(args) == 1 else args
            if not isinstance(index, tuple):
                if not -self.size <= index < self.size:
                    raise IndexError(f"index {index} is out of bounds for size {self.size}")
                index = numpy.unravel_index(index % self.size, self.shape)
            return self[tuple(map(int, index))]._one()
        if self.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return self._one()

    def _number(self):
        if self.ndim and self.size == 1:
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        if self.size != 1:
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        return self._one()

    def __float__(self):
        return float(self._number())

    def __int__(self):
        return int(self._number())

    def __complex__(self):
        return complex(self._number())

    def __index__(self):
        if self.ndim or self.dtype.kind not in "iu":
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return self._one()

    def __bool__(self):
        if self.size == 0:
            raise ValueError(
                "The truth value of an empty array is ambiguous. "
                "Use `array.size > 0` to check that an array is not empty."
            )
        if self.size > 1:
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"
            )
        return bool(self._one())

    def __round__(self, digits=0):
        return self.round(digits)

    def __iter__(self):
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))

    def __contains__(self, value):
        return bool((self == value).any())

    def tolist(self):
        """Nested lists of Python numbers."""
        return self.get().tolist()

    def tobytes(self, order="C"):
        """The elements' bytes."""
        return self.get().tobytes(order)

    # -- memory and shape ----------------------------------------------------------------------------

    @property
    def T(self):
        """The array with its axes in reverse order, sharing memory."""
        return self.transpose()

    @property
    def mT(self):
        """The array with its last two axes exchanged, sharing memory."""
        if self.ndim < 2:
            raise ValueError("matrix transpose with ndim < 2 is undefined")
        return self.swapaxes(-1, -2)

    @property
    def flags(self):
        """NumPy's flags of its memory."""
        return Flags(self)

    @property
    def base(self):
        """Not None where the array is a view."""
        return None if self._owns else True

    @property
    def flat(self):
        """The elements in C order, one by one or by index."""
        return Flat(self)

    @flat.setter
    def flat(self, values):
        self.flat[:] = values

    @property
    def real(self):
        """The real part, sharing memory."""
        if (made := _part(self, 0)) is not None:
            return made
        if self.dtype.kind != "c":
            return self
        from ._seen import part_view

        return part_view(self, 0)

    @real.setter
    def real(self, value):
        self.real[...] = value

    @property
    def imag(self):
        """The imaginary part, sharing memory; of real numbers, zeros that are read-only."""
        if (made := _part(self, 1)) is not None:
            return made
        if self.dtype.kind != "c":
            zeros = TABLE["zeros_like"].function(self, order="A")
            zeros.flags.writeable = False
            return zeros
        from ._seen import part_view

        return part_view(self, 1)

    @imag.setter
    def imag(self, value):
        if self.dtype.kind != "c":
            raise TypeError("array does not have imaginary part to set")
        self.imag[...] = value

    def copy(self, order="C"):
        """A copy with memory of its own."""
        order = _settled(order, self)
        made = _plain_copy(self) if order == "K" else self._copied(_axes_of(order, self.ndim))
        made._scalar = self._scalar
        return made

    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True, *, device=None):
        """The values as another dtype."""
        if dtype is self.dtype and not copy and device is None and order == "K":
            return self
        if (
            order == "K"
            and casting == "unsafe"
            and device is None
            and isinstance(dtype, (str, type, numpy.dtype))
        ):
            known = _casts.get((self.dtype, dtype))
            if known is not None:
                made = _apply("astype", *known, (self,))
                made._scalar = self._scalar
                return made
        asked, dtype = dtype, _dtypes.as_dtype(dtype)
        if device is not None and Device(device).label != self._device_label:
            return self.to_device(device).astype(dtype, order, casting, subok, False)
        if not _dtypes.held(dtype):
            return self.get().astype(dtype, order=order, casting=casting)
        if not numpy.can_cast(self.dtype, dtype, casting):
            raise TypeError(
                f"Cannot cast array data from {self.dtype!r} to {dtype!r} according to the rule '{casting}'"
            )
        if dtype == self.dtype:
            return self.copy(order) if copy else self
        source = self
        if self.dtype.kind == "c" and dtype.kind not in "cb":
            _lose_imaginary()
            from ._functions import real_part

            source = real_part(self if self._c_contiguous else _plain_copy(self))
        if source.dtype == dtype:
            return source.copy(order)
        how = [source.dtype.name], dtype.name
        if source is self and isinstance(asked, (str, type, numpy.dtype)):
            _casts[self.dtype, asked] = how
        made = _apply("astype", *how, (source,))
        made._scalar = self._scalar
        return made if order == "K" else made.copy(_settled(order, self))

    def fill(self, value):
        """Every element becomes the number."""
        self[...] = value

    def reshape(self, *shape, order="C", copy=None):
        """The elements in another shape; shares memory where the strides allow it."""
        if len(shape) == 1 and not is_integer(shape[0]):
            shape = shape[0]
        return TABLE["reshape"].function(self, shape, order, copy=copy)

    def transpose(self, *axes):
        """The axes in the given order (reversed by default), sharing memory."""
        if len(axes) == 1 and (axes[0] is None or numpy.ndim(axes[0])):
            axes = axes[0]
        elif not axes:
            axes = None
        return TABLE["transpose"].function(self, axes)

    def view(self, dtype=None, type=None):
        """The same memory; another dtype goes by the host for now."""
        if isinstance(dtype, builtins.type) and issubclass(dtype, (numpy.ndarray, ndarray)):
            dtype, type = None, dtype
        if type is not None and type is not ndarray:
            raise TypeError(
                f"device arrays have no views as {type.__name__}: numpy.asarray(x).view({type.__name__})"
            )
        if dtype is None or _dtypes.as_dtype(dtype) == self.dtype:
            return self[...]
        from ._seen import seen_as

        return seen_as(self, _dtypes.as_dtype(dtype))

    def __matmul__(self, other):
        if (made := _product(self, other)) is not None:
            return made
        return NotImplemented if goes_first(other) else _binary_function("matmul", self, other)

    def __rmatmul__(self, other):
        return NotImplemented if goes_first(other) else _binary_function("matmul", other, self)

    def __imatmul__(self, other):
        self[...] = _binary_function("matmul", self, other)
        return self

    def __divmod__(self, other):
        return self // other, self % other

    def __rdivmod__(self, other):
        return other // self, other % self


def goes_first(other):
    """True where an operator is the other operand's: NumPy's rule, but for arrays that devices can have as they are."""
    kind = type(other)
    if issubclass(kind, (_runtime.NumericBase, numpy.ndarray, numpy.generic, int, float, complex)):
        return False
    theirs = getattr(kind, "__array_ufunc__", numpy._NoValue)
    if theirs is not numpy._NoValue:
        return theirs is None
    if hasattr(other, "__cuda_array_interface__") or hasattr(kind, "__dlpack__"):
        return False
    priority = getattr(kind, "__array_priority__", 0)
    return isinstance(priority, (int, float)) and priority > 0


def _binary_function(name, a, b):
    from xcuda import numeric

    return getattr(numeric, name)(a, b)


def _lose_imaginary():
    import warnings

    from numpy.exceptions import ComplexWarning

    warnings.warn("Casting complex values to real discards the imaginary part", ComplexWarning, stacklevel=3)


_casts = {}  # (dtype, dtype as asked for) -> their names, which NumPy makes anew each time; no casts that warn


def _axes_of(order, ndim):
    """The axes, slowest first, of "F"; none of "C", which is the runtime's rule."""
    return list(range(ndim))[::-1] if order == "F" else []


def _settled(order, a):
    return order if order != "A" else "F" if a._f_contiguous and not a._c_contiguous else "C"


def _plain_copy(a):
    name = name_of(a.dtype)
    return _apply("copy", [name], name, (a,))


# -- making arrays -----------------------------------------------------------------------------------


def adopt(host):
    """numeric's array of a host array that nobody else has: the same memory on the CPU device."""
    if _runtime.current_device_label() == "cpu" and host.size and not _is_bfloat(host) and host.ndim <= 8:
        return _runtime.numeric_from_device(as_device_array(host))
    return as_on_host(host)


def _is_bfloat(host):
    return host.dtype.name == "bfloat16"


def _from_host(host):
    """A copy on the device, whose axes lie as those of NumPy's `copy("K")` do."""
    if host.flags.c_contiguous and host.ndim <= 8:
        return _runtime.numeric_from_device(to_device(host))
    order = slowest_first(host.strides)
    seen = numpy.ascontiguousarray(host.transpose(order)).reshape([host.shape[k] for k in order])
    if host.ndim <= 8:
        return turned_back(_runtime.numeric_from_device(to_device(seen)), order)
    flat = _runtime.numeric_from_device(to_device(seen.reshape(-1)))
    return turned_back(flat.reshape(seen.shape), order)


def as_on_host(host):
    """The same, with the strides that it has on the host, also along axes of length 1."""
    made = _from_host(host)
    strides = [s if n == 1 else m for n, s, m in zip(host.shape, host.strides, made.strides, strict=True)]
    if tuple(strides) == made.strides or not host.size:
        return made
    return made._view(0, made.shape, [s // made.itemsize for s in strides])


_NO_COPY = "Unable to avoid copy while creating an array as requested."
_COPIES = {numpy._CopyMode.ALWAYS: True, numpy._CopyMode.NEVER: False, numpy._CopyMode.IF_NEEDED: None}


def _copying(copy):
    """True, None (where it is needed) or False."""
    if isinstance(copy, str):
        raise ValueError("strings are not allowed for 'copy' keyword. Use True/False/None instead.")
    return copy if copy is None else _COPIES[copy] if isinstance(copy, numpy._CopyMode) else bool(copy)


@native("array")
def array(object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0, ndmax=0, like=None):
    """numpy.array on the device. What device arrays can't hold (text, objects, dates) stays NumPy's array."""
    copy = _copying(copy)
    dtype = dtype if dtype is None else _dtypes.as_dtype(dtype)
    if isinstance(object, ndarray):
        if ndmax:
            numpy.array(
                numpy.broadcast_to(0, object.shape), copy=None, ndmin=ndmin, ndmax=ndmax
            )  # NumPy's errors
        made = object
        if dtype is not None and _dtypes.as_dtype(dtype) != made.dtype:
            if copy is False:
                raise ValueError(_NO_COPY)
            made = made.astype(dtype, order=order)
        elif copy:
            made = made.copy(order)
        if not isinstance(made, ndarray):
            return made
        if made._scalar:
            made = _plain_copy(made)
        if order in ("C", "F") and not (made._c_contiguous if order == "C" else made._f_contiguous):
            if copy is False:
                raise ValueError(_NO_COPY)
            made = made.copy(order)
        while made.ndim < ndmin:
            made = made[None]
        return made
    if hasattr(object, "__cuda_array_interface__") or isinstance(object, DeviceArray):
        made = _runtime.numeric_from_device(as_device_array(object))
        return array(made, dtype, copy=copy, order=order, ndmin=ndmin)
    if type(object) in (list, tuple):
        object = _with_hosts(object)
    elif hasattr(object, "__array__") and not isinstance(object, (numpy.ndarray, numpy.generic)):
        made, copied = _told_array(object, copy)  # where it is numeric's, NumPy would not take it
        if isinstance(made, ndarray):
            return array(made, dtype, copy=None if copied else copy, order=order, ndmin=ndmin, ndmax=ndmax)
    how = {"ndmax": ndmax} if ndmax else {}
    host = numpy.array(object, dtype=dtype, copy=None, order=order, ndmin=ndmin, **how)
    if order == "A" and not host.flags.forc:
        host = numpy.ascontiguousarray(host)
    if not host.dtype.isnative:
        host = host.astype(host.dtype.newbyteorder("="))
    if copy is False and (host is not object or _dtypes.held(host.dtype)):
        raise ValueError(_NO_COPY)  # what lies on the host goes to the device
    if not _dtypes.held(host.dtype):
        return host if host is not object or not copy else host.copy()
    own = host is not object and not isinstance(object, (numpy.ndarray, numpy.generic)) and host.base is None
    return adopt(host) if own and host.flags.owndata else _from_host(host)


def _told_array(object, copy):
    """(what `__array__` gives, whether it has seen to `copy`)."""
    if copy is None:
        return object.__array__(), False
    try:
        return object.__array__(copy=copy), True
    except TypeError:
        return object.__array__(), False


def _with_hosts(items):
    """Nested lists with numeric's arrays in them as host arrays."""
    if any(isinstance(i, ndarray) or type(i) in (list, tuple) for i in items):
        return [
            i.get() if isinstance(i, ndarray) else _with_hosts(i) if type(i) in (list, tuple) else i
            for i in items
        ]
    return items


@native("asarray", "asanyarray")
@placed
def asarray_or_host(a, dtype=None, order=None, *, copy=None, like=None):
    """`array` without a copy where it is numeric's array already."""
    copy = _copying(copy)
    if isinstance(a, ndarray) and copy is not True:
        same = dtype is None or _dtypes.as_dtype(dtype) == a.dtype
        if same and order in (None, "K", "A"):
            return _plain_copy(a) if a._scalar else a
        if copy is False:
            raise ValueError(_NO_COPY)
    return array(a, dtype, copy=copy, order=order or "K")


def asarray(a, dtype=None, order=None):
    """numeric's array of the values, itself where it is one; NotHeldError where device arrays can't hold them."""
    if isinstance(a, ndarray) and dtype is None and order is None:
        return a
    made = asarray_or_host(a, dtype, order)
    if not isinstance(made, ndarray):
        raise NotHeldError(f"device arrays can't hold {made.dtype!r}")
    return made


def dtype_name(dtype, default="float64"):
    """The runtime's name of a dtype; None: `default`."""
    return default if dtype is None else name_of(dtype)


def get_item(a, key):
    """`a[key]` for keys that are not basic: by arrays of integers or booleans."""
    return TABLE["_getitem"].function(a, key)


def set_item(a, key, value):
    """`a[key] = value` where the fast way does not know the key or the value."""
    return TABLE["_setitem"].function(a, key, value)
