"""Holds numeric against NumPy, function by function of the standard, on hypothesis-made arguments."""

import warnings
from operator import attrgetter

import numpy
from hypothesis import HealthCheck, given, seed, settings
from standard import ELSEWHERE, FUNCTIONS

NEAR = {"float32": 2e-4, "complex64": 5e-4, "float64": 1e-9, "complex128": 1e-9}


def names(strict):
    """The standard's functions, of array_api_strict's namespaces."""
    spaces = {"": strict, "linalg.": strict.linalg, "fft.": strict.fft}
    for prefix, space in spaces.items():
        for name in space.__all__:
            if callable(getattr(space, name)) and not isinstance(getattr(space, name), type) and "flags" not in name.lower():
                yield prefix + name


def run(strict, examples):
    """{name: None or what differs}."""
    results = {}
    for name in names(strict):
        if name in ELSEWHERE or name.endswith("Device"):
            continue
        if name not in FUNCTIONS:
            results[name] = "no arguments are known for it: add a row to standard.py"
            continue
        results[name] = differs(name, examples)
    return results


def differs(name, examples):
    """None, or the first example where numeric and NumPy part."""

    @seed(7)
    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(FUNCTIONS[name])
    def check(call):
        args, kwargs = call
        expected, found = _called(numpy, name, args, kwargs), _called(None, name, args, kwargs)
        _expect_same(found, expected, f"{name}{args}{kwargs}")

    try:
        with warnings.catch_warnings(), numpy.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            check()
    except Exception as error:
        return f"{type(error).__name__}: {error}".replace("\n", " ")[:400]
    return None


def _called(module, name, args, kwargs):
    from xcuda import numeric

    try:
        if module is None:
            return attrgetter(name)(numeric)(*map(_ours, args), **kwargs)
        return attrgetter(name)(module)(*args, **kwargs)
    except Exception as error:
        return error


def _ours(value):
    from xcuda import numeric

    if isinstance(value, (numpy.ndarray, numpy.generic)):
        return numeric.array(value)
    return [_ours(v) for v in value] if isinstance(value, list) and value and hasattr(value[0], "dtype") else value


def _expect_same(found, expected, call):
    if isinstance(expected, Exception) or isinstance(found, Exception):
        if type(found) is not type(expected):
            raise AssertionError(f"{found!r}, in NumPy {expected!r}: {call}")
        return
    if isinstance(expected, (tuple, list)):
        if len(found) != len(expected):
            raise AssertionError(f"{len(found)} results, in NumPy {len(expected)}: {call}")
        for f, e in zip(found, expected, strict=True):
            _expect_same(f, e, call)
        return
    if not hasattr(expected, "dtype") or not hasattr(expected, "shape"):
        if found != expected:
            raise AssertionError(f"{found!r}, in NumPy {expected!r}: {call}")
        return
    if found.dtype != expected.dtype or found.shape != expected.shape:
        raise AssertionError(f"{found.dtype}{found.shape}, in NumPy {expected.dtype}{expected.shape}: {call}")
    values, near = numpy.asarray(found), NEAR.get(expected.dtype.name, 0)
    same = numpy.allclose(values, expected, near, near, equal_nan=True) if near else numpy.array_equal(values, expected)
    if not same:
        raise AssertionError(f"{values.tolist()}, in NumPy {numpy.asarray(expected).tolist()}: {call}")
