"""Functions made of functions: vectorize, piecewise, apply_along_axis, apply_over_axes."""

import inspect
import types

import numpy
from numpy.lib.array_utils import normalize_axis_index

from ._array import asarray, ndarray
from ._creation import empty
from ._dtypes import held
from ._fallback import Wrapped, on_host
from ._registry import TABLE, native, register


def _f(name):
    return TABLE[name].function


@native("apply_along_axis")
def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    """numpy.apply_along_axis: the function is called with each slice, an array on the device."""
    arr = asarray(arr)
    axis = normalize_axis_index(axis, arr.ndim)
    moved = _f("moveaxis")(arr, axis, -1)
    lead = moved.shape[:-1]
    if 0 in lead:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    made = None
    for at in numpy.ndindex(*lead):
        one = asarray(func1d(moved[at], *args, **kwargs))
        if made is None:
            made = empty((*lead, *one.shape), one.dtype)
        made[at] = one
    for i in range(made.ndim - len(lead)):  # the function's own axes stand where the slices' was
        made = _f("moveaxis")(made, len(lead) + i, axis + i)
    return made


@native("apply_over_axes")
def apply_over_axes(func, a, axes):
    """numpy.apply_over_axes: a function of (array, axis), one axis after the other."""
    made = a = asarray(a)
    for axis in numpy.atleast_1d(axes):
        axis = int(axis) + a.ndim if axis < 0 else int(axis)
        result = func(made, axis)
        if result.ndim != made.ndim:
            result = _f("expand_dims")(result, axis)
            if result.ndim != made.ndim:
                raise ValueError("function is not returning an array of the correct shape")
        made = result
    return made


@native("piecewise")
def piecewise(x, condlist, funclist, *args, **kw):
    """numpy.piecewise: each function of the elements for which its condition holds."""
    x = asarray(x)
    n = len(funclist)
    alone = numpy.isscalar(condlist) or isinstance(condlist, ndarray) and condlist.ndim == 0
    if (
        alone
        or x.ndim != 0
        and not (
            isinstance(condlist[0], (list, tuple, numpy.ndarray))
            or isinstance(condlist[0], ndarray)
            and condlist[0].ndim
        )
    ):
        condlist = [condlist]
    conditions = [asarray(c).astype(bool) for c in condlist]
    if n == len(conditions) + 1:
        rest = ~conditions[0]
        for c in conditions[1:]:
            rest = rest & ~c
        conditions.append(rest)
    elif n != len(conditions):
        k = len(conditions)
        raise ValueError(f"with {k} condition(s), either {k} or {k + 1} functions are expected")
    made = _f("zeros_like")(x)
    for condition, function in zip(conditions, funclist, strict=True):
        if not callable(function):
            made[condition] = function
            continue
        values = x[condition] if x.ndim else x.reshape(1)[condition.reshape(1)]
        if values.size > 0:
            made[condition] = function(values, *args, **kw)
    return made


class vectorize:
    """numpy.vectorize: a function of numbers becomes one of arrays, compiled as a kernel.

    What can't be compiled is called element by element on the host, which the fallback's warning tells with the reason.
    `signature`, `excluded` and functions without a plain Python text always are.
    """

    def __init__(
        self, pyfunc=numpy._NoValue, otypes=None, doc=None, excluded=None, cache=False, signature=None
    ):
        self._how = {
            "otypes": otypes,
            "doc": doc,
            "excluded": excluded,
            "cache": cache,
            "signature": signature,
        }
        self._host = None
        if pyfunc is not numpy._NoValue:
            self._take(pyfunc)

    def _take(self, pyfunc):
        if not callable(pyfunc):
            raise TypeError("When used as a decorator, only accepts a callable.")
        self._host = numpy.vectorize(pyfunc, **self._how)
        self.pyfunc, self.__doc__ = pyfunc, self._host.__doc__
        self.__name__ = getattr(pyfunc, "__name__", "vectorize")
        self._compiled, self._reason = None, None
        if self._how["signature"] is not None or self._how["excluded"]:
            self._reason = "it has a signature or excluded arguments"
        elif not isinstance(pyfunc, types.FunctionType):
            self._reason = f"a {type(pyfunc).__name__} has no Python text"
        else:
            kinds = {p.kind for p in inspect.signature(pyfunc).parameters.values()}
            if not kinds <= {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}:
                self._reason = "it takes *args, **kwargs or keywords alone"

    def __call__(self, *args, **kwargs):
        if self._host is None:
            self._take(args[0])
            return self
        if self._reason is None and not kwargs and args:
            made = self._by_kernel(args)
            if made is not None:
                return made
        name = f"vectorize({self.__name__})"
        return on_host(
            name if self._reason is None else f"{name}, since {self._reason}:", self._host, args, kwargs
        )

    def _by_kernel(self, args):
        """The result of the compiled function; None, and the reason kept, where there is no such thing."""
        arrays = [asarray(a) for a in args]
        shape = numpy.broadcast_shapes(*(a.shape for a in arrays))
        if 0 in shape:
            if self._how["otypes"] is None:
                raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
            return empty(shape, numpy.dtype(self._how["otypes"][0]))
        if not all(isinstance(a, ndarray) for a in arrays):
            self._reason = "its arguments are no numbers that arrays on a device can hold"
            return None
        dtypes = self._result_dtypes(arrays)
        if dtypes is None:
            return None
        from xcuda.core.elementwise import Elementwise

        if self._compiled is None:
            self._compiled = Elementwise(self.pyfunc, [])
        spread = [_f("broadcast_to")(a, shape) for a in arrays]
        flat = [(a if a._c_contiguous else a.copy()).reshape(-1) for a in spread]
        try:
            found = self._compiled(*(a.to_device_array() for a in flat))
        except Exception as error:
            self._reason = str(error).splitlines()[0]
            return None
        from ._stacks import ours

        return ours(found).reshape(shape).astype(dtypes[0], copy=False)

    def _result_dtypes(self, arrays):
        """As NumPy finds them: by a call with the first elements, where `otypes` does not say."""
        otypes = self._how["otypes"]
        if otypes is not None:
            dtypes = [numpy.dtype(t) for t in (otypes if not isinstance(otypes, str) else list(otypes))]
        else:
            first = self.pyfunc(*(a.reshape(-1)[:1].get()[0] for a in arrays))
            results = first if isinstance(first, tuple) else (first,)
            dtypes = [numpy.asarray(r).dtype for r in results]
        if len(dtypes) != 1:
            self._reason = "it gives several values"
            return None
        if not held(dtypes[0]):
            self._reason = f"it gives {dtypes[0]} values"
            return None
        return dtypes

    def __get__(self, instance, owner=None):
        return self if instance is None else types.MethodType(self, instance)


register("vectorize", vectorize, __name__)


@native("frompyfunc")
def frompyfunc(func, /, nin, nout, **kwargs):
    """numpy.frompyfunc: its results are Python objects, which stay on the host."""
    made = numpy.frompyfunc(func, nin, nout, **kwargs)
    return Wrapped(f"frompyfunc({getattr(func, '__name__', 'function')})", made)
