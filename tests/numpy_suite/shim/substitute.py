"""What the rewritten tests import: xcuda.numeric under NumPy's names, NumPy itself where numeric has no such module."""

import importlib
import types

import numpy
from xcuda import numeric
from xcuda.numeric._fallback import to_host

OURS = {"numpy": numeric, **{f"numpy.{name}": getattr(numeric, name) for name in ("linalg", "fft", "random")}}
touched: set = set()  # names of numeric's that the test under way asked for
# What compares values gets host arrays; what calls functions of the test's gets them as they are.
_COMPARING = (
    "assert_ assert_equal assert_array_equal assert_allclose assert_almost_equal assert_approx_equal "
    "assert_array_almost_equal assert_array_almost_equal_nulp assert_array_less assert_array_max_ulp "
    "assert_string_equal assert_array_compare print_assert_equal"
).split()


def _values(value):
    """Host arrays of numeric's; without axes they are the scalars that NumPy has there."""
    if isinstance(value, numeric.ndarray):
        return to_host(value) if value.ndim else value.get()[()]
    if type(value) in (list, tuple):
        return type(value)(map(_values, value))
    return to_host(value)


def _comparing(function):
    def compare(*args, **kwargs):
        return function(*map(_values, args), **to_host(kwargs))

    compare.__name__ = function.__name__
    return compare


class Testing(types.ModuleType):
    """numpy.testing, comparing numeric's arrays."""

    def __getattr__(self, name):
        value = getattr(numpy.testing, name)
        return _comparing(value) if name in _COMPARING else value


testing = Testing("numpy.testing")


class Proxy(types.ModuleType):
    """A module of numeric's that notes which names are asked for; NumPy's own where numeric has none."""

    def __init__(self, name):
        super().__init__(name)
        self.__dict__["_names"] = name, OURS[name], importlib.import_module(name)

    def __getattr__(self, name):
        where, ours, theirs = self._names
        if f"{where}.{name}" in _proxies:
            return module(f"{where}.{name}")
        if where == "numpy" and name in ("testing", "_core"):
            return module(f"numpy.{name}")
        try:
            value = getattr(ours, name)
        except AttributeError:
            return getattr(theirs, name)
        if value is not getattr(theirs, name, None):
            touched.add(name)
        return value

    def __dir__(self):
        return dir(self._names[2])


_proxies = {name: None for name in OURS}
# Private modules through which tests reach public functions.
_INNER = {f"numpy._core.{name}": None for name in ("umath", "numeric", "fromnumeric", "multiarray", "shape_base")}
_INNER["numpy._core"] = None


def module(name):
    """The module of that name as the tests get it."""
    if name in OURS:
        if _proxies[name] is None:
            _proxies[name] = Proxy(name)
        return _proxies[name]
    if name in _INNER:
        if _INNER[name] is None:
            _INNER[name] = _inner(name)
        return _INNER[name]
    return testing if name == "numpy.testing" else importlib.import_module(name)


def _inner(name):
    """A private module of NumPy's whose public functions are numeric's."""
    made = types.ModuleType(name)
    for key, value in vars(importlib.import_module(name)).items():
        same = callable(value) and getattr(numpy, key, None) is value
        made.__dict__[key] = getattr(module("numpy"), key) if same else value
        if f"{name}.{key}" in _INNER:
            made.__dict__[key] = module(f"{name}.{key}")
    return made


def name(where, what):
    """`from where import what`: numeric's, also where NumPy keeps its public functions in private modules."""
    if what == "*":
        raise ImportError("a star import of numpy is not rewritten")
    found = module(where)
    if found is testing or where in OURS or where in _INNER:
        return getattr(found, what) if hasattr(found, what) else module(f"{where}.{what}")
    try:
        value = getattr(found, what)
    except AttributeError:
        return module(f"{where}.{what}")
    for public in OURS:
        if getattr(importlib.import_module(public), what, None) is value and callable(value):
            return getattr(module(public), what)
    return value
