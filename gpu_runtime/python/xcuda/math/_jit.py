"""`@nvmath.jit`: a function captured whole, rewritten, and run as few kernels and library calls as its graph allows."""

from __future__ import annotations

import functools
import types

import numpy

from xcuda import _runtime
from xcuda.numeric._array import ndarray

from . import _places
from ._capture import Respecialise, current, is_array
from ._captured import NUMBERS, Captured, leaf_names
from ._config import config
from ._graph import Node, mapped
from ._outside import expect_no_writes
from ._symbols import has_symbols
from .optimization import _choices, auto_tune

_MOST_PROGRAMS = 64  # of one function that are kept
_STATIC = (str, bytes, bool, type(None), numpy.dtype, numpy.bool_, type, types.FunctionType, types.BuiltinFunctionType,
           slice, range, type(Ellipsis))  # fmt: skip
PRECISIONS = ("numpy", "fast")


def jit(function=None, *, precision="numpy"):
    """Makes a function of arrays and numbers one that runs fused: `@nvmath.jit`, or `@nvmath.jit(precision="fast")`.

    At the first call for new dtypes and numbers of axes the function runs once over symbols; what it asked for becomes
    a program of few kernels. Arguments: arrays (host or device), numbers, strings and None, tuples, lists and dicts of
    them. Results are where the arrays were. precision: "numpy" rounds every operation as NumPy does; "fast" lets
    compilers contract and reorder, and float32 products round their factors to TF32 on a GPU.
    """
    if precision not in PRECISIONS:
        raise ValueError(f"precision is one of {', '.join(map(repr, PRECISIONS))}, not {precision!r}")
    if function is None:
        return functools.partial(jit, precision=precision)
    return Jit(function, precision)


class Jit:
    """What `nvmath.jit` gives. `explain(...)` tells what a call becomes, `captures` how often it was captured."""

    def __init__(self, function, precision):
        if isinstance(function, Jit):
            function = function.__wrapped__
        if not isinstance(function, types.FunctionType):
            raise TypeError(f"nvmath.jit takes a plain Python function, not a {type(function).__name__}")
        functools.update_wrapper(self, function)
        self.precision = precision
        self.captures = 0
        self._programs: dict = {}
        self._numbers: dict = {}  # by signature: places of numbers whose values the function looks at, or ("shape",)
        expect_no_writes(function)

    def __repr__(self):
        return f"<nvmath.jit of {self.__wrapped__!r}>"

    def __reduce__(self):
        return jit, (self.__wrapped__,), {"precision": self.precision}

    def __setstate__(self, state):
        self.precision = state["precision"]

    def __get__(self, instance, owner=None):
        return self if instance is None else types.MethodType(self, instance)

    def __call__(self, *args, **kwargs):
        if current() is not None and has_symbols(args, kwargs):
            return self.__wrapped__(*args, **kwargs)  # part of the function that is being captured
        call = Call(self, args, kwargs)
        return call.results(call.program())

    def explain(self, *args, **kwargs):
        """What a call with these arguments becomes: graph, kernels and bytes, as text and in a notebook as a picture.

        The arguments' shapes and dtypes count; the function is run once with them.
        """
        from ._explain import explained

        return explained(self, args, kwargs)

    def clear(self):
        """Forgets every capture."""
        self._programs.clear()
        self._numbers.clear()


def _ones(shape):
    """Which axes have length 1: they broadcast, and what is rewritten for others would not hold."""
    return 1 in shape and tuple(n == 1 for n in shape)


