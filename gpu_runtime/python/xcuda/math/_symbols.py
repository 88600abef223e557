"""What a captured function computes with: arrays and numbers without values."""

from __future__ import annotations

import builtins
import math
import operator

import numpy

from ._capture import VIEWS, Capture, Respecialise, is_array, roots_of
from ._errors import refused
from ._graph import Node

_UFUNC_OF = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide",
    "mod": "remainder", "pow": "power", "and_": "bitwise_and", "or_": "bitwise_or", "xor": "bitwise_xor",
    "lshift": "left_shift", "rshift": "right_shift", "lt": "less", "le": "less_equal", "eq": "equal",
    "ne": "not_equal", "gt": "greater", "ge": "greater_equal", "neg": "negative", "pos": "positive",
    "abs": "absolute", "invert": "invert",
}  # fmt: skip
# NumPy's functions of arrays that give something else.
_SHAPES = {"shape": lambda x: x.shape, "ndim": lambda x: x.ndim, "size": lambda x: x.size}


class Symbol:
    """An array or a number of a capture; the function runs over these once, and never sees values."""

    __slots__ = ("_capture", "_node", "_viewed")
    __array_priority__ = 1000

    def __init__(self, capture: Capture, node: Node):
        self._capture, self._node = capture, node
        self._viewed = False

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        if method != "__call__":
            if method == "reduce" and (name := _FOLDS.get(ufunc.__name__)):
                kwargs.setdefault("axis", 0)
                return self._capture.record(name, inputs, kwargs)
            if method == "outer":
                a, b = inputs
                ones = (1,) * numpy.ndim(b)
                return self._capture.record(ufunc.__name__, (a.reshape(tuple(a.shape) + ones), b), kwargs)
            raise refused(
                f"numpy.{ufunc.__name__}.{method} is no function that can be captured",
                "nvmath's functions can: sum, cumsum, ...",
            )
        return self._capture.record(ufunc.__name__, inputs, kwargs)

    def __array_function__(self, function, types, args, kwargs):
        name = function.__name__
        if name in _SHAPES:
            return _SHAPES[name](args[0])
        module = getattr(function, "__module__", "numpy").removeprefix("numpy").lstrip(".")
        op = f"{module}.{name}" if module in ("linalg", "fft") else name
        return called(self._capture, op, args, kwargs)

    def __array__(self, dtype=None, copy=None):
        raise refused(
            "a NumPy array is made of an array whose values are not known while the function is captured",
            "use nvmath's functions (nvmath.stack for a list of arrays), or do this outside of the function",
        )

    def __bool__(self):
        raise _undecided(self)

    __hash__ = None


def _undecided(symbol):
    """The refusal for a branch that values decide."""
    from ._statements import deciding

    kind, place = deciding()
    found = f"{kind} is decided by the values of an array, which a captured function does not have"
    return refused(found, _ADVICE.get(kind, _ADVICE["this"])) if place is None else _at(found, kind, place)


def _at(found, kind, place):
    from ._errors import refusal

    return refusal(found, _ADVICE.get(kind, _ADVICE["this"]), place)


_ADVICE = {
    "this if": "write nvmath.where(condition, a, b), which takes both, or decide outside of the function",
    "this conditional expression": "write nvmath.where(condition, a, b)",
    "this while": "write `for _ in range(n)` with a fixed n and nvmath.where, or loop outside of the function",
    "this max()": "write nvmath.maximum(a, b), or x.max() of an array's elements",
    "this min()": "write nvmath.minimum(a, b), or x.min() of an array's elements",
    "this any()": "write nvmath.any(x)",
    "this all()": "write nvmath.all(x)",
    "this bool()": "compute with the array itself: nvmath.where(condition, a, b) takes both",
    "this sorted()": "write nvmath.sort(x)",
    "this assert": "check the values outside of the function",
    "this and/or": "write nvmath.logical_and(a, b), nvmath.logical_or(a, b), or a & b, a | b",
    "this not": "write nvmath.logical_not(a), or ~a",
    "this comparison chain": "write (a < b) & (b < c)",
    "this": "write nvmath.where(condition, a, b), or do this outside of the function",
}


