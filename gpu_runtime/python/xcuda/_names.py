"""The article's module names, served by xcuda where no installed distribution provides them.

The finder stands last in sys.meta_path, so an installed `cuda.core` or `cupy` always wins.
"""

import importlib
import importlib.util
import sys
import types
from importlib.machinery import ModuleSpec, PathFinder

NAMES = {
    "cuda.core": "xcuda.core",
    "cuda.jit": "xcuda.jit",
    "cuda.profiler": "xcuda.profiler",
    "cuda.tiles": "xcuda.tiles",
    "cupy.numeric": "xcuda.numeric",
    "nvmath": "xcuda.math",
}
_PARENTS = {"cuda", "cupy"}


class _Finder:
    """Gives specs for NAMES and for their parent packages."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in NAMES:
            return ModuleSpec(name, _Alias(NAMES[name]), is_package=True) if _exists(NAMES[name]) else None
        if name in _PARENTS and _child_wanted(name) and not (preferred() and _found_by_others(name, path)):
            return ModuleSpec(name, _Parent(), is_package=True)
        return None


class _Below:
    """Gives specs for modules under a name that is ours: the very modules of xcuda, not copies under other names."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        parent = next((n for n in NAMES if name.startswith(n + ".")), None)
        if parent is None or getattr(sys.modules.get(parent), "__name__", None) != NAMES[parent]:
            return None
        real = NAMES[parent] + name.removeprefix(parent)
        return ModuleSpec(name, _Alias(real), is_package=True) if _exists(real) else None


class _Alias:
    """Loads a name as the very module that xcuda has under its own."""

    def __init__(self, real):
        self.real = real

    def create_module(self, spec):
        module = importlib.import_module(self.real)
        self.spec = module.__spec__
        return module

    def exec_module(self, module):
        module.__spec__ = self.spec  # the import system put the alias' there


class _Parent:
    """An empty package that only holds the names under it."""

    def create_module(self, spec):
        module = types.ModuleType(spec.name, f"Names that xcuda serves because no {spec.name} is installed.")
        module.__path__ = []
        module.__getattr__ = lambda name: _nothing_else(spec.name, name)
        if spec.name == "cupy":
            # Libraries that see cupy in sys.modules ask whether an object is a cupy.ndarray; none is.
            module.ndarray = type(
                "ndarray", (), {"__module__": "cupy", "__doc__": "No array is one of these."}
            )
        return module

    def exec_module(self, module):
        pass


def _nothing_else(parent, name):
    """The error of a name that the package itself would have."""
    said = f"module {parent!r} has no attribute {name!r}"
    if name.startswith("__"):
        raise AttributeError(said)
    ours = [n for n in NAMES if n.startswith(f"{parent}.")]
    short = "cp" if parent == "cupy" else parent
    raise AttributeError(
        f"{said}: no package {parent} is installed, and xcuda serves {', '.join(ours)}; "
        f"write `import {ours[0]} as {short}`"
    )


def _exists(real):
    try:
        return importlib.util.find_spec(real) is not None
    except ModuleNotFoundError:
        return False


def _child_wanted(parent):
    """True while `import parent.child` is under way for a child of ours: a bare `import cupy` must go on failing."""
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_name == "_find_and_load_unlocked":
            name = frame.f_locals.get("name")
            if name in NAMES and name.startswith(parent + ".") and _exists(NAMES[name]):
                return True
        frame = frame.f_back
    return False


def install():
    """Puts the finder in place; gives the names that installed distributions keep."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())
    if not any(isinstance(finder, _Below) for finder in sys.meta_path):
        at = next((i for i, f in enumerate(sys.meta_path) if f is PathFinder), len(sys.meta_path))
        sys.meta_path.insert(at, _Below())  # the path's finder would load the same files once more
    return [name for name in NAMES if provided_elsewhere(name)]


def uninstall():
    """Takes the finder away; modules already imported stay."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, (_Finder, _Below))]


def preferred():
    """True where the names are xcuda's even if an installed distribution has them."""
    return bool(sys.meta_path) and isinstance(sys.meta_path[0], _Finder)


def prefer_xcuda(wanted):
    """Puts the finder before the others, or back behind them; what that concerns is imported anew."""
    uninstall()
    sys.meta_path.insert(0 if wanted else len(sys.meta_path), _Finder())
    install()
    for name, ours in NAMES.items():
        loaded = sys.modules.get(name)
        if loaded is not None and _exists(ours) and (loaded.__name__ != ours) == wanted:
            del sys.modules[name]


def provided_elsewhere(name):
    """True where an installed distribution has a module of this name."""
    loaded = sys.modules.get(name)
    if loaded is not None:
        return loaded.__name__ != NAMES[name]
    path = None
    for depth in range(1, name.count(".") + 2):
        part = ".".join(name.split(".")[:depth])
        spec = _found_by_others(part, path)
        if spec is None:
            return False
        path = spec.submodule_search_locations
        if path is None and part != name:
            return False
    return True


def _found_by_others(name, path):
    for finder in sys.meta_path:
        if isinstance(finder, (_Finder, _Below)):
            continue
        spec = finder.find_spec(name, path)
        if spec is not None:
            return spec
    return None
