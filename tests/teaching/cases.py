"""The teaching kernels of this folder, found by their files; the tests and both benchmarks run them from here.

A file holds kernels as a user of numba-cuda writes them, and
    SMALL, BENCH, GPU        arguments of inputs(): for a test, for the CPU's benchmark, for the GPU's
    inputs(rng, ...)         {name: array or scalar}, in the order in which launch() takes them
    launch(k, **arguments)   the launches; k has the kernels by name, checked or not
    reference(**arguments)   what NumPy or plain Python says of the results: {name: array}
    RTOL, ATOL               how near a result must come to that; left out, it must be equal
    agree(found, right)      in place of these two, where equality means something else
"""

import dataclasses
import importlib
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
from xcuda import _runtime
from xcuda import core as cuda

FOLDER = Path(__file__).parent


@dataclasses.dataclass(frozen=True)
class Case:
    """One file of this folder."""

    name: str
    module: ModuleType

    @property
    def title(self):
        """The first line of the file."""
        return self.module.__doc__.strip().splitlines()[0]

    @property
    def kernels(self):
        """The kernels of the file: {name: kernel}."""
        return {name: v for name, v in vars(self.module).items() if isinstance(v, _runtime.Kernel)}

    def made(self, **options):
        """The kernels as launch() takes them; with options (checked=False), made anew with these."""
        kernels = self.kernels
        if options:
            kernels = {name: cuda.kernel(k.py_func, **options) for name, k in kernels.items()}
        return SimpleNamespace(**kernels)

    def inputs(self, size, seed=1):
        """Arguments on the host; size: SMALL, BENCH or GPU."""
        return self.module.inputs(np.random.default_rng(seed), **getattr(self.module, size))

    def reference(self, arguments):
        """What the results must be."""
        return self.module.reference(**{k: copied(v) for k, v in arguments.items()})

    def agree(self, found, right):
        """Fails where a result is not what it must be. found may hold more arrays than right."""
        if hasattr(self.module, "agree"):
            return self.module.agree(found, right)
        rtol, atol = getattr(self.module, "RTOL", 0), getattr(self.module, "ATOL", 0)
        for name, expected in right.items():
            np.testing.assert_allclose(
                found[name], expected, rtol=rtol, atol=atol, err_msg=f"{self.name}: {name}"
            )


def copied(value):
    return value.copy() if isinstance(value, np.ndarray) else value


def to_device(arguments):
    """Arrays on the present device, scalars as they are."""
    return {k: cuda.to_device(v) if isinstance(v, np.ndarray) else v for k, v in arguments.items()}


def to_host(arguments):
    """The arrays alone, on the host."""
    return {k: v.copy_to_host() for k, v in arguments.items() if hasattr(v, "copy_to_host")}


def load():
    """All cases: {name: Case}, in the order of their names."""
    if str(FOLDER) not in sys.path:
        sys.path.insert(0, str(FOLDER))
    names = sorted(f.stem for f in FOLDER.glob("*.py") if f.stem != "cases")
    return {name: Case(name, importlib.import_module(name)) for name in names}
