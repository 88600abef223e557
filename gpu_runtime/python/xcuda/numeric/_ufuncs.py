"""ufuncs: NumPy's functions of elements with `out`, `where`, `dtype`, `casting` and their methods."""

import operator
import warnings

import numpy

from xcuda import _runtime

from . import _dtypes
from ._array import goes_first
from ._fallback import on_host, to_host
from ._registry import TABLE, native, register

# The operators' ufuncs, in the order that the runtime's operators know them by.
_OPERATORS = (
    *("add", "subtract", "multiply", "divide", "floor_divide", "remainder", "power", "left_shift", "right_shift"),
    *("bitwise_and", "bitwise_or", "bitwise_xor", "less", "less_equal", "equal", "not_equal", "greater"),
    *("greater_equal", "negative", "positive", "absolute", "invert", "square", "sqrt", "reciprocal"),
)  # fmt: skip

_LARGEST = {"fmax", "maximum"}
_LEAST = {"fmin", "minimum"}
_IDENTITIES = {
    "add": 0, "multiply": 1, "logical_and": True, "logical_or": False, "logical_xor": False,
    "bitwise_or": 0, "bitwise_xor": 0, "bitwise_and": -1, "hypot": 0,
}  # fmt: skip
# Sums and products are computed wider than their result, so that they are no less exact than NumPy's.
_WIDER = {"float16": "float64", "float32": "float64", "complex64": "complex128"}