def called(capture, op, args, kwargs):
    """A public function of NumPy's or nvmath's, called with symbols."""
    if op in ("asarray", "asanyarray", "ascontiguousarray"):
        return _as_array(capture, args, kwargs)
    if op == "array":
        made = _as_array(capture, args, kwargs)
        return made.copy() if made is args[0] else made
    if op in ("shape", "ndim", "size") and isinstance(args[0], Array):
        return _SHAPES[op](args[0])
    if op in ("result_type", "can_cast", "iscomplexobj", "isrealobj", "common_type"):
        plain = [numpy.zeros((1,) * a.ndim, a.dtype) if isinstance(a, Array) else a for a in args]
        return getattr(numpy, op)(*plain, **kwargs)
    if op.startswith("linalg.eig") and op in ("linalg.eig", "linalg.eigvals"):
        raise refused(
            f"{op}() gives real or complex arrays by the values", "nvmath.linalg.eigh, or call it outside"
        )
    return capture.record(_SAME.get(op, op), args, kwargs)


_SAME = {"concatenate": "concatenate", "abs": "absolute", "conj": "conjugate", "amax": "max", "amin": "min",
         "linalg.matmul": "matmul", "acos": "arccos", "asin": "arcsin", "atan": "arctan", "atan2": "arctan2",
         "acosh": "arccosh", "asinh": "arcsinh", "atanh": "arctanh", "pow": "power", "bitwise_not": "invert",
         "mod": "remainder", "true_divide": "divide", "concat": "concatenate"}  # fmt: skip
_FOLDS = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all",
          "logical_or": "any"}  # fmt: skip


def _as_array(capture, args, kwargs):
    value, *rest = args
    dtype = rest[0] if rest else kwargs.get("dtype")
    if isinstance(value, (list, tuple)):
        value = capture.record("stack", ([_as_array(capture, (v,), {}) for v in value],))
    elif isinstance(value, Number):
        raise refused("an array is made of a number whose value may differ from call to call",
                      "nvmath.full(shape, number), or compute with the number itself")  # fmt: skip
    elif not isinstance(value, Array):
        return capture.record("copy", (numpy.asarray(value, dtype),))
    return value if dtype is None else value.astype(dtype, copy=False)


