"""What a node's name stands for when a captured function runs: numeric's functions, ours, the rewrites'."""

from __future__ import annotations

import functools
import math
import operator

import numpy

from xcuda import _runtime, numeric
from xcuda.numeric._array import ndarray
from xcuda.numeric._registry import TABLE

from . import _special, _structured

# Functions that only build the lazy graph; all others work at once, on memory.
_LAZY = frozenset(
    f"xcuda.numeric.{m}"
    for m in (
        *("_ufuncs", "_functions", "_reductions", "_views", "_named", "_creation", "_array", "_joining"),
        *("_splitting", "_triangles", "_rearranging", "_padding", "_grids"),
    )
)


def eye(N, M=None, k=0, dtype=float, order="C", *, device=None, like=None):
    """Ones on a diagonal, zeros elsewhere; lazy: it fuses with what it is added to."""
    n, m = operator.index(N), operator.index(N if M is None else M)
    if n < 0 or m < 0:
        raise ValueError("negative dimensions are not allowed")
    columns = numeric.arange(m)
    made = numeric.arange(n)[:, None] == (columns - operator.index(k) if k else columns)
    made = made.astype(dtype)
    return made.copy("F") if order == "F" else made


def identity(n, dtype=None, *, like=None):
    """The square identity matrix."""
    return eye(n, dtype=float if dtype is None else dtype)


OWN = {"eye": eye, "identity": identity}


def _set_item(x, key, value, in_place):
    made = x if in_place else x.copy()
    made[key] = value
    return made


def is_lazy(op):
    """True where the function only builds the graph."""
    if op in _special.TABLE or op in OWN or op in _structured.LAZY:
        return True
    row = TABLE.get(op)
    return row is not None and row.module in _LAZY


def _pending(tree, found):
    if isinstance(tree, ndarray):
        if tree._pending:
            found.append(tree)
    elif isinstance(tree, (tuple, list)):
        for each in tree:
            _pending(each, found)
    elif isinstance(tree, dict):
        for each in tree.values():
            _pending(each, found)
    return found


# While somebody explains a call, of each of its functions: how many kernels had been launched when it was called, and
# the way that it took, where there are several.
calls_at: list | None = None


def at_once(function, fast):
    """The function with its pending operands computed first, together, and nothing else with them."""

    @functools.wraps(function)
    def run(*args, **kwargs):
        wanted = _pending((args, kwargs), [])
        if wanted:
            _runtime.numeric_compute(wanted, fast)
        if calls_at is not None:
            calls_at.append((_runtime.numeric_counts()[0], None))
        return function(*args, **kwargs)

    return run


def plain(op):
    """The function of that name, without regard to what is pending."""
    if op.startswith("operator."):
        return getattr(operator, op.removeprefix("operator."))
    if op.startswith("math."):
        return getattr(math, op.removeprefix("math."))
    if op in _special.TABLE:
        return functools.partial(_special.call, op)
    if op in OWN:
        return OWN[op]
    if op in _structured.TABLE:
        return _structured.TABLE[op]
    if op == "setitem":
        return _set_item
    found = numeric
    for part in op.split("."):
        found = getattr(found, part)
    return found


def resolved(op, fast=False):
    """What a program calls for a node."""
    function = _structured.fast_product if fast and op == "matmul" else plain(op)
    return function if is_lazy(op) or op.startswith(("operator.", "math.")) else at_once(function, fast)


def on_host(op):
    """NumPy's function of that name, for a program that runs on the host; None where there is none."""
    if op.startswith(("operator.", "math.")):
        return plain(op)
    if op == "setitem":
        return _set_item
    if op in _special.TABLE or op in _structured.TABLE or op.startswith("random."):
        return None
    found = numpy
    for part in op.split("."):
        found = getattr(found, part, None)
    return found
