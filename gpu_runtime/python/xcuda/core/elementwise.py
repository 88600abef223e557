"""`vectorize`: functions of numbers that run over whole arrays on the current device."""

from __future__ import annotations

import functools
import math
import re
import types
import warnings

import numpy as np

from xcuda.core.dtypes import numpy_dtype
from xcuda.core.generated import kernel_from
from xcuda.core.reduction import Reduce
from xcuda.core.signatures import returned_by, types_from
from xcuda.core.types import is_type

__all__ = ["vectorize"]


def vectorize(function=None, signatures=None, **options):
    """Makes a function of numbers one of arrays: `@vectorize`, or `@vectorize(["float32(float32, float32)"])`.

    The result has the arguments' broadcast shape: a device array where one of them, or out=, is one, else a NumPy
    array. signatures: the first that holds the arguments says how they are converted and what comes back; without any,
    the types are what the function gives for NumPy numbers. out=: the array to write to. stream=: where it runs.
    `f.reduce(x)` folds a 1-d array with a function of two numbers.
    """
    unknown = set(options) - {"target", "nopython", "cache", "identity", "fastmath"}
    if unknown:
        raise UnknownOption(f"Unrecognized options of vectorize(): {', '.join(sorted(unknown))}")
    if "nopython" in options:
        warnings.warn("nopython kwarg for cuda target is redundant", RuntimeWarning, stacklevel=2)
    if function is not None and not isinstance(function, types.FunctionType):
        function, signatures = None, function
    if function is None:
        return lambda f: Elementwise(plain_function(f), listed(signatures))
    return Elementwise(function, listed(signatures))


class UnknownOption(TypeError, KeyError):
    """An option that there is none of: Python's TypeError, in numba a KeyError."""

    __str__ = Exception.__str__


def plain_function(function):
    """The function itself; TypeError for what is none."""
    if not isinstance(function, types.FunctionType):
        raise TypeError(f"a plain Python function is needed, not a {type(function).__name__}")
    return function


def listed(signatures):
    """Signatures, one or several, as a list."""
    if signatures is None:
        return []
    one = not isinstance(signatures, (list, tuple)) or (
        isinstance(signatures, tuple) and all(is_type(s) for s in signatures)
    )
    return [signatures] if one else list(signatures)


def types_in(signature):
    """(result, [arguments], [their dimensions]) of a signature as dtypes, None for no result; arrays as elements."""
    try:
        arguments = types_from(signature)
    except TypeError as error:
        raise TypeError(
            f'"{signature}" is no signature such as "float32(float32, float32)": {error}'
        ) from None
    dtypes = [numpy_dtype(kind[1]) for kind in arguments]
    dimensions = [kind[2] if kind[0] == "array" else 0 for kind in arguments]
    returned = returned_by(signature)
    if returned in (None, "void", "none", "None"):
        return None, dtypes, dimensions
    return numpy_dtype(types_from((returned,))[0][1]), dtypes, dimensions


def is_device(value):
    """True for an array in a device's memory, ours or another library's; also for one that shows DLPack alone."""
    if hasattr(value, "__cuda_array_interface__") or hasattr(value, "copy_to_host"):
        return True
    return hasattr(value, "__dlpack__") and not hasattr(value, "__array__")


def given_array(value):
    """A value as what has shape and dtype: device arrays as they are, all else as NumPy has it."""
    from xcuda.core import arrays

    return arrays.as_device_array(value) if is_device(value) else np.asarray(value)


def chosen(name, signatures, given):
    """The first of the signatures [(result, arguments)] that the dtypes are cast to safely, else in their kind."""
    for casting in ("safe", "same_kind"):
        for signature in signatures:
            wanted = signature[1][: len(given)]
            if all(np.can_cast(g, w, casting) for g, w in zip(given, wanted, strict=True)):
                return signature
    raise TypeError(f"{name}() has no signature for {', '.join(map(str, given))}")


def unravelled(index, shape_of, axes):
    """Lines that take a flat index apart by the first axes of an array: j0, j1, ..."""
    lines, left = [], index
    for axis in reversed(range(1, axes)):
        lines += [
            f"j{axis} = {left} % {shape_of}.shape[{axis}]",
            f"r{axis} = {left} // {shape_of}.shape[{axis}]",
        ]
        left = f"r{axis}"
    return [*lines, f"j0 = {left}"]


def indices(pattern, axes):
    """The indices of an array whose axes, the last ones of `axes`, are the result's (True) or of length 1."""
    first = axes - len(pattern)
    return [f"j{first + k}" if own else "0" for k, own in enumerate(pattern)]