class ufunc:
    """A function of elements, as numpy.ufunc: call it, or one of its methods."""

    def __init__(self, reference):
        self.__name__ = reference.__name__
        self.__doc__ = reference.__doc__
        self._numpy = reference
        self.nin, self.nout, self.nargs = reference.nin, reference.nout, reference.nargs
        self.types, self.ntypes, self.identity = reference.types, reference.ntypes, reference.identity
        self.signature = None
        self._id = _runtime.numeric_ufunc(self.__name__, self.nin)
        self._folds = {}  # by dtype: what a plain reduce folds in, gives, and starts with

    def __repr__(self):
        return f"<ufunc '{self.__name__}'>"

    def __reduce__(self):
        return _by_name, (self.__name__,)

    def resolve_dtypes(self, *args, **kwargs):
        """numpy.ufunc.resolve_dtypes."""
        return self._numpy.resolve_dtypes(*args, **kwargs)

    def __call__(self, *args, **kwargs):
        if not kwargs:
            made = _runtime.numeric_call(self._id, *args)
            if made is not None:
                return made
        return self._general(args, **kwargs)

    def _general(
        self, args, out=numpy._NoValue, where=True, casting="same_kind", order="K", dtype=None, subok=True,
        signature=None, sig=None,
    ):  # fmt: skip
        if not self.nin <= len(args) <= self.nargs:
            raise TypeError(
                f"{self.__name__}() takes from {self.nin} to {self.nargs} positional arguments but "
                f"{len(args)} were given"
            )
        if len(args) > self.nin:
            if out is not numpy._NoValue:
                raise TypeError("cannot specify 'out' as both a positional and keyword argument")
            if any(x is ... for x in args[self.nin :]):
                raise TypeError("out=... is only allowed as a keyword argument.")
            out, args = args[self.nin :], args[: self.nin]
        if out is numpy._NoValue or out is ...:  # `...`: arrays, also where NumPy gives scalars
            if where is not True and out is not ...:
                warnings.warn(
                    "'where' used without 'out', expect uninitialized memory in output",
                    UserWarning,
                    stacklevel=3,
                )
            as_arrays, out = out is ..., None
        else:
            as_arrays = True
        if sum(x is not None for x in (dtype, signature, sig)) > 1:
            raise TypeError("cannot specify more than one of 'dtype', 'signature' and 'sig'")
        outs = (None,) * self.nout if out is None else out if isinstance(out, tuple) else (out,)
        if any(o is ... for o in outs):
            raise TypeError("must use `...` as `out=...` and not per-operand/in a tuple")
        if len(outs) != self.nout:
            raise ValueError("The 'out' tuple must have exactly one entry per ufunc output")
        operands = [_operand(a) for a in args]
        signature = sig if signature is None else signature
        to_host_out = any(isinstance(o, numpy.ndarray) for o in outs) and not any(map(_is_ours, args))
        if to_host_out or not any(map(_is_ours, (*operands, *outs, where))):
            how = {
                "casting": casting,
                "dtype": dtype,
                "signature": signature,
                "out": out,
                "where": where,
                "order": order,
            }
            return self._numpy(
                *args, **{k: to_host(v) for k, v in how.items() if v is not None and v is not True}
            )
        for o in outs:
            if o is not None and not _is_ours(o):
                raise TypeError("return arrays must be of ArrayType")
            if o is not None and o._readonly:
                raise ValueError("output array is read-only")
        if dtype is not None and signature is None:
            signature = (None,) * self.nin + (_dtypes.as_dtype(dtype),) * self.nout
        kinds = tuple(_kind(o) for o in operands)
        asked = tuple(None if o is None else o.dtype for o in outs)
        how = {} if signature is None else {"signature": signature}
        try:
            loop = self._numpy.resolve_dtypes((*kinds, *asked), casting=casting, **how)
        except numpy._core._exceptions._UFuncOutputCastingError:
            found = self._numpy.resolve_dtypes((*kinds, *(None for _ in outs)), casting=casting, **how)
            for o, d in zip(operands, found, strict=False):
                _as_loop_number(o, d)  # NumPy tells of numbers that do not fit first
            raise
        try:
            made = self._native(operands, loop)
        except OverflowError:
            if self.__name__ not in _COMPARISONS:
                raise
            made = [_compared(self._numpy, operands)]
        if made is None:
            how = {"where": to_host(where), "casting": casting, "signature": signature}
            how = {k: v for k, v in how.items() if v is not None and v is not True}
            if out is not None:
                how["out"] = tuple(outs)
            return on_host(self.__name__, self._numpy, args, how)
        for one in made:
            one._scalar = not (as_arrays or one.ndim)
        return _into(made, outs, where, self)

    def _native(self, operands, loop):
        """The results' arrays; None where there is no native loop."""
        inputs, results = loop[: self.nin], loop[self.nin :]
        if not all(map(_dtypes.held, loop)):
            return None
        if self.__name__ == "power" and results[0].kind == "i":
            _expect_natural(operands[1])
        numbers = []
        for o, d in zip(operands, inputs, strict=True):
            numbers.append(_as_loop_number(o, d))
        if not any(map(_is_ours, numbers)):
            from ._array import array

            numbers[0] = array(numbers[0], inputs[0])
        parts = _PARTS.get(self.__name__, (self.__name__,))
        if len(parts) != len(results):
            return None
        made = []
        for part, result in zip(parts, results, strict=True):
            one = _runtime.numeric_apply(part, [d.name for d in inputs], result.name, tuple(numbers))
            if one is None:
                return None
            made.append(one)
        return made

    # -- methods -------------------------------------------------------------------------------------

    def reduce(self, array, axis=0, dtype=None, out=None, keepdims=False, initial=numpy._NoValue, where=True):
        """Folds the array along axes."""
        if where is True and initial is numpy._NoValue and out is None:
            made = self._plain_fold(array, axis, dtype, keepdims)
            if made is not None:
                return made
        from ._array import asarray_or_host as asarray

        if self.nin != 2 or self.nout != 1:
            raise ValueError("reduce only supported for binary functions")
        out = None if out is ... else out[0] if isinstance(out, tuple) else out
        if out is ...:
            raise TypeError("must use `...` as `out=...` and not per-operand/in a tuple")
        if isinstance(out, numpy.ndarray) and not _is_ours(array):
            how = {
                "axis": axis,
                "dtype": dtype,
                "out": out,
                "keepdims": keepdims,
                "initial": initial,
                "where": to_host(where),
            }
            return self._numpy.reduce(array, **how)
        if out is not None and not isinstance(out, (numpy.ndarray, _runtime.NumericBase)):
            raise TypeError("output must be an array")
        array = asarray(array)
        axes = _axes(axis, array.ndim)
        made = self._fold(array, axes, dtype, bool(keepdims), initial, where)
        if made is None:
            how = {"dtype": dtype, "initial": initial, "where": None if where is True else where}
            how = {k: v for k, v in how.items() if v is not None and v is not numpy._NoValue}
            how.update(axis=axis, keepdims=keepdims)
            return TABLE["_reduce"].function(self, array, axes, how, out)
        if out is not None:
            if out.shape != made.shape:
                raise ValueError(
                    f"output parameter for reduction operation {self.__name__} has the wrong shape: Found "
                    f"{_shape(out)} but expected {_shape(made)}"
                )
            return _into([made], (out,), True, self)
        return made

    def _plain_fold(self, array, axis, dtype, keepdims):
        """The everyday case; None where it is another one."""
        if not _is_ours(array) or not array.size or not (dtype is None or isinstance(dtype, numpy.dtype)):
            return None
        known = self._folds.get((array.dtype, dtype))
        if known is None:
            return None
        ndim = array.ndim
        if axis is None:
            axes = list(range(ndim))
        elif type(axis) is int and -ndim <= axis < ndim:
            axes = [axis % ndim]
        elif type(axis) is tuple and _in_order(axis, ndim):
            axes = list(axis)
        else:
            return None
        loop, out, identity = known
        return array._fold(self.__name__, loop, out, axes, bool(keepdims), identity)

    def _fold(self, array, axes, dtype, keepdims, initial, where):
        name = self.__name__
        if not hasattr(array, "_fold"):
            return None
        out = self._fold_dtype(array.dtype, dtype)
        if out is None or not _dtypes.held(out):
            return None
        loop = _WIDER.get(out.name, out.name) if name in ("add", "multiply") else out.name
        identity = self._identity(numpy.dtype(loop))
        if identity is None:
            return None
        if name == "add" and out.kind in "fc" and initial is not numpy._NoValue:
            identity = (
                -0.0 if out.kind == "f" else complex(-0.0, -0.0)
            )  # zeros that are added keep their sign
        length = 1
        for axis in axes:
            length *= array.shape[axis]
        unbounded = name in _LARGEST or name in _LEAST
        if unbounded and initial is numpy._NoValue:
            if length == 0:
                raise ValueError(f"zero-size array to reduction operation {name} which has no identity")
            if where is not True:
                raise ValueError(
                    f"reduction operation '{name}' does not have an identity, so to use a where mask one has to "
                    "specify 'initial'"
                )
        if where is not True:
            from ._functions import where as choose

            kept = identity if identity == 0 and array.dtype.kind in "fc" else self._identity(array.dtype)
            array = choose(where, array, numpy.dtype(array.dtype).type(kept))
        made = array._fold(name, loop, out.name, list(axes), keepdims, identity)
        plain = (
            where is True and initial is numpy._NoValue and (dtype is None or isinstance(dtype, numpy.dtype))
        )
        if made is not None and plain:
            self._folds[array.dtype, dtype] = loop, out.name, identity
        if made is None or initial is numpy._NoValue or initial is None:
            return made
        if not hasattr(initial, "__array__") and not isinstance(initial, (bool, int, float, complex)):
            return None
        if made.ndim < 2:
            return self(made, out.type(initial))
        return self(made, out.type(initial), out=made)  # in its layout

    def _fold_dtype(self, given, dtype):
        if dtype is not None:
            return _dtypes.as_dtype(dtype) if self.__name__ not in _LOGICAL else numpy.dtype(bool)
        if self.__name__ in _LOGICAL:
            return numpy.dtype(bool)
        if self.__name__ in ("add", "multiply") and given.kind in "bui" and given.itemsize <= 8:
            return numpy.dtype("uint64" if given.kind == "u" else "int64")
        try:
            found = self._numpy.resolve_dtypes((given, given, None))
        except TypeError:
            self._numpy.reduce(numpy.empty(0, given))  # raises as NumPy does
            raise
        return found[2] if found[0] == found[2] else None

    def _identity(self, dtype):
        name = self.__name__
        if name in _IDENTITIES:
            if name == "bitwise_and":
                return True if dtype.kind == "b" else numpy.bitwise_not(dtype.type(0)).item()
            return dtype.type(_IDENTITIES[name]).item()
        if dtype.kind == "c":
            return None
        if name in ("fmax", "fmin") and dtype.kind == "f":
            return float("nan")
        if name in _LARGEST or name in _LEAST or name == "logaddexp":
            low = name not in _LEAST
            if dtype.kind == "b":
                return not low
            if dtype.kind == "f" or dtype.name == "bfloat16":
                return -numpy.inf if low else numpy.inf
            return int(numpy.iinfo(dtype).min if low else numpy.iinfo(dtype).max)
        return None

    def outer(self, a, b, /, **kwargs):
        """The function of every pair."""
        from ._array import asarray_or_host as asarray

        if self.nin != 2:
            raise ValueError("outer product only supported for binary functions")
        a, b = asarray(a), asarray(b)
        return self(a.reshape(a.shape + (1,) * b.ndim), b, **kwargs)


