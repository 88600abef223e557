"""numba's settings, which a test may set and read; none has an effect on xcuda."""

ENABLE_CUDASIM = False
CUDA_MEMORY_MANAGER = "default"
CUDA_LOW_OCCUPANCY_WARNINGS = 0
CUDA_WARN_ON_IMPLICIT_COPY = 0


def reload_config():
    """Nothing to read again."""


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return 0
