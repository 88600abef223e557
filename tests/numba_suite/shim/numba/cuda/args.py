"""numba's argument wrappers."""


def wrap_arg(value, default):
    """The argument as `default` (In, Out, InOut) has it."""
    return default(value)
