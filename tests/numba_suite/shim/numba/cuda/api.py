"""numba.cuda.api: what the tests ask of it."""

from xcuda.core import is_bfloat16_supported, is_float16_supported, is_fp8_supported  # noqa: F401

from numba.absent import Absent


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return Absent(f"numba.cuda.api.{name}")
