"""Kernels whose argument types are known when they are defined start to compile then, on threads of their own.

XCUDA_COMPILE_AHEAD=0 in the environment turns it off.
"""

import atexit

from xcuda import _runtime
from xcuda.core.signatures import types_from
from xcuda.core.structured import comes_apart, is_fixed
from xcuda.core.types import is_type

atexit.register(_runtime.end_ahead)  # before the compilers' own libraries are taken down

_NUMBERS = {bool: "bool (weak)", int: "int", float: "float", complex: "complex"}


def begin_declared(made, signature):
    """Compiles for a decorator's signature. What can't be compiled is refused now; False: compile it yourself."""
    if isinstance(signature, tuple) and any(comes_apart(item) or is_fixed(item) for item in signature):
        return False
    return _runtime.compile_ahead(made, types_from(signature), True)


def begin_annotated(made, function):
    """Compiles for the types that the function's annotations tell, where they tell each parameter's.

    They bind nobody: a call with other types compiles for those, and what is wrong is told by the first call.
    """
    types = annotated(function)
    if not types:
        return
    try:
        _runtime.compile_ahead(made, types_from(types), False)
    except Exception:  # the first call meets it again, with the names as they are then
        return


def annotated(function):
    """The types of all parameters by their annotations, as `compile` takes them; None where one tells none."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    notes = function.__annotations__
    if not names or any(name not in notes for name in names):
        return None
    found = tuple(_type(notes[name], function.__globals__) for name in names)
    return None if any(one is None for one in found) else found


def _type(note, names):
    if isinstance(note, str):
        note = _meant(note, names)
    if isinstance(note, type) and note in _NUMBERS:
        return _NUMBERS[note]
    if (
        isinstance(note, type) and hasattr(note, "dtype") and hasattr(note, "itemsize")
    ):  # NumPy's scalar types
        note = note.__name__
    if not (isinstance(note, str) or is_type(note)):
        return None
    return note if _is_known(note) else None


def _meant(text, names):
    """A type as text stays text; other text is what `from __future__ import annotations` leaves of an expression."""
    if _is_known(text):
        return text
    try:
        return eval(text, dict(names))
    except Exception:  # an annotation may be anything
        return None


def _is_known(note):
    try:
        return bool(types_from((note,)))
    except TypeError:
        return False