class Call:
    """The arguments of one call: its leaves, where they are, and the program for their signature."""

    def __init__(self, jit, args, kwargs):
        self.jit = jit
        self.arrays: list = []  # leaves that are arrays, in order
        self.numbers: list = []
        parts = [self._taken(a) for a in args]
        if kwargs:
            parts.append(tuple((k, self._taken(kwargs[k])) for k in sorted(kwargs)))
        self.signature = (len(args), *parts)
        self.args, self.kwargs = args, kwargs

    def _taken(self, value):
        """The value's part of the signature; arrays and numbers are kept as leaves."""
        kind = type(value)
        if kind is numpy.ndarray or kind is ndarray:
            self.arrays.append(value)
            return value.dtype, value.ndim, _ones(value.shape)
        if kind is float or kind is int or kind is complex:
            self.numbers.append(value)
            return kind
        if kind is tuple or kind is list:
            return (kind, *map(self._taken, value))
        if kind is dict:
            return (kind, *((k, self._taken(v)) for k, v in value.items()))
        if isinstance(value, (bool, numpy.bool_)):
            return kind, bool(value)
        if isinstance(value, NUMBERS):
            self.numbers.append(value)
            return kind, getattr(value, "dtype", None)
        if is_array(value):
            self.arrays.append(value)
            return numpy.dtype(value.dtype), len(value.shape), _ones(value.shape)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return (kind, *map(self._taken, value))
        if isinstance(value, _STATIC) or callable(value):
            return kind, value
        raise TypeError(
            f"{self.jit.__name__}() was given a {kind.__name__}: a captured function takes arrays, numbers, strings, "
            "None, functions, and tuples, lists and dicts of them; pass the arrays that it holds"
        )

    def key(self):
        """The signature with the values that the function looks at."""
        looked = self.jit._numbers.get(self.signature)
        if not looked:
            return self.signature
        fixed = tuple(self.numbers[place] for place in sorted(p[1] for p in looked if p[0] == "number"))
        shapes = tuple(tuple(a.shape) for a in self.arrays) if ("shape",) in looked else None
        return self.signature, fixed, tuple(map(type, fixed)), shapes

    def program(self):
        """The program of this call's signature, captured where there is none or something outside has changed."""
        programs = self.jit._programs
        found = programs.get(self.key())
        if found is not None and found.watched.unchanged():
            return found
        made = self.captured()
        while len(programs) >= _MOST_PROGRAMS:
            programs.pop(next(iter(programs)))
        programs[self.key()] = made
        return made

    def captured(self):
        """Runs the function over symbols; again with constants where it looks at numbers."""
        for _ in range(len(self.numbers) + 2):
            try:
                return Captured(self)
            except Respecialise as looked:
                self.jit._numbers.setdefault(self.signature, set()).update(looked.roots)
        raise AssertionError("a number was looked at that is a constant already")

    # -- running -------------------------------------------------------------------------------------

    def values(self, captured):
        """What the program's inputs stand for in this call."""
        taken: dict = {}  # by identity: a host array that is given twice is copied to a GPU once
        return [
            _places.as_numeric_once(self.arrays[place], taken) if of_array else self.numbers[place]
            for of_array, place in captured.places
        ]

    def results(self, captured):
        """Runs the program; gives results where the arrays are."""
        tuned = _choices.function(self, captured)
        if tuned is not None:
            return tuned[0]
        made = self.ran(captured)
        if _batching.deferred:
            return made
        return self.placed(made, captured)

    def ran(self, captured):
        """The outputs as numeric's arrays, pending."""
        try:
            if captured.tuning is not None:
                with auto_tune(captured.tuning[0], deterministic=captured.tuning[1]):
                    return captured.program.run(*self.values(captured))
            return captured.program.run(*self.values(captured))
        except (ValueError, TypeError, ZeroDivisionError, numpy.linalg.LinAlgError) as error:
            _tell_operands(error, self, captured)
            if type(error) in (ValueError, TypeError):
                self._expect_shapes(error)
            raise

    def _expect_shapes(self, error):
        """Raises what a capture says to these shapes: it knows the operands' names."""
        before = self.jit.captures
        try:
            self.captured()
        except (ValueError, TypeError) as told:
            told.__notes__ = getattr(error, "__notes__", [])
            raise told from error
        finally:
            self.jit.captures = before

    def placed(self, made, captured, **layout):
        """Computes pending outputs, in as few kernels as can be, and puts them where the inputs are.

        layout: `threads` of a block and `elements` of a thread, where they are not the compiler's choice.
        """
        arrays: list = []
        mapped(made, lambda leaf: arrays.append(leaf) if isinstance(leaf, ndarray) else None)
        if arrays:
            _runtime.numeric_compute(arrays, self.jit.precision == "fast", **layout)
        if config.check_finite:
            _expect_finite(made, self.jit.__name__)
        place = _places.place_for([_places.place_of(a) for a in self.arrays])
        back = captured.returned_inputs
        if back:
            return _with_inputs(made, captured.program.outputs, back, self.arrays, place)
        if type(made) is ndarray:
            return _places.given_back(made, place)
        return mapped(made, lambda leaf: _places.given_back(leaf, place))


def _expect_finite(made, name):
    """FloatingPointError that names the first result with nan or inf."""
    from xcuda import numeric

    for which, value in leaf_names("the result", made):
        if (
            isinstance(value, ndarray)
            and value.dtype.kind in "fc"
            and not bool(numeric.isfinite(value).all())
        ):
            bad = int((~numeric.isfinite(value)).sum())
            raise FloatingPointError(
                f"{name}(): {bad} of {value.size} elements of {which} are nan or inf (nvmath.config.check_finite is on)"
            )


class _Batching:
    """While `deferred`, jitted functions leave their results pending: for whoever computes several together."""

    deferred = False


_batching = _Batching()


def _with_inputs(made, outputs, back, arrays, place):
    """Results, of which those that are arguments are the arguments themselves."""
    if isinstance(outputs, Node):
        return arrays[back[outputs]] if outputs in back else _places.given_back(made, place)
    if isinstance(outputs, dict):
        return {k: _with_inputs(made[k], v, back, arrays, place) for k, v in outputs.items()}
    if isinstance(outputs, (tuple, list)):
        parts = [_with_inputs(m, o, back, arrays, place) for m, o in zip(made, outputs, strict=True)]
        return type(outputs)(*parts) if hasattr(outputs, "_fields") else type(outputs)(parts)
    return made


def _tell_operands(error, call, captured):
    """Adds the arguments' shapes to an error of a later call: the program knows no names, the capture does."""
    told = [
        f"{captured.names[node]} {str(tuple(call.arrays[place].shape)).replace(' ', '')} {call.arrays[place].dtype}"
        for node, (of_array, place) in zip(captured.inputs, captured.places, strict=True)
        if of_array
    ]
    if told and not getattr(error, "__notes__", None):
        error.add_note(f"in {call.jit.__name__}({', '.join(told)})")