class Elementwise:
    """What @vectorize gives: call it with arrays and numbers."""

    def __init__(self, function, signatures):
        self.py_func = function
        self.signatures = [types_in(s)[:2] for s in signatures]
        self.count = function.__code__.co_argcount
        self._kernels = {}
        functools.update_wrapper(self, function)
        for _, arguments in self.signatures:
            if len(arguments) != self.count:
                raise TypeError(f"{function.__name__}() takes {self.count} arguments, not {len(arguments)}")

    def __call__(self, *values, out=None, stream=None):
        from xcuda.core import arrays

        if len(values) == self.count + 1 and out is None:
            *values, out = values
        if len(values) != self.count:
            raise TypeError(f"{self.__name__}() takes {self.count} arguments; {len(values)} were given")
        values = [given_array(v) for v in values]
        result, wanted = self._dtypes([v.dtype for v in values])
        shape = np.broadcast_shapes(*(tuple(v.shape) for v in values))
        to = out if out is None else given_array(out)
        if to is None:
            make = arrays.device_array if any(is_device(v) for v in values) else np.empty
            to = make(shape, result)
        elif tuple(to.shape) != shape:
            raise ValueError(f"out has shape {tuple(to.shape)}, the result {shape}")
        elif result is not None and not np.can_cast(result, to.dtype, "same_kind"):
            raise TypeError(f"{self.__name__}() gives {result}, which is not cast to the {to.dtype} of out")
        if math.prod(shape):
            self._run(to, [self._input(v, d) for v, d in zip(values, wanted, strict=True)], wanted, stream)
        if out is None and isinstance(to, np.ndarray) and not shape:
            return to[()]
        return to if out is None or is_device(out) else out

    def reduce(self, x, axis=0, stream=None):
        """The function of two numbers folded over a 1-d array, in an order that is not told but always the same."""
        if self.count != 2:
            raise ValueError(
                f"reduce only supported for functions of two numbers, {self.__name__}() has {self.count}"
            )
        x = given_array(x)
        if x.ndim != 1 or axis not in (0, -1, None):
            raise TypeError(
                f"{self.__name__}.reduce() folds a 1-d array, found {x.ndim} dimensions; write x.reshape(-1)"
            )
        if not x.size:
            raise ValueError(f"zero-size array to reduction operation {self.__name__} which has no identity")
        result, wanted = self._dtypes([x.dtype, x.dtype])
        if result is None:
            raise TypeError(f"{self.__name__}() gives nothing back")
        dtype = wanted[0] if x.dtype != wanted[0] else x.dtype
        if dtype != result:
            raise TypeError(f"{self.__name__}() of {dtype} gives {result}: it can't be folded")
        return Reduce(self.py_func).fold(x if x.dtype == dtype else x.astype(dtype), stream=stream)

    def _input(self, value, dtype):
        if value.ndim or is_device(value):
            return value
        return value.astype(dtype)[()]

    def _run(self, to, inputs, wanted, stream):
        flat = all(tuple(v.shape) in ((), tuple(to.shape)) for v in inputs) and all(
            is_contiguous(v) for v in (to, *inputs) if v.ndim
        )
        patterns = tuple(self._pattern(v, to, flat) for v in inputs)
        casts = tuple(None if v.dtype == d else d for v, d in zip(inputs, wanted, strict=True))
        kernel = self._kernel(patterns, casts, 1 if flat else len(to.shape))
        if flat:
            to = to.reshape(-1)
            inputs = [v.reshape(-1) if v.ndim else v for v in inputs]
            if not stream:
                return kernel(to, *inputs)
        blocks = -(-math.prod(to.shape) // 256)
        return kernel[(blocks, 256, stream) if stream else (blocks, 256)](to, *inputs)

    def _pattern(self, value, to, flat):
        """None for a number; else by axis whether it is the result's (True), or serves all of it (False)."""
        if not value.ndim:
            return () if is_device(value) else None
        if flat:
            return (True,)
        own = zip(value.shape, to.shape[len(to.shape) - value.ndim :], strict=True)
        return tuple(n == m for n, m in own)

    def _dtypes(self, given):
        if self.signatures:
            return chosen(self.__name__, self.signatures, given)
        try:
            with np.errstate(all="ignore"):
                made = self.py_func(*(d.type(1) for d in given))
            return np.result_type(made), given
        except Exception as error:
            raise TypeError(
                f"{self.__name__}()'s result type can't be told by calling it with numbers ({error}): give signatures"
            ) from None

    def _kernel(self, patterns, casts, axes):
        key = patterns, casts, axes
        if key not in self._kernels:
            reads = []
            for k, (pattern, cast) in enumerate(zip(patterns, casts, strict=True)):
                read = f"x{k}" if pattern is None else f"x{k}[{', '.join(indices(pattern, axes)) or '()'}]"
                reads.append(read if cast is None else f"to{k}({read})")
            names = ", ".join(f"x{k}" for k in range(len(patterns)))
            lines = (
                ["i = cuda.grid(1)", "if i < out.size:"]
                if axes != 1
                else ["j0 = cuda.grid(1)", "if j0 < out.size:"]
            )
            inside = unravelled("i", "out", axes) if axes > 1 else []
            at = ", ".join(f"j{k}" for k in range(axes)) or "()"
            inside.append(f"out[{at}] = function({', '.join(reads)})")
            body = [f"    {line}" for line in lines] + [f"        {line}" for line in inside]
            text = "\n".join([f"def {kernel_name(self.py_func)}(out, {names}):", *body]) + "\n"
            types_of = {f"to{k}": cast.type for k, cast in enumerate(casts) if cast is not None}
            self._kernels[key] = made_kernel(text, self.py_func, "vectorize", types_of)
        return self._kernels[key]


def is_contiguous(array):
    """Whether its elements lie one after another in C order."""
    return bool(array.flags["C_CONTIGUOUS"])


def made_kernel(text, function, label, names=()):
    """The kernel of the text, which calls `function`."""
    from xcuda import core

    return kernel_from(
        text, kernel_name(function), {"cuda": core, "function": function, **dict(names)}, label
    )


def kernel_name(function):
    """The name of the kernel that is made of a function."""
    return re.sub(r"\W", "_", function.__name__) + "_kernel"
