"""numba.cuda as the tests know it: xcuda.core, and Absents for what it lacks."""

import xcuda.core

from numba.absent import Absent
from numba.cuda import types
from numba.cuda.core import config
from numba.cuda.types import *  # noqa: F403

HAS_NUMBA = False

# What numba.cuda has and xcuda.core does not: a test that uses it fails with its name.
_ABSENT = """
    compile compile_ptx_for_current_device compile_for_current_device compile_all LinkableCode
    PTXSource Cubin Fatbin Archive Object LTOIR Linker libdevice vectorize guvectorize cgutils compiler
    cudadrv devicearray
""".split()


def compile_ptx(pyfunc, sig, **options):
    """(PTX, result type) of a kernel for argument types, on sm_80."""
    return xcuda.core.kernel(pyfunc).inspect_asm(sig, "sm_80"), types.void


def __getattr__(name):
    try:
        return getattr(xcuda.core, name)
    except AttributeError:
        if name in _ABSENT:
            return Absent(f"numba.cuda.{name}")
        raise
