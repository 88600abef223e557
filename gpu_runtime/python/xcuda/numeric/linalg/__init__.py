"""numpy.linalg on the device. Native functions register here as "linalg.NAME"; the others run in NumPy on the host."""

import numpy.linalg as _numpy

from .._parts import names_of
from . import _norms, _solvers

__getattr__, __dir__ = names_of("linalg", _numpy, globals())
