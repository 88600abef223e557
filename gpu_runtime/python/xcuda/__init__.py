"""xcuda: GPU code in plain Python, run the moment you press Shift-Enter, on a GPU or without one.

Importing it costs nothing; `xcuda.core` loads the runtime, the first compile loads the compiler.
"""

__version__ = "0.1.0"

_PARTS = ("core", "numeric", "math", "jit", "profiler", "tiles", "check")


def install_names():
    """Makes `cuda.core`, `cuda.jit`, `cuda.profiler`, `cuda.tiles`, `cupy.numeric` and `nvmath` importable.

    Each is served by xcuda's own module only where no installed distribution provides it. Gives the list of names
    that an installed distribution keeps. Calling it again changes nothing.
    """
    from xcuda import _names

    return _names.install()


def load_ipython_extension(shell):
    """What `%load_ext xcuda` runs: parts over the runtime bring an `ipython_extension` module to be asked."""
    import importlib
    from pathlib import Path

    install_names()
    for module in sorted(Path(__path__[0]).glob("*/ipython_extension.py")):
        importlib.import_module(f"xcuda.{module.parent.name}.ipython_extension").load(shell)


def __getattr__(name):
    if name in _PARTS:
        import importlib

        try:
            return importlib.import_module(f"xcuda.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"xcuda.{name}":
                raise
    raise AttributeError(f"module 'xcuda' has no attribute '{name}'")
