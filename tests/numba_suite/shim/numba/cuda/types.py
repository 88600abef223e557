"""numba.cuda.types: xcuda's, and Absents for the rest."""

import xcuda.core.types as _types
from xcuda.core.types import *  # noqa: F403

from numba.absent import Absent

integer_domain = {_types.Scalar(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)}
signed_domain = {_types.Scalar(f"int{bits}") for bits in (8, 16, 32, 64)}
unsigned_domain = integer_domain - signed_domain
real_domain = {_types.Scalar("float32"), _types.Scalar("float64")}
complex_domain = {_types.Scalar("complex64"), _types.Scalar("complex128")}
number_domain = real_domain | integer_domain | complex_domain


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(_types, name, None) or Absent(f"numba.cuda.types.{name}")
