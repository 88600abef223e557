"""numba.cuda.bf16."""

from xcuda.core.bf16 import *  # noqa: F403
