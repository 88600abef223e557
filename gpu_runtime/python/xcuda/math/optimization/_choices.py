"""What is chosen by measurement: how a system is solved, how matrices lie, whether a function runs on the host."""

from __future__ import annotations

import numpy

from xcuda import numeric
from xcuda.core import choices
from xcuda.numeric._array import asarray
from xcuda.numeric._products import matmul

from . import _tuning

active = _tuning.active
_MOST_ALGORITHMS = 4  # of cuBLASLt's that are measured
_MOST_ON_HOST = 1 << 20  # bytes of arguments above which NumPy is no candidate


def _described(*arrays):
    return tuple(f"{a.dtype}{tuple(a.shape)}" for a in arrays)


# -- systems -----------------------------------------------------------------------------------------


def is_symmetric(a):
    """True where a matrix equals its transpose and its diagonal is positive: one kernel and a short one."""
    if a.ndim != 2 or a.shape[0] != a.shape[1] or not a.size or a.dtype.kind != "f":
        return False
    return bool((a == a.T).all()) and bool((numeric.diagonal(a) > 0).all())


def solve(a, b, positive=None):
    """x with a @ x == b. positive: what the graph knows of `a`; None where nothing is known."""
    from .. import _structured

    a, b = asarray(a), asarray(b)
    settings = _tuning.active()
    matrices = a.ndim == 2 and b.ndim in (1, 2) and a.size and b.size
    if settings is None or not matrices:
        return _structured.solve_positive(a, b) if positive else numeric.linalg.solve(a, b)
    for each in (a, b):
        each._compute()
    symmetric = positive or (not settings.deterministic and is_symmetric(a))
    candidates = {"LU": lambda: numeric.linalg.solve(a, b)}
    if symmetric:
        candidates["Cholesky"] = lambda: _structured.cholesky_solve(a, b)
    if a.dtype == b.dtype == numpy.float64 and a.shape[0] >= 256:
        candidates["LU in float32, refined"] = lambda: _structured.refined_solve(a, b)
    how = "symmetric" if symmetric else "general"
    rule = "Cholesky" if positive else "LU"
    try:
        return _tuning.choose("solve", (how, *_described(a, b)), candidates, rule)
    except numpy.linalg.LinAlgError:
        return numeric.linalg.solve(a, b)  # by LU: positive definite for the tuner's matrix, not for this one


# -- products ----------------------------------------------------------------------------------------


def product(a, b, *args, **kwargs):
    """a @ b."""
    if _tuning.active() is None or args or kwargs:
        return matmul(a, b, *args, **kwargs)
    a, b = asarray(a), asarray(b)
    if (
        a.ndim != 2
        or b.ndim != 2
        or a.dtype != b.dtype
        or a.dtype.kind not in "fc"
        or a.shape[1] != b.shape[0]
    ):
        return matmul(a, b)
    for each in (a, b):
        each._compute()
    candidates = {"as it lies": lambda: matmul(a, b)}
    if not a._c_contiguous or not b._c_contiguous:
        candidates["in C order first"] = lambda: matmul(
            numeric.ascontiguousarray(a), numeric.ascontiguousarray(b)
        )
    if a.dtype.kind == "f" and a.dtype.itemsize >= 4 and _is_transpose(a, b):
        from .. import _structured

        candidates["syrk"] = lambda: _structured.gram(a)
    if len(candidates) == 1:
        return matmul(a, b)
    lies = "".join("C" if x._c_contiguous else "F" if x._f_contiguous else "S" for x in (a, b))
    return _tuning.choose("product", (lies, *_described(a, b)), candidates)


def epilogue(steps, a, b, apart, within):
    """(way, result) of a product with what follows it: a kernel of its own for that, or cuBLASLt's algorithms."""
    from xcuda._dense import products

    def algorithm(number):
        def run():
            made = within(number)
            if made is None:
                raise NotImplementedError("cuBLASLt has no such algorithm")
            return made

        return run

    candidates = {"a product, then a kernel": apart}
    names = [f"cuBLASLt's algorithm {k + 1}" for k in range(_MOST_ALGORITHMS)]
    if not products.epilogues_missing():
        candidates |= {name: algorithm(k) for k, name in enumerate(names)}
    lies = "".join("C" if x._c_contiguous else "F" if x._f_contiguous else "S" for x in (a, b))
    key = (" ".join(steps), lies, *_described(a, b))
    if active().deterministic and names[0] in candidates:
        made = within(0)
        return ("apart", apart()) if made is None else ("within", made)
    made = _tuning.choose("epilogue", key, candidates)
    return ("within" if _tuning.winner("epilogue", key) in names else "apart"), made


def _is_transpose(a, b):
    return a._same_memory(b) and a.shape == b.shape[::-1] and a.strides == b.strides[::-1]


# -- functions ---------------------------------------------------------------------------------------


def function(call, captured):
    """A jitted function's results by what measures fastest, in a tuple; None where there is nothing to choose."""
    settings = _tuning.active()
    if settings is None or settings.deterministic or captured.returned_inputs or not captured.fuses:
        return None
    candidates = {"fused": lambda: call.placed(call.ran(captured), captured)}
    if sum(a.nbytes for a in call.arrays) <= _MOST_ON_HOST:
        _add_host(candidates, call, captured)
    else:
        _add_layouts(candidates, call, captured)
    if len(candidates) == 1:
        return None
    key = (choices.key(captured.program.text)[:8], *_described(*call.arrays))
    return (_tuning.choose(f"{call.jit.__name__}()", key, candidates),)


def _add_host(candidates, call, captured):
    """NumPy, where all arrays are on the host already."""
    if not call.arrays or not all(type(a) is numpy.ndarray for a in call.arrays):
        return
    program = captured.host_program()
    if program is None:
        return
    values = [call.arrays[place] if of_array else call.numbers[place] for of_array, place in captured.places]
    candidates["NumPy, on the host"] = lambda: _quiet(program.run, values)


def _add_layouts(candidates, call, captured):
    """Other blocks of threads, and on a GPU one element a thread instead of vectors."""
    layouts = {f"blocks of {n} threads": {"threads": n} for n in (64, 128, 512)}
    if numeric.zeros(1)._device_label != "cpu":
        layouts["one element a thread"] = {"elements": 1}
    for name, layout in layouts.items():
        candidates[name] = lambda layout=layout: call.placed(call.ran(captured), captured, **layout)


def _quiet(run, values):
    with numpy.errstate(all="ignore"):
        return run(*values)
