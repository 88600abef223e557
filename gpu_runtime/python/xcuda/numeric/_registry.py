"""The one table of what runs on the device: a row a public name of NumPy, `linalg.solve` for those of submodules."""

from dataclasses import dataclass
from functools import wraps
from operator import attrgetter
from types import FunctionType
from typing import Any

import numpy


@dataclass(frozen=True)
class Native:
    """A function that does its work on the device; `partly` names what of it still goes by NumPy."""

    function: Any
    module: str
    partly: str = ""


class NotHeldError(TypeError):
    """Values of a dtype that device arrays can't have: NumPy's function of the same name takes the call."""


TABLE: dict[str, Native] = {}


def native(*names, partly=""):
    """Registers the function below under these public names (its own where none is given).

    Where it meets values that devices can't hold (`NotHeldError` of `asarray`), NumPy's function runs in its place.
    """

    def register(function):
        made = _or_numpys(function, (names or (function.__name__,))[0])
        for name in names or (function.__name__,):
            TABLE[name] = Native(made, function.__module__, partly)
        return made

    return register


def _or_numpys(function, name):
    try:
        theirs = attrgetter(name)(numpy)
    except AttributeError:
        return function
    if not isinstance(function, FunctionType):
        return function

    @wraps(function)
    def guarded(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except NotHeldError:
            pass
        from ._fallback import on_host

        return on_host(name, theirs, args, kwargs, of_host_values=True)

    return guarded


def register(name, function, module, partly=""):
    """The same for what no decorator can stand over: ufuncs, classes."""
    TABLE[name] = Native(function, module, partly)
    return function


def native_for(name):
    """The function of that public name that runs on the device; None where there is none."""
    row = TABLE.get(name)
    return None if row is None else row.function
