from numba.core.errors import *  # noqa: F403
