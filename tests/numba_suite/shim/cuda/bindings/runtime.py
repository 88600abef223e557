"""CUDA's rounding modes."""

from xcuda.core.fp8 import cudaRoundMode  # noqa: F401
