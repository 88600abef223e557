"""`device=` of functions that make arrays."""

from functools import wraps

from xcuda.core.devices import Device


def placed(function):
    """`function` with `device=`: what it makes lies on that device, the current one by default."""

    @wraps(function)
    def made(*args, device=None, **kwargs):
        if device is None:
            return function(*args, **kwargs)
        with Device(device):
            return function(*args, **kwargs)

    return made
