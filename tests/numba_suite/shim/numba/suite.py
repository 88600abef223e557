"""The suite's modules under names of their own: `numba.cuda.tests.X` is `numba_cuda_tests.X`.

A module called `numba...` would be taken for a library by the compiler, its functions for no helpers of a kernel.
"""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import itertools
import linecache
import os
import sys

ALIAS = "numba_cuda_tests"
_TESTS = "numba.cuda.tests"


class _Alias(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        if name == _TESTS or name.startswith(_TESTS + "."):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return importlib.import_module(ALIAS + spec.name.removeprefix(_TESTS))

    def exec_module(self, module):
        pass


class _Loader(importlib.machinery.SourceFileLoader):
    """Tests run text by exec(): its lines go to linecache, as xcuda asks of those who do that."""

    def exec_module(self, module):
        module.exec = _exec
        super().exec_module(module)


def _exec(text, *names):
    if not isinstance(text, str):
        return exec(text, *names)
    file = f"<exec {next(_numbers)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), *names)


_numbers = itertools.count()


class _Roots(importlib.abc.MetaPathFinder):
    """Finds the package of the tests in the unpacked wheel, without its own `__init__` (it loads numba-cuda)."""

    def find_spec(self, name, path=None, target=None):
        if name.startswith(f"{ALIAS}.cudapy."):
            file = os.path.join(root(), "cudapy", name.rpartition(".")[2] + ".py")
            return importlib.util.spec_from_file_location(name, file, loader=_Loader(name, file))
        if name not in (ALIAS, ALIAS + ".cudapy", ALIAS + ".data"):
            return None
        spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [os.path.join(root(), *name.split(".")[1:])]
        return spec


def root():
    """The folder of the tests, told by the command."""
    return os.environ["NUMBA_SUITE_TESTS"]


def install():
    """Makes both names importable."""
    if not any(isinstance(finder, _Alias) for finder in sys.meta_path):
        sys.meta_path[:0] = [_Alias(), _Roots()]
