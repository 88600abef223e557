"""numpy.fft on the device. Native functions register here as "fft.NAME"; the others run in NumPy on the host."""

import numpy.fft as _numpy

from .._fallback import wrapped
from .._registry import TABLE
from . import _transforms


def __getattr__(name):
    row = TABLE.get(f"fft.{name}")
    if row is not None:
        made = row.function
    elif name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    else:
        try:
            made = wrapped(f"fft.{name}", getattr(_numpy, name))
        except AttributeError:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    globals()[name] = made
    return made


def __dir__():
    return sorted({*globals(), *dir(_numpy)})
