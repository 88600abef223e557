"""The kernel language's numbers in plain Python: what NumPy's scalars do, with the rules of the language on top.

A Python number is weak (NEP 50): it takes the other side's type. Weak integers are 64 bits wide and wrap around. A
variable, both arms of a choice and the numbers given to min() are brought to one type, the join of all of them.
NumPy itself computes every operation and decides every type; nothing here is taken from the compiler.
"""

from __future__ import annotations

import functools
import math
import operator
from typing import NamedTuple

import numpy as np

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

BFLOAT16 = ml_dtypes.bfloat16 if ml_dtypes else None


class Missing(Exception):
    """What the program needs is not on this machine."""


class T(NamedTuple):
    """A number's type: NumPy's name of it, and whether it is weak, as Python's own numbers are."""

    dtype: str
    weak: bool = False


WEAK_INT, WEAK_FLOAT, WEAK_BOOL = T("int64", True), T("float64", True), T("bool", True)
BOOL, INT64, FLOAT64 = T("bool"), T("int64"), T("float64")
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "float32", "float64")
DTYPES = ("bool", *SIGNED, *UNSIGNED, *FLOATS)
WIDE_FLOATS = (*FLOATS, "bfloat16")
_RANK = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}


def kind(t: T) -> str:
    """ "b", "i", "u" or "f"."""
    return "f" if t.dtype == "bfloat16" else np.dtype(t.dtype).kind


def dtype_of(name: str):
    if name == "bfloat16" and not BFLOAT16:
        raise Missing("ml_dtypes")
    return np.dtype(name)


def is_float(dtype) -> bool:
    return dtype.kind == "f" or dtype.name == "bfloat16"


def cast_name(t: T) -> str:
    """How a program writes a dtype."""
    return {"bool": "np.bool_", "bfloat16": "bfloat16"}.get(t.dtype, f"np.{t.dtype}")


def is_integral(t: T) -> bool:
    return kind(t) in "bui"


def type_of(value) -> T:
    """The type of a Python number or a NumPy scalar."""
    if isinstance(value, np.generic):
        return T(value.dtype.name)
    if isinstance(value, complex):
        return T("complex128", True)
    return WEAK_BOOL if isinstance(value, bool) else WEAK_INT if isinstance(value, int) else WEAK_FLOAT


@functools.cache
def join(a: T, b: T) -> T:
    """The type that holds both: NumPy's promotion, where weak numbers give way."""
    if a == b:
        return a
    if a.weak and b.weak:
        return max(a, b, key=lambda t: _RANK[kind(t)])
    if not a.weak and not b.weak:
        return T(np.promote_types(dtype_of(a.dtype), dtype_of(b.dtype)).name)
    weak, strong = (a, b) if a.weak else (b, a)
    return strong if _RANK[kind(weak)] <= _RANK[kind(strong)] else T(weak.dtype)


def joined(types) -> T:
    return functools.reduce(join, types)


def wrapped(n: int) -> int:
    """An integer as 64 bits hold it."""
    return (n + 2**63) % 2**64 - 2**63


def _one(t: T):
    return (
        {"bool": True, "int64": 1, "float64": 1.0, "complex128": 1j}[t.dtype]
        if t.weak
        else dtype_of(t.dtype).type(1)
    )


OPERATORS = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<<": operator.lshift, ">>": operator.rshift, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
ORDERS = ("<", "<=", ">", ">=", "==", "!=")


@functools.cache
def binary_type(op: str, a: T, b: T) -> T:
    """The type of `a op b`, asked of NumPy; TypeError where it refuses."""
    if op in ORDERS:
        return T("bool", a.weak and b.weak)
    return type_of(OPERATORS[op](_one(a), _one(b)))


@functools.cache
def unary_type(op: str, a: T) -> T:
    if op == "not":
        return WEAK_BOOL
    with np.errstate(over="ignore"):
        return type_of({"-": operator.neg, "~": operator.invert, "+": operator.pos}[op](_one(a)))


def strong(value):
    """A Python number as the NumPy scalar that holds it."""
    if isinstance(value, np.generic):
        return value
    if isinstance(value, bool):
        return np.bool_(value)
    if isinstance(value, complex):
        return np.complex128(value)
    return np.int64(wrapped(value)) if isinstance(value, int) else np.float64(value)


