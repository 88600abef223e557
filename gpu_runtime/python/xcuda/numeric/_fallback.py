"""What has no native form runs in NumPy on the host, and says so: one warning a function and call site."""

import sys
import warnings
from collections import Counter
from functools import update_wrapper

import numpy

from ._config import config
from ._dtypes import held

counts: Counter = Counter()  # by function: how often it ran on the host
_told: set = set()

# Functions that write to an argument, by its place: on a GPU it is copied back.
_WRITES = {
    "put": 0, "place": 0, "copyto": 0, "fill_diagonal": 0, "putmask": 0, "put_along_axis": 0,
    "random.shuffle": 0,
}  # fmt: skip


class FallbackWarning(UserWarning):
    """A function of numeric ran in NumPy on the host."""


def _site():
    """The innermost frame outside of xcuda and NumPy."""
    frame = sys._getframe(2)
    level = 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in (
        "xcuda",
        "numpy",
    ):
        frame = frame.f_back
        level += 1
    return frame, level


def tell(name):
    """Counts a fallback, and warns or raises as `config.fallback` has it."""
    counts[name] += 1
    if config.fallback == "silent":
        return
    if config.fallback == "error":
        raise NotImplementedError(
            f"numeric.{name} has no native form for these arguments, and config.fallback is 'error'; "
            "set it to 'warn' to let NumPy do it on the host"
        )
    frame, level = _site()
    key = name, frame.f_code, frame.f_lineno
    if key not in _told:
        _told.add(key)
        warnings.warn(f"numeric.{name} runs in NumPy on the host", FallbackWarning, stacklevel=level)


def to_host(value):
    """`value` with every array of numeric's as a NumPy array: on the CPU device the same memory."""
    from ._array import ndarray

    if isinstance(value, ndarray):
        return value._host()
    if type(value) in (list, tuple):
        return type(value)(to_host(v) for v in value)
    if type(value) is dict:
        return {k: to_host(v) for k, v in value.items()}
    if isinstance(value, Wrapped):
        return value.__wrapped__
    if hasattr(value, "__array__") and not isinstance(value, (numpy.ndarray, numpy.generic, type)):
        made = value.__array__()  # NumPy takes no arrays of numeric's from it
        return made._host() if isinstance(made, ndarray) else value
    return value


def _any_ours(values):
    from ._array import ndarray

    return any(isinstance(v, ndarray) or type(v) in (list, tuple) and _any_ours(v) for v in values)


def to_ours(value, given=()):
    """`value` with NumPy's arrays and scalars as numeric's, where arrays can hold them."""
    from ._array import adopt, array, as_on_host

    if type(value) is numpy.ndarray and held(value.dtype):
        if not value.dtype.isnative:
            return array(value)
        own = value.flags.owndata and value.base is None and value.flags.writeable
        return adopt(value) if own and not any(value is g for g in given) else as_on_host(value)
    if isinstance(value, numpy.generic) and held(value.dtype):
        return array(value)
    if type(value) in (list, tuple):
        return type(value)(to_ours(v, given) for v in value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(to_ours(v, given) for v in value))
    return value


def on_host(name, function, args, kwargs, *, of_host_values=False):
    """Calls NumPy's `function` with host arrays; its results are numeric's arrays again.

    `of_host_values`: it is because of values that devices can't hold, and tells only if a device array is among them.
    """
    from ._array import ndarray

    if not of_host_values or _any_ours(args) or _any_ours(kwargs.values()):
        tell(name)
    host_args, host_kwargs = to_host(args), to_host(kwargs)
    result = function(*host_args, **host_kwargs)
    out = kwargs.get("out")
    outs = out if isinstance(out, tuple) else (out,)
    written = [
        (o, h)
        for o, h in zip(outs, _as_tuple(host_kwargs.get("out")), strict=False)
        if isinstance(o, ndarray)
    ]
    place = _WRITES.get(name)
    if place is not None and len(args) > place and isinstance(args[place], ndarray):
        written.append((args[place], host_args[place]))
    for ours, host in written:
        if not ours._host_accessible:
            ours[...] = host
    if out is not None and isinstance(outs[0], ndarray):
        return out if len(outs) > 1 or not isinstance(out, tuple) else outs[0]
    return to_ours(result, [h for h in host_args if isinstance(h, numpy.ndarray)])


def _as_tuple(value):
    return value if isinstance(value, tuple) else (value,)


class Wrapped:
    """A function of NumPy's that runs on the host."""

    def __init__(self, name, function):
        self.__name__ = name.rpartition(".")[2]
        self._name = name
        update_wrapper(self, function, assigned=("__doc__", "__module__"), updated=())
        self.__wrapped__ = function

    def __call__(self, *args, **kwargs):
        return on_host(self._name, self.__wrapped__, args, kwargs)

    def __getattr__(self, attribute):
        return getattr(self.__wrapped__, attribute)

    def __repr__(self):
        return f"<numeric.{self._name}, in NumPy on the host>"


def wrapped(name, value):
    """A public name of NumPy's that has no native form: functions by way of the host, other things as they are."""
    if isinstance(value, type) or not callable(value):
        return value
    return Wrapped(name, value)
