"""numpy.fft on the device. Native functions register here as "fft.NAME"; the others run in NumPy on the host."""

import numpy.fft as _numpy

from .._parts import names_of
from . import _transforms

__getattr__, __dir__ = names_of("fft", _numpy, globals())
