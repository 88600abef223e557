"""The kernel that the optimiser gives back: the chosen variant for calls like the sample, the given one for others."""

from __future__ import annotations

import functools
import types

import numpy as np

from xcuda import _runtime
from xcuda.core.kernels import About
from xcuda.profiler.guided.sample import is_array, kernel_of, on_device


class Optimized(About):
    """What an optimised kernel answers beside being called: what the chosen variant does."""

    def __init__(self, given, chosen, variant, values):
        super().__init__(kernel_of(given).py_func)
        self.given, self.chosen = given, chosen
        self.options = kernel_of(given).about.options
        names = list(kernel_of(given).__signature__.parameters)
        self._tests = [_test(i, value, variant) for i, value in enumerate(values)]
        self.winner = variant.words(names) if variant else "as given"

    def route(self, values, shaped):
        """The kernel for these arguments; [grid, block] of the caller's means the kernel as it was given."""
        if shaped:
            return kernel_of(self.given)
        return self.chosen if all(map(_passes, self._tests, values)) else self.given

    def variant(self, values, typed=False):
        """Calls with tuples and constants go the given kernel's way."""
        return kernel_of(self.given).about.variant(values, typed)

    def compile(self, signature, block=None, *, target=None):
        """Compiles the chosen variant, as a kernel's `compile` does."""
        return kernel_of(self.chosen).about.compile(signature, block, target=target)

    @property
    def specialisations(self):
        """The compiled versions of the chosen variant, then those of the kernel as given."""
        given, chosen = kernel_of(self.given), kernel_of(self.chosen)
        return (given.about.specialisations if given is not chosen else []) + chosen.about.specialisations

    def describe_briefly(self):
        """The kernel's repr."""
        gain = self.kernel.report.gain
        return f"<kernel {self.py_func.__name__}{self.kernel.__signature__}, {self.winner}: {gain:.2f}x>"


def optimized_kernel(given, chosen, variant, values, report):
    """The kernel over a choice; no variant: the given kernel for all calls."""
    plain = kernel_of(given)
    about = Optimized(given, chosen, variant, values)
    signature = plain.__signature__
    defaults = {n: p.default for n, p in signature.parameters.items() if p.default is not p.empty}
    made = _runtime.Kernel(about, plain.__name__, tuple(signature.parameters), defaults, *about.options)
    about.kernel = made
    functools.update_wrapper(made, plain.py_func)
    made.__signature__ = signature
    made.__call__ = made
    _runtime.tune(made, routed=True)
    if hasattr(plain, "optimize"):
        from xcuda.jit import files

        made.target, made.optimize = plain.target, plain.optimize
        made.save = types.MethodType(files.save, kernel_of(chosen))
    made.report = report
    return made


def _test(i, value, variant):
    """What an argument must be like for the chosen variant: a tuple whose first item names the test."""
    fixed = {axis: met for parameter, axis, met in (variant.fixed if variant else ()) if parameter == i}
    if is_array(value):
        device = value.device.label if on_device(value) else None
        sizes = tuple(int(n).bit_length() for n in value.shape)
        return ("array", value.dtype, sizes, device, tuple(fixed.items()))
    if -1 in fixed:
        return ("constant", type(value), value)
    if variant and variant.fastmath and isinstance(value, (float, np.floating)):
        return ("near", type(value), value)
    return ("type", type(value))


def _passes(test, value) -> bool:
    kind = test[0]
    if kind == "array":
        _, dtype, sizes, device, fixed = test
        shape = getattr(value, "shape", None)
        if shape is None or getattr(value, "dtype", None) != dtype or len(shape) != len(sizes):
            return False
        if getattr(value, "_device_label", None) != device or device is None and on_device(value):
            return False
        return all(n.bit_length() == size for n, size in zip(shape, sizes, strict=True)) and all(
            shape[axis] == length for axis, length in fixed
        )
    if type(value) is not test[1]:
        return False
    if kind == "constant":
        return value == test[2] and (value != 0 or str(value) == str(test[2]))  # 0.0 is not -0.0
    if kind == "near":  # fast math was compared at this size of number only
        return value == test[2] or value * test[2] > 0 and 0.5 <= value / test[2] <= 2
    return True