class Array(Symbol):
    """An array of a captured function: shape (symbolic lengths), dtype and all of ndarray's methods."""

    __slots__ = ()

    @property
    def shape(self):
        """The lengths, as numbers that may differ from call to call."""
        return tuple(self._length(i) for i in range(self._node.ndim))

    def _length(self, axis):
        node = self._node
        if self._capture.exact:
            return node.spec.shape[axis]
        return self._capture.number("dim", (node, axis), node.spec.shape[axis])

    @property
    def size(self):
        """How many elements."""
        if self._capture.exact:
            return self._node.spec.size
        return self._capture.number("size", (self._node,), self._node.spec.size)

    @property
    def ndim(self):
        """How many axes."""
        return self._node.ndim

    @property
    def dtype(self):
        """NumPy's dtype."""
        return self._node.spec.dtype

    @property
    def itemsize(self):
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def nbytes(self):
        """Bytes of all elements."""
        return self.size * self.itemsize

    @property
    def T(self):
        """The axes in reverse order."""
        return self._capture.record("transpose", (self,))

    @property
    def mT(self):
        """The last two axes exchanged."""
        return self._capture.record("swapaxes", (self, -1, -2))

    @property
    def real(self):
        """The real part."""
        return self._capture.record("real", (self,))

    @property
    def imag(self):
        """The imaginary part."""
        return self._capture.record("imag", (self,))

    def __len__(self):
        if not self.ndim:
            raise TypeError("len() of unsized object")
        return operator.index(self.shape[0])

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key):
        for item in key if isinstance(key, tuple) else (key,):
            if (isinstance(item, Array) or is_array(item)) and item.dtype == bool:
                raise refused(
                    "how many elements a mask selects depends on its values",
                    "nvmath.where(mask, x, 0) keeps the shape; sum(..., where=mask) folds the selected ones",
                )
        return self._capture.record("getitem", (self, key))

    def __setitem__(self, key, value):
        self._become(self._capture.record("setitem", (self._owned("x[...] = ..."), key, value)))

    def _owned(self, what):
        """Itself, where a write is seen by nobody outside."""
        if self._node.op in ("input", "constant"):
            raise refused(
                f"{what} writes to an array that the function was given",
                "write x = x.copy() before it, or make a new array",
            )
        if self._viewed or self._node.op in VIEWS:
            raise refused(f"{what} writes to memory that two arrays share", "write x = x.copy() before it")
        return self

    def _become(self, other):
        self._node = other._node

    def astype(self, dtype, *args, **kwargs):
        """The values as another dtype."""
        dtype = numpy.dtype(dtype)
        if dtype == self.dtype:
            return self.copy() if kwargs.get("copy", True) else self
        return self._capture.record("astype", (self, dtype))

    def copy(self, order="C"):
        """A copy."""
        return self._capture.record("copy", (self,))

    def reshape(self, *shape, **how):
        """The elements in another shape."""
        if len(shape) == 1 and not isinstance(shape[0], (int, Number, numpy.integer)):
            shape = shape[0]
        return self._capture.record("reshape", (self, tuple(shape)), how)

    def transpose(self, *axes):
        """The axes in another order."""
        if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))):
            axes = axes[0]
        return self._capture.record("transpose", (self, tuple(axes)) if axes else (self,))

    def flatten(self, order="C"):
        """One axis."""
        return self._capture.record("ravel", (self, order))

    def conj(self):
        """The complex conjugate."""
        return self._capture.record("conjugate", (self,))

    def dot(self, other):
        """numpy.dot."""
        return self._capture.record("dot", (self, other))

    def __matmul__(self, other):
        return self._capture.record("matmul", (self, other))

    def __rmatmul__(self, other):
        return self._capture.record("matmul", (other, self))

    def __divmod__(self, other):
        return self // other, self % other

    def __round__(self, digits=0):
        return self._capture.record("round", (self, digits))

    def __getattr__(self, name):
        if name in _METHODS:
            return lambda *args, **kwargs: self._capture.record(name, (self, *args), kwargs)
        if name in ("item", "tolist", "tobytes", "get", "numpy", "flat", "copy_to_host", "to_device_array"):
            raise refused(
                f".{name} asks for values, which a captured function does not have",
                "do this outside of the function",
            )
        if name in ("sort", "partition", "fill", "put", "resize", "itemset", "setfield"):
            raise refused(f".{name}() writes to the array", f"nvmath.{name}(x) gives a new one" if name == "sort"
                          else "make a new array")  # fmt: skip
        raise AttributeError(f"a captured array has no attribute {name!r}")

    def _no_number(self):
        raise refused(
            "a Python number is made of an array's element, whose value is not known while the function is captured",
            "compute with the array itself: nvmath's functions take arrays of one element too",
        )

    __float__ = __int__ = __complex__ = __index__ = _no_number

    def __repr__(self):
        from ._text import words

        return f"<{words(self._node, self._capture.names)}: {self.dtype} {self._node.spec.shape}>"


_METHODS = frozenset(
    (
        *("sum", "prod", "max", "min", "all", "any", "mean", "var", "std", "ptp", "clip", "round", "ravel"),
        *("squeeze", "swapaxes", "diagonal", "trace", "conjugate", "argmax", "argmin", "argsort", "choose"),
        *("cumprod", "cumsum", "repeat", "searchsorted", "take", "nonzero", "compress", "argpartition"),
    )
)