@functools.cache
def converter(t: T):
    """A function that brings any number to `t`, as astype does."""
    dtype, cls = dtype_of(t.dtype), dtype_of(t.dtype).type

    def astype(v):
        v = strong(v)
        if BFLOAT16 and isinstance(v, BFLOAT16) and dtype.kind in "iu":
            v = np.float32(v)  # ml_dtypes leaves to C++ what lies out of range
        return v.astype(dtype)

    if not t.weak:
        return lambda v: v if type(v) is cls else astype(v)
    plain = {"bool": bool, "int64": int, "float64": float, "complex128": complex}[t.dtype]
    return lambda v: v if type(v) is plain else plain(astype(v))


def convert(value, t: T):
    return converter(t)(value)


_NUMPY_OF_FLOATS = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "//": np.floor_divide,
    "%": np.remainder,
}


def _weak_operation(op, a, b):
    """Python's own numbers: integers wrap at 64 bits, floats divide as IEEE has it."""
    if op == "/":
        return float(np.float64(strong(a)) / np.float64(strong(b)))
    if isinstance(a, float) or isinstance(b, float):
        if op in _NUMPY_OF_FLOATS:
            return float(_NUMPY_OF_FLOATS[op](np.float64(a), np.float64(b)))
        return OPERATORS[op](a, b)
    if op in ("<<", ">>"):
        return int(OPERATORS[op](np.int64(wrapped(a)), np.int64(wrapped(b))))
    if op == "**":
        if b < 0:
            raise ValueError("Integers to negative integer powers are not allowed.")
        return wrapped(pow(a, b, 2**64))
    result = OPERATORS[op](a, b)
    return result if isinstance(result, bool) else wrapped(result)


def _strong_operation(op, a, b):
    t = join(type_of(a), type_of(b))
    if op == "/" and is_integral(t):
        t = binary_type(op, type_of(a), type_of(b))  # a weak integer need not fit the other's type
    if not isinstance(a, np.generic):
        a = convert(a, t)
    if not isinstance(b, np.generic):
        b = convert(b, t)
    if op in ("//", "%") and is_integral(t) and not b:
        raise ZeroDivisionError("integer division or modulo by zero")
    return OPERATORS[op](a, b)


def binary(op, a, b):
    """`a op b` as a kernel computes it."""
    if isinstance(a, np.generic) or isinstance(b, np.generic):
        return _strong_operation(op, a, b)
    return _weak_operation(op, a, b)


def compare(op, a, b):
    """Integers are compared exactly, whatever their types; else both are brought to one type first."""
    ta, tb = type_of(a), type_of(b)
    if is_integral(ta) and is_integral(tb):
        result = OPERATORS[op](int(a), int(b))
    else:
        t = join(ta, tb)
        result = bool(OPERATORS[op](strong(convert(a, t)), strong(convert(b, t))))
    return result if ta.weak and tb.weak else np.bool_(result)


def unary(op, a):
    if op == "not":
        return not a
    if isinstance(a, np.generic):
        return {"-": operator.neg, "~": operator.invert, "+": operator.pos}[op](a)
    if isinstance(a, float | complex):
        return -a if op == "-" else a
    return wrapped({"-": operator.neg, "~": operator.invert, "+": operator.pos}[op](a))


# Functions. Each row: the type of the result from those of the arguments, and the value.


def _same(*types):
    t = joined(types)
    if kind(t) == "b":
        raise TypeError("bools are left out")
    return t


def _floating(*types):
    t = joined(types)
    if kind(t) != "f":
        raise TypeError("of floating-point numbers only")
    return t


def _test(t):
    _floating(t)
    return T("bool", t.weak)


def _int_of(t):
    return t if t == T("uint64") else WEAK_INT


def _whole(function):
    def apply(x):
        x = strong(x)
        return convert(function(x) if is_float(x.dtype) else x, WEAK_INT)

    return apply


def _in_type(function, result=None):
    """NumPy's function on numbers brought to one type; the result is weak where all of them are."""

    def apply(*values):
        types = [type_of(v) for v in values]
        t = joined(types)
        found = function(*(strong(convert(v, t)) for v in values))
        return convert(found, T((result or np.dtype(found.dtype).name), t.weak))

    return apply


