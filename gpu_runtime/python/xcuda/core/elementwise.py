"""`vectorize` and `guvectorize`: functions of numbers, or of rows, that run over whole arrays on the current device."""

from __future__ import annotations

import functools
import re
import types

import numpy as np

from xcuda.core.dtypes import numpy_dtype
from xcuda.core.generated import kernel_from
from xcuda.core.signatures import returned_by, types_from
from xcuda.core.types import is_type

__all__ = ["guvectorize", "vectorize"]


def vectorize(function=None, signatures=None, **options):
    """Makes a function of numbers one of arrays: `@vectorize`, or `@vectorize(["float32(float32, float32)"])`.

    The result has the arguments' broadcast shape. Host arrays give a NumPy array, device arrays (of one shape, beside
    numbers) a device array. signatures: the first that holds the arguments says how they are converted and what comes
    back; without any, the types are what the function gives for NumPy numbers. out=: the array to write to.
    """
    return _decorated(Elementwise, function, signatures, options)


def guvectorize(signatures=None, layout=None, **options):
    """Makes a function of array rows one of arrays: `@guvectorize(["void(float32[:], float32[:])"], "(n)->(n)")`.

    The function gets its inputs, then its outputs, each as the layout has it: `()` is a number as input and an array
    of length 1 as output. Leading axes, beyond the layout's, are looped over in parallel and broadcast. The outputs'
    dtypes are the signature's; without one, the first input's.
    """
    if layout is None:
        signatures, layout = None, signatures
    if not isinstance(layout, str) or "->" not in layout:
        raise TypeError('guvectorize() needs a layout such as "(n),(n)->()"')
    options.pop("target", None)
    return lambda function: Rowwise(_plain(function), _listed(signatures), layout)


def _decorated(made, function, signatures, options):
    unknown = set(options) - {"target", "nopython", "cache", "identity", "fastmath"}
    if unknown:
        raise TypeError(f"vectorize() has no option '{min(unknown)}'")
    if function is not None and not isinstance(function, types.FunctionType):
        function, signatures = None, function
    if function is None:
        return lambda f: made(_plain(f), _listed(signatures))
    return made(function, _listed(signatures))


def _plain(function):
    if not isinstance(function, types.FunctionType):
        raise TypeError(f"a plain Python function is needed, not a {type(function).__name__}")
    return function


def _listed(signatures):
    if signatures is None:
        return []
    one = not isinstance(signatures, (list, tuple)) or (
        isinstance(signatures, tuple) and all(is_type(s) for s in signatures)
    )
    return [signatures] if one else list(signatures)


def _types_in(signature):
    """(result, [arguments]) of a signature as dtypes, None for no result; an array counts as its elements."""
    try:
        arguments = types_from(signature)
    except TypeError as error:
        raise TypeError(
            f'"{signature}" is no signature such as "float32(float32, float32)": {error}'
        ) from None
    returned = returned_by(signature)
    if returned in (None, "void", "none", "None"):
        return None, [numpy_dtype(kind[1]) for kind in arguments]
    return numpy_dtype(types_from((returned,))[0][1]), [numpy_dtype(kind[1]) for kind in arguments]


def _is_device(value):
    return hasattr(value, "__cuda_array_interface__") or hasattr(value, "copy_to_host")


