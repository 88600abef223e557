"""numpy.random on the device. Native functions register here as "random.NAME"; the others run in NumPy on the host."""

import numpy.random as _numpy

from .._fallback import wrapped
from .._registry import TABLE, native


class Generator:
    """NumPy's generator, whose arrays go to the device."""

    def __init__(self, bit_generator):
        self._host = _numpy.Generator(bit_generator)

    def __getattr__(self, name):
        value = getattr(self._host, name)
        return wrapped(f"random.Generator.{name}", value) if callable(value) else value


@native("random.default_rng")
def default_rng(seed=None):
    """A generator of random arrays."""
    return Generator(_numpy.default_rng(seed).bit_generator)


def __getattr__(name):
    row = TABLE.get(f"random.{name}")
    if row is not None:
        made = row.function
    elif name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    else:
        try:
            made = wrapped(f"random.{name}", getattr(_numpy, name))
        except AttributeError:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    globals()[name] = made
    return made


def __dir__():
    return sorted({*globals(), *dir(_numpy)})
