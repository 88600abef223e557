"""What the sets of kernels in this folder are made of: one with a fault and its twin without it."""

import dataclasses
import inspect

import numpy as np


@dataclasses.dataclass(frozen=True)
class Pair:
    """A faulty kernel, its clean twin, and the call that shows it.

    arguments: makes the arrays of a call. launch: (grid, block), None for the shape that xcuda chooses. rule: what must
    find the fault, at the line that holds `mark` (without one: at the kernel's first line). also: rules that find
    something in the faulty one besides, rightly. twin_launch, twin_arguments: the twin's, where they differ.
    multiprocessors: of the GPU that is meant. same: both write the same.
    """

    faulty: object
    clean: object
    arguments: object
    launch: object
    rule: str
    mark: str | None = "# here"
    also: tuple = ()
    twin_launch: object = ...
    twin_arguments: object = None
    multiprocessors: int | None = None
    same: bool = True

    def call(self, twin: bool):
        """(kernel or kernel[grid, block], arguments)."""
        kernel = self.clean if twin else self.faulty
        launch = self.twin_launch if twin and self.twin_launch is not ... else self.launch
        arguments = self.twin_arguments if twin and self.twin_arguments else self.arguments
        return (kernel[launch] if launch else kernel), arguments()

    @property
    def line(self):
        """Of the file: where the fault is."""
        lines, first = inspect.getsourcelines(self.faulty.py_func)
        marks = [first + i for i, text in enumerate(lines) if self.mark and self.mark in text]
        if self.mark:
            (found,) = marks
            return found
        return first + next(i for i, text in enumerate(lines) if text.lstrip().startswith("def "))


def numbers(*shape, dtype=np.float32):
    """Small whole numbers, so that sums are exact in any order."""
    return np.random.default_rng(3).integers(0, 5, shape).astype(dtype)


def zeros(*shape, dtype=np.float32):
    """What a kernel writes to."""
    return np.zeros(shape, dtype)
