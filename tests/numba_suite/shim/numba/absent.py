"""What xcuda has no counterpart of: modules and objects that can be imported, and fail the test that uses them."""

import importlib.abc
import importlib.machinery
import sys
import types

# While test files are imported their decorators and base classes must go through; a running test fails at once.
strict = False


class NotInXcuda(Exception):
    """A test used a part of numba that xcuda has no counterpart of."""


class Absent:
    """An object of numba's that xcuda has none of."""

    def __init__(self, name):
        self.__dict__["absent_name"] = name

    def _use(self):
        if strict:
            raise NotInXcuda(self.absent_name)

    def __call__(self, *args, **kwargs):
        self._use()
        return Absent(f"{self.absent_name}(...)")

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        self._use()
        return Absent(f"{self.absent_name}.{name}")

    def __setattr__(self, name, value):
        self._use()

    def __getitem__(self, key):
        self._use()
        return self

    def __iter__(self):
        self._use()
        return iter(())

    def __enter__(self):
        self._use()
        return self

    def __exit__(self, *exception):
        return False

    def __mro_entries__(self, bases):
        return (AbsentBase,)

    def __or__(self, other):
        return self

    def __repr__(self):
        return f"<absent {self.absent_name}>"


class AbsentBase:
    """What stands where a class derives from one of numba's."""

    def __init_subclass__(cls, **options):
        pass

    def __init__(self, *args, **kwargs):
        if strict:
            raise NotInXcuda(type(self).__name__)


class AbsentModule(types.ModuleType):
    """A module of numba's that xcuda has none of."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(f"{self.__name__}.{name}")


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in ("cffi", "cuda") and not name.startswith("numba."):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        module = AbsentModule(spec.name)
        module.__path__ = []
        return module

    def exec_module(self, module):
        pass


def install():
    """Any `numba.` module that the stand-in lacks imports as an absent one; so do packages that may not be there."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())