_COMPARISONS = {"less", "less_equal", "equal", "not_equal", "greater", "greater_equal"}
_LOGICAL = {"logical_and", "logical_or", "logical_xor"}
_PARTS = {
    "divmod": ("floor_divide", "remainder"),
    "frexp": ("frexp", "frexp_exponent"),
    "modf": ("modf", "trunc"),
}


def _by_name(name):
    return TABLE[name].function


def _is_ours(value):
    return isinstance(value, _runtime.NumericBase)


def _operand(value):
    """An operand as an array of ours or a number; other arrays and lists become arrays."""
    if _is_ours(value) or isinstance(value, (bool, int, float, complex, numpy.generic)):
        return value
    from ._array import asarray_or_host

    return asarray_or_host(value)


def _kind(value):
    if _is_ours(value) or isinstance(value, (numpy.generic, numpy.ndarray)):
        return value.dtype
    return (
        numpy.dtype(bool)
        if isinstance(value, bool)
        else type(value)
        if type(value) in (int, float, complex)
        else next(t for t in (int, float, complex) if isinstance(value, t))
    )


def _as_loop_number(value, dtype):
    """A number as the loop's dtype has it (OverflowError where it does not fit); arrays as they are."""
    if _is_ours(value) or isinstance(value, numpy.generic):
        return value
    return numpy.array(value, dtype)[()]


