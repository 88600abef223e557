"""`guvectorize`: functions of array rows that run over whole arrays on the current device."""

from __future__ import annotations

import functools
import re

import numpy as np

from xcuda.core.elementwise import (
    chosen,
    given_array,
    indices,
    is_device,
    kernel_name,
    listed,
    made_kernel,
    plain_function,
    types_in,
    unravelled,
)

__all__ = ["guvectorize"]


def guvectorize(signatures=None, layout=None, **options):
    """Makes a function of array rows one of arrays: `@guvectorize(["void(float32[:], float32[:])"], "(n)->(n)")`.

    The function gets its inputs, then its outputs, each as the layout has it: `()` is a number as input (an array of
    length 1 where the signature says so) and an array of length 1 as output. Leading axes, beyond the layout's, are
    looped over in parallel and broadcast. The outputs' dtypes are the signature's; without one, the first input's.
    """
    if layout is None:
        signatures, layout = None, signatures
    if not isinstance(layout, str) or "->" not in layout:
        raise TypeError('guvectorize() needs a layout such as "(n),(n)->()"')
    if not options.pop("nopython", True):
        raise TypeError("nopython flag must be True")
    for known in ("target", "cache", "identity", "writable_args", "fastmath"):
        options.pop(known, None)
    if options:
        raise TypeError(f"The following target options are not supported: {', '.join(sorted(options))}")
    return lambda function: Rowwise(plain_function(function), listed(signatures), layout)


class Rowwise:
    """What @guvectorize gives: call it with the inputs, and the outputs if there are any already."""

    def __init__(self, function, signatures, layout):
        self.py_func = function
        self.signatures = [types_in(s) for s in signatures]
        for given, (result, *_) in zip(signatures, self.signatures, strict=True):
            if result is not None:
                raise TypeError(
                    f"guvectorized functions cannot return values: signature {given} specifies {result} return "
                    "type; write into the last argument, and void(...)"
                )
        left, _, right = layout.replace(" ", "").partition("->")
        self.inputs = [tuple(filter(None, p.split(","))) for p in re.findall(r"\(([^)]*)\)", left)]
        self.outputs = [tuple(filter(None, p.split(","))) for p in re.findall(r"\(([^)]*)\)", right)]
        wanted = function.__code__.co_argcount
        if len(self.inputs) + len(self.outputs) != wanted or not self.outputs:
            raise TypeError(
                f'{function.__name__}() takes {wanted} arguments, the layout "{layout}" has others'
            )
        self._kernels = {}
        functools.update_wrapper(self, function)

    def __call__(self, *values, out=None, stream=None):
        given = self._outs(values, out)
        inputs = [given_array(v) for v in values[: len(self.inputs)]]
        signature = self._signature([v.dtype for v in inputs])
        dtypes, dimensions = signature[1:]
        inputs = [v if v.dtype == d else v.astype(d) for v, d in zip(inputs, dtypes, strict=False)]
        as_arrays = tuple(bool(d) and not core for d, core in zip(dimensions, self.inputs, strict=False))
        inputs = [
            v.reshape(()) if a and v.shape == (1,) else v for v, a in zip(inputs, as_arrays, strict=True)
        ]
        lengths = self._lengths(inputs)
        loops = [tuple(v.shape[: v.ndim - len(core)]) for v, core in zip(inputs, self.inputs, strict=True)]
        loop = np.broadcast_shapes(*loops)
        device = any(is_device(v) for v in (*inputs, *given))
        results = self._results(given, device, loop, lengths, dtypes[len(inputs) :])
        shown = [r.reshape((1, *r.shape)) if not loop else r for r in results]
        rows = int(np.prod(loop, dtype=np.int64))
        if rows:
            patterns = tuple(
                tuple(n == m for n, m in zip(own, loop[len(loop) - len(own) :], strict=True)) for own in loops
            )
            numbers = tuple(not v.ndim and not is_device(v) for v in inputs)
            kernel = self._kernel(patterns, numbers, as_arrays, max(len(loop), 1))
            passed = [
                self._input(v, alone, as_array)
                for v, alone, as_array in zip(inputs, numbers, as_arrays, strict=True)
            ]
            blocks = -(-rows // 128)
            kernel[(blocks, 128, stream) if stream else (blocks, 128)](*passed, *shown, rows)
        for r, f in zip(results, shown, strict=True):
            if isinstance(r, np.ndarray) and not np.shares_memory(r, f):
                r[...] = f.reshape(r.shape)
        return results[0] if len(results) == 1 else tuple(results)

    def _input(self, value, alone, as_array):
        if as_array and not value.ndim:
            return value.reshape(1)
        return value[()] if alone else value

    def _outs(self, values, out):
        """The outputs that the call was given, [] where it makes them."""
        inputs, outputs = len(self.inputs), len(self.outputs)
        if len(values) not in (inputs, inputs + outputs):
            are = "s" if len(values) != 1 else ""
            raise TypeError(
                f"{self.__name__}(): gufunc accepts {inputs} positional arguments (the inputs) or {inputs + outputs} "
                f"positional arguments (the inputs, then the outputs). Got {len(values)} positional argument{are}."
            )
        if len(values) > inputs:
            if out is not None:
                raise ValueError("cannot specify argument 'out' as both positional and keyword")
            return [given_array(v) for v in values[inputs:]]
        if out is None:
            return []
        outs = [*out] if isinstance(out, tuple) else [out]
        if len(outs) != outputs:
            raise TypeError(f"{self.__name__}() has {outputs} outputs, found {len(outs)} for out")
        return [given_array(v) for v in outs]

    def _signature(self, given):
        if self.signatures:
            return chosen(self.__name__, self.signatures, given)
        return None, [*given, *[given[0]] * len(self.outputs)], [0] * len(given)

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

    def _kernel(self, patterns, numbers, as_arrays, axes):
        key = patterns, numbers, as_arrays, axes
        if key not in self._kernels:
            reads = []
            for k, (pattern, core) in enumerate(zip(patterns, self.inputs, strict=True)):
                at = indices(pattern, axes)
                if as_arrays[k] and at:
                    at[-1] = f"{at[-1]}:{at[-1]} + 1"
                whole = numbers[k] or not at and (core or as_arrays[k])
                reads.append(f"x{k}" if whole else f"x{k}[{', '.join(at) or '()'}]")
            loop = [f"j{k}" for k in range(axes)]
            for k, core in enumerate(self.outputs):
                at = loop if core else [*loop[:-1], f"{loop[-1]}:{loop[-1]} + 1"]
                reads.append(f"y{k}[{', '.join(at)}]")
            names = [
                *(f"x{k}" for k in range(len(self.inputs))),
                *(f"y{k}" for k in range(len(self.outputs))),
            ]
            inside = [*unravelled("i", "y0", axes), f"function({', '.join(reads)})"]
            lines = [
                f"def {kernel_name(self.py_func)}({', '.join(names)}, rows):",
                "    i = cuda.grid(1)",
                "    if i < rows:",
            ]
            text = "\n".join([*lines, *(f"        {line}" for line in inside)]) + "\n"
            self._kernels[key] = made_kernel(text, self.py_func, "guvectorize")
        return self._kernels[key]