class Number(Symbol):
    """A Python number of a captured function: its value may differ from call to call."""

    __slots__ = ()

    def _value(self):
        """The value: the function is captured anew with it as a constant."""
        raise Respecialise(roots_of(self._node))

    def __bool__(self):
        return bool(self._value())

    def __int__(self):
        return int(self._value())

    def __float__(self):
        return float(self._value())

    def __complex__(self):
        return complex(self._value())

    def __index__(self):
        if not isinstance(self._node.value, (int, numpy.integer)):
            raise TypeError(f"{type(self._node.value).__name__!r} object cannot be interpreted as an integer")
        return operator.index(self._value())

    def __hash__(self):
        return hash(self._value())

    def __format__(self, spec):
        return format(self._value(), spec)

    def __round__(self, digits=None):
        return round(self._value(), digits)

    def __trunc__(self):
        return math.trunc(self._value())

    def __floor__(self):
        return math.floor(self._value())

    def __ceil__(self):
        return math.ceil(self._value())

    def __getattr__(self, name):
        if name in (
            "real",
            "imag",
            "dtype",
            "shape",
            "ndim",
            "size",
            "conjugate",
            "is_integer",
            "bit_length",
        ):
            return getattr(self._value(), name)
        raise AttributeError(f"a captured number has no attribute {name!r}")

    def __repr__(self):
        return f"<{self._capture.names.get(self._node, 'number')}: {type(self._node.value).__name__}>"


def _is_number(value):
    return isinstance(value, (Number, bool, int, float, complex, numpy.generic))


def _value_of(value):
    return value._node.value if isinstance(value, Number) else value


def _operator(name, swapped=False):
    compute = getattr(operator, name)

    def binary(self, other):
        if isinstance(other, (list, tuple, str, bytes, type(None), dict)):
            return NotImplemented
        pair = (other, self) if swapped else (self, other)
        if all(map(_is_number, pair)):
            return self._capture.number(f"operator.{name}", pair, compute(*map(_value_of, pair)))
        return self._capture.record(_UFUNC_OF[name], pair)

    return binary


def _unary(name):
    compute = getattr(operator, name)

    def unary(self):
        if isinstance(self, Number):
            return self._capture.number(f"operator.{name}", (self,), compute(self._node.value))
        return self._capture.record(_UFUNC_OF[name], (self,))

    return unary


def _in_place(name):
    def in_place(self, other):
        made = getattr(self, f"__{name.rstrip('_')}__")(other)
        if isinstance(self, Number) or made is NotImplemented:
            return made
        self._owned(f"x {_SIGNS[name]}= ...")
        if not numpy.can_cast(made.dtype, self.dtype, "same_kind"):
            raise TypeError(
                f"Cannot cast ufunc output from {made.dtype!r} to {self.dtype!r} with casting rule 'same_kind'"
            )
        if made._node.spec.shape != self._node.spec.shape:
            raise ValueError(
                f"non-broadcastable output operand with shape {self._node.spec.shape} doesn't match the broadcast "
                f"shape {made._node.spec.shape}"
            )
        self._become(made.astype(self.dtype, copy=False))
        return self

    return in_place


_SIGNS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "and_": "&",
          "or_": "|", "xor": "^", "lshift": "<<", "rshift": ">>"}  # fmt: skip
for _name in _SIGNS:
    _short = _name.rstrip("_")
    setattr(Symbol, f"__{_short}__", _operator(_name))
    setattr(Symbol, f"__r{_short}__", _operator(_name, swapped=True))
    setattr(Symbol, f"__i{_short}__", _in_place(_name))
for _name in ("lt", "le", "eq", "ne", "gt", "ge"):
    setattr(Symbol, f"__{_name}__", _operator(_name))
for _name in ("neg", "pos", "abs", "invert"):
    setattr(Symbol, f"__{_name}__", _unary(_name))
Array.__hash__ = builtins.object.__hash__


def has_symbols(*trees):
    """True where a symbol is among the values, or in their tuples, lists and dicts."""
    for tree in trees:
        if isinstance(tree, Symbol):
            return True
        if isinstance(tree, (tuple, list)) and has_symbols(*tree):
            return True
        if isinstance(tree, dict) and has_symbols(*tree.values()):
            return True
    return False
