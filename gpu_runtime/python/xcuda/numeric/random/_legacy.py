"""`RandomState`: NumPy's on the host, whose arrays go to the device."""

import numpy as np

from .._fallback import on_host


class RandomState:
    """NumPy's RandomState: MT19937 draws one number after the other, on the host."""

    def __init__(self, seed=None):
        self._host = np.random.RandomState(seed)

    def __getattr__(self, name):
        if name.startswith("__") or name == "_host":
            raise AttributeError(name)
        value = getattr(self._host, name)
        if not callable(value) or name in ("seed", "get_state", "set_state", "bytes"):
            return value

        def method(*args, **kwargs):
            return on_host(f"random.RandomState.{name}", value, args, kwargs)

        method.__name__, method.__doc__ = name, value.__doc__
        return method

    def __reduce__(self):
        return _restored, (self._host,)


def _restored(host):
    made = RandomState.__new__(RandomState)
    made._host = host
    return made
