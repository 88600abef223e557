"""numpy.polynomial, whose series of numeric's arrays are evaluated on the device; coefficients stay on the host."""

import numpy.polynomial as _numpy

from ._array import ndarray

_NAMES = ("Chebyshev", "Hermite", "HermiteE", "Laguerre", "Legendre", "Polynomial")


def _on_device(theirs):
    class Series(theirs):
        __doc__ = theirs.__doc__

        def __call__(self, arg):
            if not isinstance(arg, ndarray):
                return super().__call__(arg)
            offset, scale = self.mapparms()
            return self._val(offset + scale * arg, self.coef)

    Series.__name__ = Series.__qualname__ = theirs.__name__
    return Series


for _name in _NAMES:
    globals()[_name] = _on_device(getattr(_numpy, _name))


def __getattr__(name):
    try:
        return getattr(_numpy, name)
    except AttributeError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None


def __dir__():
    return sorted({*globals(), *dir(_numpy)})
