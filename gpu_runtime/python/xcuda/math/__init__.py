"""nvmath: whole functions fused into few kernels, and linear algebra that chooses for you.

    @nvmath.jit
    def pipeline(x, y, z):
        return nvmath.sqrt(nvmath.sin(x) * nvmath.cos(y) + nvmath.exp(-z**2) + nvmath.log(x + 1))

    pipeline(x, y, z)            # one kernel; the results are where the arrays are
    pipeline.explain(x, y, z)    # the graph, the kernels, the bytes

All of numeric's functions are here too, and special functions; `linalg`, `fft`, `random` and `optimization` under it.
"""

import importlib

from ._batch import batch_process
from ._config import config
from ._errors import BatchError, CaptureError, CaptureWarning
from ._functions import OWN
from ._jit import Jit, jit
from ._namespace import Function, Namespace
from ._special import TABLE as _SPECIAL
from ._special import accuracy, call
from ._structured import tuned_product

__all__ = [
    "BatchError",
    "CaptureError",
    "CaptureWarning",
    "Jit",
    "accuracy",
    "batch_process",
    "config",
    "explain",
    "jit",
]

_PARTS = ("fft", "linalg", "optimization", "random")
_names = Namespace()


def explain(function, *args, **kwargs):
    """What `jit(function)` becomes for these arguments: graph, kernels and bytes."""
    return (function if isinstance(function, Jit) else Jit(function, "numpy")).explain(*args, **kwargs)


def _of_elements(name):
    def special(*operands):
        return call(name, *operands)

    special.__doc__ = _SPECIAL[name][2]
    return special


def __getattr__(name):
    if name in _PARTS:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _SPECIAL:
        globals()[name] = Function(name, _of_elements(name))
        return globals()[name]
    if name == "matmul":
        globals()[name] = Function(name, tuned_product)
        return globals()[name]
    if name in OWN:
        globals()[name] = Function(name, OWN[name])
        return globals()[name]
    return _names.get(__name__, globals(), name)


def __dir__():
    return sorted({*_names.names(globals()), *_SPECIAL, *OWN, *_PARTS})
