"""Stands in for numba while numba-cuda's own tests run: `from numba import cuda` gives xcuda.core's names.

What xcuda has no counterpart of (numba's IR, its linker, ...) is an Absent: it imports, and fails the test that uses it.
"""

from numba import absent, suite

absent.install()
suite.install()

from numba import cuda  # noqa: E402
from numba.core import errors  # noqa: E402
from numba.cuda import guvectorize, types, vectorize  # noqa: E402
from numba.cuda.types import *  # noqa: E402, F403
from numba.cuda.typing.typeof import typeof  # noqa: E402

jit = njit = absent.Absent("numba.jit for the host")
objmode = absent.Absent("numba.objmode")
__version__ = "0.0"