def _least(better):
    def apply(*values):
        t = joined([type_of(v) for v in values])
        values = [convert(v, t) for v in values]
        best = values[0]
        for v in values[1:]:
            best = v if better(v, best) else best
        return best

    return apply


def _pair(choose):
    return _in_type(lambda a, b: a if choose(a, b) else b)


def _floor_half(function):
    return _in_type(lambda x: function(x).astype(x.dtype))


FUNCTIONS = {
    "min": (_same, _least(operator.lt)),
    "max": (_same, _least(operator.gt)),
    "np.minimum": (_same, _pair(lambda a, b: a <= b or a != a)),
    "np.maximum": (_same, _pair(lambda a, b: a >= b or a != a)),
    "np.fmin": (_same, _pair(lambda a, b: a <= b or b != b)),
    "np.fmax": (_same, _pair(lambda a, b: a >= b or b != b)),
    "abs": (_same, _in_type(np.abs)),
    "np.abs": (_same, _in_type(np.abs)),
    "np.sign": (_same, _in_type(np.sign)),
    "np.square": (_same, _in_type(lambda x: (x * x).astype(x.dtype))),
    "np.clip": (_same, _in_type(lambda x, lo, hi: np.minimum(np.maximum(x, lo), hi))),
    "round": (lambda t: WEAK_INT, lambda x: _whole(np.rint)(x)),
    "int": (_int_of, lambda x: x if isinstance(x, np.uint64) else convert(x, WEAK_INT)),
    "float": (lambda t: WEAK_FLOAT, lambda x: convert(x, WEAK_FLOAT)),
    "bool": (lambda t: WEAK_BOOL, lambda x: convert(x, WEAK_BOOL)),
    "math.floor": (lambda t: WEAK_INT, _whole(np.floor)),
    "math.ceil": (lambda t: WEAK_INT, _whole(np.ceil)),
    "math.trunc": (lambda t: WEAK_INT, _whole(np.trunc)),
    "np.floor": (_same, _floor_half(np.floor)),
    "np.ceil": (_same, _floor_half(np.ceil)),
    "np.trunc": (_same, _floor_half(np.trunc)),
    "np.rint": (_floating, _in_type(np.rint)),
    "np.sqrt": (_floating, _in_type(np.sqrt)),
    "math.sqrt": (_floating, _in_type(np.sqrt)),
    "np.fabs": (_floating, _in_type(np.fabs)),
    "math.fmod": (_floating, _in_type(np.fmod)),
    "np.isnan": (_test, _in_type(np.isnan)),
    "np.isinf": (_test, _in_type(np.isinf)),
    "np.isfinite": (_test, _in_type(np.isfinite)),
    **{
        cast_name(T(d)): (lambda t, d=d: T(d), lambda x, d=d: convert(x, T(d)))
        for d in (*DTYPES, "bfloat16")
        if d not in ("bool", "float16")
    },
    "np.float16": (lambda t: T("float16"), lambda x: convert(x, T("float16"))),
    "np.bool_": (lambda t: BOOL, lambda x: convert(x, BOOL)),
}
for _name in ("isnan", "isinf", "isfinite"):  # Python's own bools
    FUNCTIONS["math." + _name] = (lambda t: _test(t) and WEAK_BOOL, _in_type(getattr(np, _name)))
for _name in ("np.copysign", "math.copysign"):
    FUNCTIONS[_name] = (_floating, _in_type(np.copysign))
# Within a few ulp of NumPy's, so that nothing may be decided by them: they stand in stores of their own.
INEXACT = ("sin", "cos", "tan", "exp", "log", "log1p", "expm1", "tanh", "arctan", "cbrt", "sinh", "exp2")
for _name in INEXACT:
    FUNCTIONS["np." + _name] = (_floating, _in_type(getattr(np, _name)))

for _name in ("complex64", "complex128"):
    FUNCTIONS["np." + _name] = (lambda t, d=_name: T(d), lambda x, d=_name: convert(x, T(d)))

SPACE = {"np": np, "math": math}