def _compared(comparison, operands):
    """With an integer that the array's dtype can't have every element compares alike."""
    from ._creation import full

    (at, array), *_ = [(i, o) for i, o in enumerate(operands) if _is_ours(o)]
    one = list(operands)
    one[at] = array.dtype.type(0)
    return full(array.shape, bool(comparison(*one)), bool)


def _expect_natural(exponent):
    negative = exponent < 0
    if bool(negative.any()) if _is_ours(negative) else negative:
        raise ValueError("Integers to negative integer powers are not allowed.")


def _in_order(axes, ndim):
    """True for places of axes, each after the one before."""
    before = -1
    for axis in axes:
        if type(axis) is not int or not before < axis < ndim:
            return False
        before = axis
    return True


def _axes(axis, ndim):
    if axis is None:
        return tuple(range(ndim))
    given = axis if isinstance(axis, tuple) else (axis,)
    axes = []
    for a in given:
        place = numpy.lib.array_utils.normalize_axis_index(a, ndim) if ndim or a not in (0, -1) else None
        if place is None:
            continue
        if place in axes:
            raise ValueError("duplicate value in 'axis'")
        axes.append(place)
    return tuple(axes)


def _into(made, outs, where, function):
    """Results into `out` arrays, where the mask holds."""
    given = []
    for one, out in zip(made, outs, strict=True):
        if where is not True:
            from ._creation import empty
            from ._functions import where as choose

            mask = _operand(where)
            if out is None:
                out = empty(numpy.broadcast_shapes(one.shape, numpy.shape(mask)), one.dtype)
            one = choose(mask, one.astype(out.dtype, copy=False), out)
        if out is None:
            given.append(one)
            continue
        if numpy.broadcast_shapes(one.shape, out.shape) != out.shape:
            raise ValueError(
                f"non-broadcastable output operand with shape {_shape(out)} doesn't match the broadcast shape "
                f"{_shape(one)}"
            )
        if not numpy.can_cast(one.dtype, out.dtype, "same_kind"):
            raise numpy._core._exceptions._UFuncOutputCastingError(
                function._numpy, "same_kind", one.dtype, out.dtype, 0
            )
        if one.dtype != out.dtype:
            one = one.astype(out.dtype)
        if _is_ours(out):
            out._assign(one)
        else:
            numpy.copyto(out, one.get(), "same_kind")
        given.append(out)
    return given[0] if len(given) == 1 else tuple(given)


def _shape(array):
    return str(array.shape).replace(" ", "")


_COMPARE = {"equal": operator.eq, "not_equal": operator.ne}  # all False or True where NumPy has no loop


def slow(name, *operands, out=None):
    """An operator with operands that the runtime does not read by itself."""
    function = TABLE[name].function
    if any(map(goes_first, operands)):
        return NotImplemented
    if any(isinstance(o, (str, bytes, dict, set)) or o is None for o in operands):
        if name in ("equal", "not_equal"):
            return on_host(name, _COMPARE[name], operands, {})
        return NotImplemented
    return function(*operands) if out is None else function(*operands, out=out)


def _make():
    names = [n for n, f in _dtypes.UFUNCS.items() if f.__name__ == n and f.signature is None]
    ordered = [*_OPERATORS, *(n for n in names if n not in _OPERATORS)]
    for i, name in enumerate(ordered):
        function = ufunc(_dtypes.UFUNCS[name])
        assert i >= len(_OPERATORS) or function._id == i
        register(name, function, __name__)
    for name, f in _dtypes.UFUNCS.items():
        if f.__name__ != name and f.__name__ in TABLE:  # numpy.conj and the like
            register(name, TABLE[f.__name__].function, __name__)


_make()
_OTHER_NAMES = native  # other modules register functions; ufuncs are registered here
