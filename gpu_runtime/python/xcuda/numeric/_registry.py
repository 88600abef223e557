"""The one table of what runs on the device: a row a public name of NumPy, `linalg.solve` for those of submodules."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Native:
    """A function that does its work on the device; `partly` names what of it still goes by NumPy."""

    function: Any
    module: str
    partly: str = ""


TABLE: dict[str, Native] = {}


def native(*names, partly=""):
    """Registers the function below under these public names (its own where none is given)."""

    def register(function):
        for name in names or (function.__name__,):
            TABLE[name] = Native(function, function.__module__, partly)
        return function

    return register


def register(name, function, module, partly=""):
    """The same for what no decorator can stand over: ufuncs, classes."""
    TABLE[name] = Native(function, module, partly)
    return function


def native_for(name):
    """The function of that public name that runs on the device; None where there is none."""
    row = TABLE.get(name)
    return None if row is None else row.function