class Elementwise:
    """What @vectorize gives: call it with arrays and numbers."""

    def __init__(self, function, signatures):
        self.py_func = function
        self.signatures = [_types_in(s) for s in signatures]
        self.count = function.__code__.co_argcount
        self._kernels = {}
        functools.update_wrapper(self, function)
        for _, arguments in self.signatures:
            if len(arguments) != self.count:
                raise TypeError(f"{function.__name__}() takes {self.count} arguments, not {len(arguments)}")

    def __call__(self, *values, out=None, stream=None):
        from xcuda.core import arrays

        if len(values) != self.count:
            raise TypeError(f"{self.__name__}() takes {self.count} arguments; {len(values)} were given")
        device = any(_is_device(v) for v in values)
        values = [v if _is_device(v) else np.asarray(v) for v in values]
        result, wanted = self._dtypes([v.dtype for v in values])
        shape = self._shape(values, device)
        if out is not None and tuple(out.shape) != shape:
            raise ValueError(f"out has shape {tuple(out.shape)}, the result {shape}")
        to = out
        if to is None:
            to = arrays.device_array(shape, result) if device else np.empty(shape, result)
        inputs, numbers = [], []
        for v, dtype in zip(values, wanted, strict=True):
            if not _is_device(v):
                v = v.astype(dtype, copy=False)
                if v.ndim:
                    v = np.ascontiguousarray(np.broadcast_to(v, shape)).reshape(-1)
            numbers.append(v.ndim == 0 and not _is_device(v))
            inputs.append(v[()] if numbers[-1] else v.reshape(-1) if v.ndim > 1 else v)
        flat = to.reshape(-1) if len(shape) != 1 else to
        if flat.size:
            kernel = self._kernel(tuple(numbers))
            if stream:
                blocks = -(-flat.size // 256)
                kernel[blocks, 256, stream](flat, *inputs)
            else:
                kernel(flat, *inputs)
        if isinstance(to, np.ndarray) and out is not None and not np.shares_memory(flat, to):
            to[...] = flat.reshape(shape)
        return to[()] if isinstance(to, np.ndarray) and out is None and not shape else to

    def _shape(self, values, device):
        if not device:
            return np.broadcast_shapes(*(v.shape for v in values))
        shapes = {tuple(v.shape) for v in values if _is_device(v) or v.ndim}
        if len(shapes) > 1:
            raise ValueError(
                f"{self.__name__}(): device arrays must be of one shape, found {sorted(shapes)}; "
                "numbers may stand beside"
            )
        return shapes.pop()

    def _dtypes(self, given):
        for casting in ("safe", "same_kind"):
            for result, wanted in self.signatures:
                if all(np.can_cast(g, w, casting) for g, w in zip(given, wanted, strict=True)):
                    return result, wanted
        if self.signatures:
            raise TypeError(f"{self.__name__}() has no signature for {', '.join(map(str, given))}")
        try:
            with np.errstate(all="ignore"):
                made = self.py_func(*(d.type(1) for d in given))
            return np.result_type(made), given
        except Exception as error:
            raise TypeError(
                f"{self.__name__}()'s result type can't be told by calling it with numbers ({error}): give signatures"
            ) from None

    def _kernel(self, numbers):
        if numbers not in self._kernels:
            names = [f"x{i}" for i in range(self.count)]
            reads = [n if alone else f"{n}[i]" for n, alone in zip(names, numbers, strict=True)]
            text = (
                f"def {_kernel_name(self.py_func)}({', '.join(['out', *names])}):\n"
                "    i = cuda.grid(1)\n"
                "    if i < out.shape[0]:\n"
                f"        out[i] = function({', '.join(reads)})\n"
            )
            self._kernels[numbers] = _made(text, _kernel_name(self.py_func), self.py_func, "vectorize")
        return self._kernels[numbers]


class Rowwise:
    """What @guvectorize gives: call it with the inputs, and the outputs if there are any already."""

    def __init__(self, function, signatures, layout):
        self.py_func = function
        both = [_types_in(s) for s in signatures]
        for given, (result, _) in zip(signatures, both, strict=True):
            if result is not None:
                raise TypeError(
                    f"guvectorized functions cannot return values: signature {given} specifies {result} return "
                    "type; write into the last argument, and void(...)"
                )
        self.signatures = [arguments for _, arguments in both]
        left, _, right = layout.replace(" ", "").partition("->")
        self.inputs = [tuple(filter(None, p.split(","))) for p in re.findall(r"\(([^)]*)\)", left)]
        self.outputs = [tuple(filter(None, p.split(","))) for p in re.findall(r"\(([^)]*)\)", right)]
        wanted = function.__code__.co_argcount
        if len(self.inputs) + len(self.outputs) != wanted or not self.outputs:
            raise TypeError(
                f'{function.__name__}() takes {wanted} arguments, the layout "{layout}" has others'
            )
        self._kernel = None
        functools.update_wrapper(self, function)

    def __call__(self, *values, out=None):
        given = list(values[len(self.inputs) :]) or (
            [] if out is None else [out] if not isinstance(out, tuple) else [*out]
        )
        inputs = values[: len(self.inputs)]
        if len(inputs) != len(self.inputs) or len(given) not in (0, len(self.outputs)):
            raise TypeError(
                f"{self.__name__}() takes {len(self.inputs)} inputs and {len(self.outputs)} outputs or none; "
                f"{len(values)} values were given"
            )
        device = any(_is_device(v) for v in values)
        if device and not all(_is_device(v) for v in inputs):
            raise TypeError(f"{self.__name__}(): beside a device array every input must be one")
        inputs = [v if _is_device(v) else np.asarray(v) for v in inputs]
        dtypes = self._dtypes([v.dtype for v in inputs])
        lengths = self._lengths(inputs)
        loops = [tuple(v.shape[: v.ndim - len(core)]) for v, core in zip(inputs, self.inputs, strict=True)]
        if device and len(set(loops)) > 1:
            raise ValueError(
                f"{self.__name__}(): the leading axes of device arrays must agree, found {loops}"
            )
        loop = loops[0] if device else np.broadcast_shapes(*loops)
        rows = int(np.prod(loop, dtype=np.int64))
        flat = []
        for v, core, dtype in zip(inputs, self.inputs, dtypes, strict=False):
            inner = tuple(lengths[n] for n in core)
            if not _is_device(v):
                v = np.ascontiguousarray(np.broadcast_to(v.astype(dtype, copy=False), (*loop, *inner)))
            flat.append(v.reshape((rows, *inner)))
        results = self._results(given, device, loop, lengths, dtypes[len(inputs) :])
        for r, core in zip(results, self.outputs, strict=True):
            flat.append(r.reshape((rows, *(lengths[n] for n in core))))
        if rows:
            self._made()(*flat)
        for r, f in zip(results, flat[len(inputs) :], strict=True):
            if isinstance(r, np.ndarray) and not np.shares_memory(r, f):
                r[...] = f.reshape(r.shape)
        return results[0] if len(results) == 1 else tuple(results)

    def _dtypes(self, given):
        for casting in ("safe", "same_kind"):
            for wanted in self.signatures:
                if all(np.can_cast(g, w, casting) for g, w in zip(given, wanted, strict=False)):
                    return wanted
        if self.signatures:
            raise TypeError(f"{self.__name__}() has no signature for {', '.join(map(str, given))}")
        return [*given, *[given[0]] * len(self.outputs)]

    def _lengths(self, inputs):
        lengths = {}
        for v, core in zip(inputs, self.inputs, strict=True):
            if v.ndim < len(core):
                raise ValueError(f"{self.__name__}(): an input of {len(core)} axes is needed, found {v.ndim}")
            for name, n in zip(core, v.shape[v.ndim - len(core) :], strict=True):
                if lengths.setdefault(name, n) != n:
                    raise ValueError(
                        f"{self.__name__}(): '{name}' is {lengths[name]} in one input and {n} in another"
                    )
        missing = {n for core in self.outputs for n in core} - set(lengths)
        if missing:
            raise TypeError(f"{self.__name__}(): no input tells the length '{min(missing)}'")
        return lengths

    def _results(self, given, device, loop, lengths, dtypes):
        from xcuda.core import arrays

        shapes = [(*loop, *(lengths[n] for n in core)) for core in self.outputs]
        if not given:
            make = arrays.device_array if device else np.zeros
            return [make(s, d) for s, d in zip(shapes, dtypes, strict=True)]
        for r, s in zip(given, shapes, strict=True):
            if tuple(r.shape) != s:
                raise ValueError(f"{self.__name__}(): an output has shape {tuple(r.shape)}, not {s}")
        return given

    def _made(self):
        if self._kernel is None:
            cores = [*self.inputs, *self.outputs]
            names = [f"x{k}" for k in range(len(cores))]
            reads = [
                f"{n}[i]" if core or k < len(self.inputs) else f"{n}[i:i + 1]"
                for k, (n, core) in enumerate(zip(names, cores, strict=True))
            ]
            text = (
                f"def {_kernel_name(self.py_func)}({', '.join(names)}):\n"
                "    i = cuda.grid(1)\n"
                f"    if i < {names[-1]}.shape[0]:\n"
                f"        function({', '.join(reads)})\n"
            )
            self._kernel = _made(text, _kernel_name(self.py_func), self.py_func, "guvectorize")
        return self._kernel


def _made(text, name, function, label):
    from xcuda import core

    return kernel_from(text, name, {"cuda": core, "function": function}, label)


def _kernel_name(function):
    return re.sub(r"\W", "_", function.__name__) + "_kernel"
