"""nvmath's names: numeric's functions, made to take the symbols of a captured function."""

from __future__ import annotations

import importlib
import types

from xcuda.numeric._registry import TABLE

from ._capture import current
from ._modules import MADE, drawn
from ._symbols import called, has_symbols


class Function:
    """A public function: numeric's (or ours), or, in a captured function, a node of its graph."""

    def __init__(self, op, function):
        self._op, self.__wrapped__ = op, function
        self.__name__ = op.rpartition(".")[2]
        self.__doc__ = getattr(function, "__doc__", None)

    def __call__(self, *args, **kwargs):
        capture = current()
        if capture is not None:
            if self._op.startswith("random."):
                return drawn(capture, self.__name__, self.__wrapped__, args, kwargs)
            if has_symbols(args, kwargs):
                return called(capture, self._op, args, kwargs)
            if self._op in MADE:
                return capture.record(self._op, args, kwargs)
        return self.__wrapped__(*args, **kwargs)

    def __getattr__(self, name):
        return getattr(self.__wrapped__, name)

    def __reduce__(self):
        return _by_name, (self._op,)

    def __repr__(self):
        return f"<nvmath.{self._op}>"


def _by_name(op):
    module, _, name = op.rpartition(".")
    return getattr(importlib.import_module(f"xcuda.math.{module}" if module else "xcuda.math"), name)


class Namespace:
    """Names of one of numeric's modules, made when they are first asked for."""

    def __init__(self, part=""):
        self.prefix = f"{part}." if part else ""
        self.module = "xcuda.numeric" + (f".{part}" if part else "")

    def get(self, asker, space, name):
        """The name's value, kept in `space`; AttributeError in the asker's name."""
        if name.startswith("_"):
            raise AttributeError(f"module {asker!r} has no attribute {name!r}")
        try:
            value = getattr(importlib.import_module(self.module), name)
        except AttributeError:
            raise AttributeError(f"module {asker!r} has no attribute {name!r}") from None
        if callable(value) and not isinstance(value, (type, types.ModuleType)):
            value = Function(self.prefix + name, value)
        space[name] = value
        return value

    def names(self, space):
        """For completion."""
        theirs = dir(importlib.import_module(self.module))
        own = [n.removeprefix(self.prefix) for n in TABLE if n.startswith(self.prefix)]
        return sorted({*space, *theirs, *own} - {n for n in (*theirs, *own) if "." in n})
