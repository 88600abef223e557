"""`batch_process`: several functions of one array, the array moved once, element-wise results computed together."""

from __future__ import annotations

from xcuda import _runtime
from xcuda.core.streams import Stream
from xcuda.core.streams import current_stream as _current
from xcuda.numeric._array import ndarray

from . import _places
from ._capture import is_array
from ._errors import BatchError
from ._graph import mapped
from ._jit import _batching


def batch_process(functions, array):
    """The results of each function of `array`, in order; on the host where the array was there.

    The array is moved to the device once. Each function works on a stream of its own; what they leave to functions of
    elements is computed together, one kernel for results of one shape. Where functions fail, BatchError says which was
    the first and keeps the others' results.
    """
    functions = list(functions)
    for i, function in enumerate(functions):
        if not callable(function):
            raise TypeError(f"batch_process: element {i} is a {type(function).__name__}, not a function")
    if not is_array(array):
        raise TypeError(f"batch_process takes one array, not a {type(array).__name__}")
    place = _places.place_of(array)
    given = _places.as_numeric(array)
    results, errors = _asked(functions, given)
    errors |= _computed(results)
    placed = [mapped(r, lambda leaf: _placed(leaf, place)) for r in results]
    if errors:
        _tell(functions, errors, placed)
    return placed


def _asked(functions, given):
    """Every function's result, pending where it is of elements; {place: error}."""
    home = _current()
    results, errors = [None] * len(functions), {}
    before, _batching.deferred = _batching.deferred, True
    try:
        for i, function in enumerate(functions):
            own = Stream()
            own.wait(home)
            try:
                with own:
                    results[i] = function(given)
            except Exception as error:
                errors[i] = error
            home.wait(own)
    finally:
        _batching.deferred = before
    return results, errors


def _computed(results):
    """Computes what is pending: all together, or one after the other where that fails; {place: error}."""
    pending = [[], {}]
    for i, result in enumerate(results):
        found: list = []
        mapped(result, lambda leaf, into=found: into.append(leaf) if isinstance(leaf, ndarray) else None)
        pending[0] += found
        pending[1][i] = found
    try:
        _runtime.numeric_compute(pending[0])
        return {}
    except Exception:
        errors = {}
        for i, found in pending[1].items():
            try:
                _runtime.numeric_compute(found)
            except Exception as error:
                errors[i], results[i] = error, None
        return errors


def _placed(leaf, place):
    return _places.given_back(leaf, place) if isinstance(leaf, ndarray) else leaf


def _tell(functions, errors, results):
    first = min(errors)
    name = getattr(functions[first], "__name__", repr(functions[first]))
    others = f" (and {len(errors) - 1} more: {sorted(set(errors) - {first})})" if len(errors) > 1 else ""
    error = errors[first]
    raise BatchError(
        f"function {first} ({name}) failed: {type(error).__name__}: {error}{others}; the others' results are in "
        "this error's .results",
        first,
        results,
    ) from error
