"""numba's functions on bfloat16: `from xcuda.core.bf16 import hadd, float32_to_bfloat16_rd`, for kernels.

The operators and NumPy's functions work on bfloat16 too; these are CUDA's, with its roundings and its NaN rules.
"""

from xcuda.core import language
from xcuda.core.types import bfloat16

_functions = language.__getattr__("bf16")
_members = {name: f for name, f in vars(_functions).items() if isinstance(f, language.Intrinsic)}
globals().update(_members)

__all__ = ["bfloat16", *_members]  # noqa: PLE0604
