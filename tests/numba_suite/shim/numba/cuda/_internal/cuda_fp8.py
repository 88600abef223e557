"""numba's bindings of CUDA's header of 8-bit formats."""

from xcuda.core.fp8 import *  # noqa: F403
