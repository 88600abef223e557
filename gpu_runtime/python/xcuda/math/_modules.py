"""While a function is captured, NumPy-like modules give functions that take symbols: math, numeric and its parts.

A module's class is changed for that time and then put back. Functions called without symbols, or by a thread that
captures nothing, are the module's own.
"""

from __future__ import annotations

import builtins
import functools
import sys
import threading
import types
import warnings

import xcuda.numeric.fft
import xcuda.numeric.linalg
import xcuda.numeric.random  # noqa: F401 (they are watched once they are there)

from ._capture import current
from ._errors import CaptureWarning, place_of, refused, user_frame
from ._symbols import Array, Number, called, has_symbols

_lock = threading.Lock()
_users = 0
_before: list = []

_PREFIXES = {
    "xcuda.numeric": "", "xcuda.numeric.linalg": "linalg.", "xcuda.numeric.fft": "fft.",
    "xcuda.numeric.random": "random.", "math": "math.", "cmath": "math.",
}  # fmt: skip
_DRAWING = ("numpy.random", "random")
_OF_MATH = {
    "acos": "arccos", "asin": "arcsin", "atan": "arctan", "atan2": "arctan2", "acosh": "arccosh", "asinh": "arcsinh",
    "atanh": "arctanh", "pow": "power", "degrees": "degrees", "radians": "radians", "fabs": "absolute",
    "gamma": "gamma", "lgamma": "gammaln", "isclose": "isclose",
}  # fmt: skip
# What nvmath makes anew at each call though no argument is a symbol.
MADE = frozenset(("eye", "identity", "zeros", "ones", "full", "empty", "arange", "linspace"))


@functools.lru_cache(maxsize=4096)
def _taking_symbols(module, name, function):
    prefix = _PREFIXES[module]

    @functools.wraps(function)
    def with_symbols(*args, **kwargs):
        capture = current()
        if capture is None:
            return function(*args, **kwargs)
        if prefix == "random.":
            return drawn(capture, name, function, args, kwargs)
        if not has_symbols(args, kwargs):
            return (
                capture.record(name, args, kwargs)
                if not prefix and name in MADE
                else function(*args, **kwargs)
            )
        if prefix == "math.":
            return _of_math(capture, name, function, args, kwargs)
        return called(capture, prefix + name, args, kwargs)

    return with_symbols


def drawn(capture, name, function, args, kwargs):
    """A function of random numbers in a captured function: it draws anew at each call."""
    if name in ("seed", "default_rng", "get_state", "set_state", "RandomState", "Generator"):
        raise refused(
            f"random.{name} would happen when the function is captured, and not at each of its calls",
            "call it outside of the function",
        )
    return capture.record("random." + name, args, kwargs)


def _of_math(capture, name, function, args, kwargs):
    if any(isinstance(a, Array) for a in args):
        return called(capture, _OF_MATH.get(name, name), args, kwargs)
    values = [a._node.value if isinstance(a, Number) else a for a in args]
    return capture.number(f"math.{name}", args, function(*values, **kwargs))


@functools.lru_cache(maxsize=1024)
def _once(module, name, function):
    @functools.wraps(function)
    def refusing(*args, **kwargs):
        if current() is None or not _called_by_user():
            return function(*args, **kwargs)
        raise refused(
            f"{module}.{name}() draws once, when the function is captured: every call would get the same numbers",
            f"nvmath.random.{name} draws anew at each call, or pass the numbers as an argument",
        )

    return refusing


def _called_by_user():
    house = sys._getframe(2).f_globals.get("__name__", "").partition(".")[0]
    return house not in ("xcuda", "numpy", "scipy")


class _Capturing(types.ModuleType):
    def __getattribute__(self, name):
        value = super().__getattribute__(name)
        if name.startswith("_") or isinstance(value, (type, types.ModuleType)) or not callable(value):
            return value
        if current() is None:
            return value
        module = super().__getattribute__("__name__")
        return (_once if module in _DRAWING else _taking_symbols)(module, name, value)


def _print(*args, **kwargs):
    if current() is not None and _called_by_user():
        place = place_of(user_frame())
        warnings.warn(
            f"line {place[1]}: print() runs when the function is captured, and not at each of its calls; print what "
            "the function returns instead",
            CaptureWarning,
            stacklevel=2,
        )
    _plain_print(*args, **kwargs)


_plain_print = builtins.print


class Watching:
    """The modules give functions that take symbols for as long as this is entered, by whatever thread."""

    def __enter__(self):
        global _users, _plain_print
        with _lock:
            _users += 1
            if _users == 1:
                for name in (*_PREFIXES, *_DRAWING):
                    module = sys.modules.get(name)
                    if module is not None:
                        _before.append((module, module.__class__))
                        module.__class__ = _Capturing
                _plain_print, builtins.print = builtins.print, _print

    def __exit__(self, *exception):
        global _users
        with _lock:
            _users -= 1
            if _users == 0:
                for module, kind in _before:
                    module.__class__ = kind
                _before.clear()
                builtins.print = _plain_print
