"""numeric: NumPy on the device, `import xcuda.numeric as np` (or `cupy.numeric`).

Operations are put together and computed when a value is looked at, as few kernels as can be. What has no native form
runs in NumPy on the host and says so (`config.fallback`).
"""

import numpy as _numpy
from numpy import __array_api_version__

from xcuda import _runtime

from . import _dtypes, _elsewhere
from ._array import DeviceArray, get_item, ndarray, set_item
from ._config import config
from ._fallback import FallbackWarning, wrapped
from ._registry import TABLE

_runtime.set_numeric_class(ndarray, _dtypes.of_place)
from . import _ufuncs  # noqa: E402

_runtime.set_numeric_callbacks(_dtypes.resolve, _ufuncs.slow, get_item, set_item, _dtypes.SAME_KIND)
from . import (  # noqa: E402
    _about,
    _arg_extremes,
    _counting,
    _creation,
    _cumulative,
    _functions,
    _histograms,
    _indexing,
    _joining,
    _masked,
    _methods,
    _named,
    _nonzero,
    _padding,
    _products,
    _quantiles,
    _rearranging,
    _reductions,
    _searching,
    _sets,
    _sorting,
    _splitting,
    _taking,
    _triangles,
    _ufunc_methods,
    _views,
)
from ._array_api import NamespaceInfo as __array_namespace_info__  # noqa: E402
from ._dtypes import flush  # noqa: E402
from ._ufuncs import ufunc  # noqa: E402

# isort: split
from . import (  # noqa: E402
    _einsum,
    _functional,
    _grids,
    _interchange,
    _packed_bits,
    _pieces,
    _polynomials,
    _ranges,
    _signals,
)

__all__ = ["FallbackWarning", "config", "flush", "ndarray", "ufunc"]

_SUBMODULES = ("fft", "linalg", "polynomial", "random")
_HOST_MODULES = (
    "lib",
    "exceptions",
    "dtypes",
    "testing",
    "typing",
    "rec",
    "char",
    "strings",
    "ma",
    "emath",
)


def _in_a_submodule(name):
    """A name of this module that a submodule registers, `cross` of linalg's."""
    import importlib

    for submodule in _SUBMODULES if name not in _SUBMODULES and name in _numpy.__all__ else ():
        importlib.import_module(f"{__name__}.{submodule}")
    return TABLE.get(name)


_elsewhere.explain(ndarray)


def __getattr__(name):
    row = TABLE.get(name) or _in_a_submodule(name)
    if row is not None and not name.startswith("_"):
        globals()[name] = row.function
        return row.function
    if name in _SUBMODULES:
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    if name.startswith("_") and name not in _numpy.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        theirs = getattr(_numpy, name)
    except AttributeError as error:
        said = str(error).replace("module 'numpy'", f"module {__name__!r}")
        raise AttributeError(
            f"{said}; {_elsewhere.INSTEAD[name]}" if name in _elsewhere.INSTEAD else said
        ) from None
    made = theirs if name in _HOST_MODULES or name in _about.HOST_ONLY else wrapped(name, theirs)
    globals()[name] = made
    return made


def __dir__():
    return sorted({*globals(), *TABLE, *dir(_numpy), *_SUBMODULES} - {n for n in TABLE if n.startswith("_")})
