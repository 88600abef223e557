"""ndarray's methods that are functions of the module: one row each, the array is their first argument."""

import math
import types

import numpy

from . import _functions, _reductions, _views  # noqa: F401 (they fill the table)
from ._array import ndarray
from ._fallback import on_host
from ._registry import TABLE

_NATIVE = (
    *("sum", "prod", "max", "min", "all", "any", "mean", "var", "std", "round"),
    *("ravel", "squeeze", "swapaxes", "diagonal", "trace"),
)
# Those whose function may be registered by other modules, or run on the host.
_OTHER = (
    *(
        "argmax",
        "argmin",
        "argsort",
        "argpartition",
        "cumprod",
        "cumsum",
        "dot",
        "nonzero",
    ),
    *("put", "repeat", "searchsorted", "take"),
)


def _method(name):
    def method(self, *args, **kwargs):
        row = TABLE.get(name)
        if row is not None:
            return row.function(self, *args, **kwargs)
        return on_host(name, getattr(numpy, name), (self, *args), kwargs)

    method.__name__ = name
    method.__doc__ = getattr(numpy.ndarray, name).__doc__ if hasattr(numpy.ndarray, name) else None
    return method


for _name in (*_NATIVE, *_OTHER):
    setattr(ndarray, _name, _method(_name))


def _conjugate(self, out=None):
    """The complex conjugate; real numbers are their own."""
    if self.dtype.kind != "c" and out is None:
        return self
    return TABLE["conjugate"].function(self, out=out)


def _choose(self, *choices, out=None, mode="raise"):
    """For each element the choice that it numbers: of a sequence, or of the arguments."""
    return TABLE["choose"].function(self, choices[0] if len(choices) == 1 else choices, out, mode)


def _clip(self, min=None, max=None, out=None, **kwargs):
    """Values between two bounds."""
    return TABLE["clip"].function(self, min, max, out, **kwargs)


def _sort(self, axis=-1, kind=None, order=None, *, stable=None):
    """Sorts in place."""
    from ._sorting import sort_in_place

    sort_in_place(self, axis, kind, order, stable)


def _resize(self, *new_shape, refcheck=True):
    """Another shape in place. Device arrays keep their size: ValueError where the shape has another one."""
    from ._shapes import lengths

    shape = lengths(new_shape[0] if len(new_shape) == 1 and new_shape[0] is not None else new_shape)
    if math.prod(shape) != self.size:
        raise ValueError(
            f"cannot resize an array of {self.size} elements to {math.prod(shape)}: device arrays keep their size; "
            "write x = numeric.resize(x, shape)"
        )
    self.shape = tuple(shape)


def _partition(self, kth, axis=-1, kind="introselect", order=None):
    """Partitions in place."""
    from ._sorting import partition_in_place

    partition_in_place(self, kth, axis, kind, order)


def _flatten(self, order="C"):
    """A copy with one axis."""
    if order not in tuple("CFAKcfak"):
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    order = order.upper()
    made = TABLE["ravel"].function(self, order)
    return made.copy() if made._same_memory(self) else made


ndarray.conj = ndarray.conjugate = _conjugate
ndarray.choose = _choose
ndarray.clip = _clip
ndarray.sort = _sort
ndarray.partition = _partition
ndarray.resize = _resize
ndarray.flatten = _flatten


def _setflags(self, write=None, align=None, uic=None):
    """Sets `flags.writeable`; device arrays are always aligned and no copies that are written back."""
    if align is not None and not align or uic:
        raise ValueError("cannot set these flags of a device array: 'align' is always True and 'uic' False")
    if write is not None:
        self.flags.writeable = write


def _by_host(name):
    def method(self, *args, **kwargs):
        return getattr(self.get(), name)(*args, **kwargs)

    method.__name__ = name
    method.__doc__ = getattr(numpy.ndarray, name).__doc__
    return method


def _byteswap(self, inplace=False):
    """The bytes of each element in the other order."""
    made = on_host("ndarray.byteswap", lambda a: a.byteswap(), (self,), {})
    if not inplace:
        return made
    self[...] = made
    return self


for _name in ("tofile", "dump", "dumps", "getfield"):
    setattr(ndarray, _name, _by_host(_name))
ndarray.setflags = _setflags
ndarray.byteswap = _byteswap
ndarray.__class_getitem__ = classmethod(types.GenericAlias)
